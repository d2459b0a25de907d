// The desk of a reviewer: a key is a press of the button that shows it. What is typed is kept by the server as it is typed.
"use strict";

const NEEDS_WORDS = "cannot_tell";

function desk() {
  return document.getElementById("desk");
}

function comment() {
  return document.getElementById("comment");
}

function button(key) {
  return document.querySelector(`[data-rule="${key}"]:not(:disabled)`);
}

// A ruling that needs words waits for them: the comment gets the focus, Ctrl+Enter sends both.
let waiting = "";

function press(key) {
  const found = button(key);
  if (!found) return false;
  const text = comment();
  const isChange = document.querySelector('[data-rule="Enter"]') && /^[123]$/.test(key);
  const needs = (found.value === NEEDS_WORDS && key !== "Enter") || isChange || ("needed" in (text?.dataset ?? {}) && /^[12]$/.test(key));
  if (needs && !text.value.trim()) {
    waiting = key;
    text.focus();
    say(`Say why, then press Ctrl+Enter: ${found.textContent.trim().replace(/^\S+\s+/, "")}`);
    return true;
  }
  waiting = "";
  found.click();
  return true;
}

function say(text) {
  const place = document.getElementById("lease");
  if (place) place.textContent = text;
  announce(text);
}

// Places in the transcript

let place = -1;

function reveal(hash) {
  const target = document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!target) return false;
  for (const old of document.querySelectorAll(".pointed")) old.classList.remove("pointed");
  target.classList.add("pointed");
  target.scrollIntoView({ block: "center", behavior: "instant" });
  return true;
}

// A place in the part of a long call that is not here yet comes with it.
function go(hash) {
  if (reveal(hash)) return;
  const rest = document.getElementById("rest");
  if (!rest) return;
  document.addEventListener("htmx:afterSettle", () => reveal(hash), { once: true });
  htmx.trigger(rest, "load-rest");
}

function stepPlace() {
  const links = [...document.querySelectorAll("[data-place]")];
  if (!links.length) return;
  place = (place + 1) % links.length;
  go(links[place].hash);
}

// Quotes are marked where they stand, without touching the text.
function markQuotes() {
  if (!("highlights" in CSS)) return;
  const ranges = [];
  for (const quote of document.querySelectorAll("[data-quote]")) {
    const row = document.getElementById(quote.dataset.quote);
    row?.classList.add("quoted");
    const range = row && find(row, quote.querySelector(".words").textContent);
    if (range) ranges.push(range);
  }
  CSS.highlights.set("evidence", new Highlight(...ranges));
}

function find(row, words) {
  const wanted = words.trim().toLowerCase();
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  while (wanted && walker.nextNode()) {
    const at = walker.currentNode.data.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    const range = new Range();
    range.setStart(walker.currentNode, at);
    range.setEnd(walker.currentNode, at + wanted.length);
    return range;
  }
  return null;
}

// What is typed is in this tab too, at every letter: the server has it a moment later, a reload may come before that.
function draftKey() {
  const form = document.getElementById("ruling");
  return form && comment() ? `draft ${form.getAttribute("action")} ${form.slot?.value ?? ""} ${form.stage?.value ?? ""}` : "";
}

function restoreDraft() {
  const kept = draftKey() && sessionStorage.getItem(draftKey());
  if (!kept || kept === comment().value) return;
  comment().value = kept;
  comment().dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("input", (event) => {
  if (event.target === comment() && draftKey()) sessionStorage.setItem(draftKey(), event.target.value);
});
// A form that is sent has its text at the server, taken or as a draft.
document.addEventListener("htmx:beforeRequest", (event) => {
  const sent = event.target.closest("#ruling");
  if (sent && event.target !== comment()) event.detail.xhr.addEventListener("load", ((key) => (done) => done.target.status < 400 && sessionStorage.removeItem(key))(draftKey()));
});

// A new item begins at its evidence, and the keys work at once; the same item again stays where the reader is.
function arrive() {
  place = -1;
  waiting = "";
  markQuotes();
  restoreDraft();
  if (document.querySelector("[data-place]")) stepPlace();
  const pending = document.getElementById("ruling")?.dataset.pending;
  if (pending) {
    const again = document.querySelector(`#ruling [value="${CSS.escape(pending)}"]`);
    waiting = again?.dataset.rule ?? "";
    comment()?.focus();
  }
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target?.id === "desk" || event.detail.target?.id === "case") arrive();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("#desk a[href*='#']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  if (new URL(link.href).pathname !== location.pathname) return;
  event.preventDefault();
  go(link.hash);
});

// Keys come here before those of the frame. A key that is held down is one press.
document.addEventListener("keydown", (event) => {
  if (event.altKey || document.querySelector("dialog[open]")) return;
  const isTyping = event.target.closest("input, select, textarea");
  if (isTyping) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target === comment()) {
      event.preventDefault();
      comment().blur();
      if (waiting || button("Enter")) press(waiting || "Enter");
    }
    return;
  }
  if (event.ctrlKey || event.metaKey || isGoing(event)) return;
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const act = { c: () => comment()?.focus(), e: stepPlace }[event.key] ?? (/^([123nz]|Enter)$/.test(event.key) ? () => press(event.key) : null);
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  if (!event.repeat) act();
}, true);

// What was typed in the last moments before the page is left.
addEventListener("pagehide", () => {
  const text = comment();
  const address = text?.getAttribute("hx-post");
  if (address && text.value !== text.defaultValue) navigator.sendBeacon(address, new FormData(text.form));
});
// A page that comes back from the browser's memory shows an item that may be somebody else's by now.
addEventListener("pageshow", (event) => event.persisted && location.reload());

if (desk()) arrive();
