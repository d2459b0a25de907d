// The call page: the transcript as it grows, links between its columns, filters and tabs in the address, keys.
// live.js has the connection; without either script the page shows what there was when it was asked for.
"use strict";

const ACK_EVERY = 200; // rows; the server waits for a confirmation after 1,000
const AT_END_PX = 48;

const transcript = document.getElementById("rows");

// Events of a call in order, each once. What comes too early is asked for again; what comes twice is passed over.
class Feed {
  constructor(after, show) {
    this.first = after;
    this.last = after;
    this.shown = 0;
    this.doubled = 0;
    this.lost = 0;
    this.show = show;
  }

  // The record itself has a hole up to here.
  skip(seq) {
    this.lost += Math.max(0, seq - this.last);
    this.last = Math.max(this.last, seq);
  }

  // Returns whether everything was in order; if not, the socket has to ask for what is missing.
  accept(rows) {
    for (const row of rows) {
      if (row.seq <= this.last) {
        this.doubled += 1;
        continue;
      }
      if (row.seq !== this.last + 1) return false;
      this.show(row);
      this.last = row.seq;
      this.shown += 1;
    }
    return true;
  }
}
window.LiveFeed = Feed;

// The transcript: follows while the reader is at its end, gathers behind a button otherwise.

const box = document.getElementById("scroller");
const newer = document.getElementById("newer");
let unseen = 0;

function scroller() {
  return box && getComputedStyle(box).overflowY === "auto" ? box : document.scrollingElement;
}

// In a page that scrolls as a whole the end is that of the transcript, not of what stands below it.
function below() {
  const place = scroller();
  return place === box ? box.scrollHeight - box.scrollTop - box.clientHeight : box.getBoundingClientRect().bottom - innerHeight;
}

function toEnd() {
  const place = scroller();
  if (place === box) box.scrollTop = box.scrollHeight;
  else scrollBy({ top: below(), behavior: "instant" });
  unseen = 0;
  showUnseen();
}

function showUnseen() {
  if (!newer) return;
  newer.hidden = unseen === 0;
  newer.textContent = `${unseen} new ↓`;
}

function addRow(row) {
  if (row.kind === "attempt.started") foldAttempt();
  const item = parse(row.html).firstElementChild;
  const same = document.getElementById(item.id);
  // A late word of a turn that is there already: it grows in place.
  if (same && transcript.contains(same)) same.replaceWith(item);
  else {
    transcript.append(item);
    if (item.getClientRects().length && row.kind !== "turn.started") unseen += 1;
  }
  htmx.process(item);
  if (row.mark) addMark(row.mark);
  document.getElementById("nothing")?.remove();
}

// What an earlier attempt left: kept, folded, without its addresses, which belong to the attempt that counts.
function foldAttempt() {
  const rows = [...transcript.children];
  document.getElementById("marks").replaceChildren();
  if (!rows.length) return;
  const fold = parse('<details class="fold attempt"><summary></summary><ol class="rows"></ol></details>').firstElementChild;
  fold.querySelector("summary").textContent = `An earlier attempt, ${rows.length} events`;
  for (const row of rows) if (row.dataset.seq) row.id = `event-${row.dataset.seq}`;
  fold.querySelector("ol").append(...rows);
  transcript.before(fold);
}

function addMark(html) {
  const marks = document.getElementById("marks");
  marks.insertAdjacentHTML("beforeend", html);
  const added = marks.lastElementChild;
  const same = [...marks.querySelectorAll("a")].find((other) => other !== added && other.getAttribute("href") === added.getAttribute("href"));
  if (same) same.replaceWith(added);
  const end = Math.max(Number(marks.dataset.end), Number(added.firstElementChild.dataset.end));
  if (end === Number(marks.dataset.end)) return;
  marks.dataset.end = end;
  marks.setAttribute("viewBox", `0 0 ${end} 34`);
  const seconds = Math.floor(end / 1000);
  document.getElementById("timeline-end").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function watchCall() {
  const feed = new Feed(Number(root.dataset.after), addRow);
  const opening = () => ({ after: feed.last });
  let confirmed = feed.last;
  const receive = (message, line) => {
    if (message.type === "events") {
      const follow = below() < AT_END_PX;
      if (message.lost) feed.skip(message.lost);
      if (!feed.accept(message.rows)) {
        // Something is missing: a new line begins with what this page has.
        state("lost", "catching up");
        line.drop();
      }
      if (feed.last - confirmed >= ACK_EVERY) line.say({ after: (confirmed = feed.last) });
      const age = document.querySelector("#live-line [data-age]");
      if (age) age.dataset.age = (Date.now() + line.skew) / 1000;
      document.getElementById("event-count").textContent = feed.last;
      if (follow && !isReviewed) toEnd();
      else showUnseen();
      if (isReviewed) reviewed(); // what is noted of a call that has ended: another scoring, a ruling that counts
      showAges();
    } else if (message.type === "state") (isReviewed ? showReview : showState)(message, feed, line);
    else if (message.type === "gone") line.stop("gone", "this call was deleted");
  };
  if (!location.hash && box && !isReviewed) toEnd();
  line = new Line(root.dataset.socket, opening, receive);
}

function showState(message, feed, line) {
  const before = root.dataset.status;
  root.dataset.status = message.status;
  document.getElementById("hang-up")?.toggleAttribute("hidden", message.status !== "running");
  const place = document.querySelector("#outcome .outcome");
  if (place && !message.ended && message.status !== before) {
    place.className = `outcome large is-${message.status}`;
    place.lastChild.textContent = message.status[0].toUpperCase() + message.status.slice(1);
  }
  if (!message.ended) return;
  line.end();
  const missing = message.last_seq - feed.last + feed.lost;
  if (missing) state("lost", `ended; ${missing} events are missing from the record`);
  else state("ended", `ended; all ${feed.last} events are here, none twice`);
  announce(`The call has ended: ${message.outcome.replaceAll("_", " ") || message.status}. ${message.reason}`);
  refresh();
}

function refresh() {
  const place = document.getElementById("refresh");
  if (place) htmx.trigger(place, "call-ended");
}

// A call that has ended, while people rule on its claims: what follows from a ruling comes in its place. What the reader
// has opened stays open, and a form that somebody is at is left alone.
const isReviewed = root?.dataset.reviewed !== undefined;

function folds() {
  return [...document.querySelectorAll("#signal-nl_assertion details")];
}

let opened = [];
document.addEventListener("htmx:beforeSwap", () => (opened = folds().map((fold) => fold.open)));
document.addEventListener("htmx:afterSwap", () => {
  if (isReviewed) for (const [at, fold] of folds().entries()) fold.open ||= Boolean(opened[at]);
});

function showReview(message) {
  if (!message.ended || Number(root.dataset.reviewed) === message.reviewed) return;
  root.dataset.reviewed = message.reviewed;
  reviewed();
}

function reviewed() {
  const place = document.getElementById("refresh");
  const isAtFault = document.querySelector("#fault [open]") !== null;
  place.setAttribute("hx-select-oob", isAtFault ? "#head" : "#head,#fault");
  htmx.trigger(place, "call-reviewed");
  announce("The rulings on this call have changed.");
}

// Reading a call: links between the columns, filters and tabs in the address, keys.

function reveal(hash, push = true) {
  const target = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  if (!target) return false;
  const parent = target.closest("details:not([open])");
  if (parent) parent.open = true;
  if (push) history.pushState(null, "", hash);
  for (const old of document.querySelectorAll(".pointed")) old.classList.remove("pointed");
  target.classList.add("pointed");
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
  return true;
}

// A tool call names the fields of the diff that it made wrong, a turn the remarks on it, and both lead there.
function linkBack() {
  for (const field of document.querySelectorAll("[data-caused-by]")) {
    const row = document.getElementById(field.dataset.causedBy);
    const place = row?.querySelector(".tool-name, .who") || row?.querySelector(".what");
    if (!place || place.querySelector(`[href="#${field.id}"]`)) continue;
    const link = document.createElement("a");
    link.className = "back";
    link.href = `#${field.id}`;
    link.textContent = `${field.dataset.name} ▸`;
    place.append(link);
  }
}

let evidence = -1;

function stepEvidence() {
  const links = [...document.querySelectorAll("[data-evidence]")];
  if (!links.length) return;
  evidence = (evidence + 1) % links.length;
  links[evidence].closest(".verdict").scrollIntoView({ block: "nearest" });
  links[evidence].click();
}

function stepTurn(direction) {
  const turns = [...transcript.querySelectorAll(".turn, .tool.called")].filter((turn) => turn.offsetParent !== null);
  const here = turns.findIndex((turn) => turn.classList.contains("pointed"));
  const next = turns[here < 0 ? (direction > 0 ? 0 : turns.length - 1) : here + direction];
  if (next) reveal(`#${next.id}`);
}

function read() {
  linkBack();
  document.addEventListener("htmx:afterSettle", linkBack);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href*='#']");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      const url = new URL(link.getAttribute("href"), location.href);
      if (url.pathname !== location.pathname) return;
      // A place that this page has not loaded comes with the page that has it.
      if (reveal(url.hash)) event.preventDefault();
      else if (!url.searchParams.has("at")) {
        event.preventDefault();
        location.assign(`?at=${url.hash.slice(1)}${url.hash}`);
      }
    }
    const show = event.target.closest("a[data-show]");
    if (show) {
      event.preventDefault();
      for (const other of document.querySelectorAll("a[data-show]")) other.toggleAttribute("aria-current", other === show);
      show.setAttribute("aria-current", "true");
      const call = document.getElementById("call");
      for (const name of [...call.classList]) if (name.startsWith("show-")) call.classList.remove(name);
      call.classList.add(`show-${show.dataset.show}`);
      inAddress("show", show.dataset.show === "call" ? "" : show.dataset.show);
    }
  });
  document.addEventListener("toggle", (event) => {
    const tab = event.target.dataset?.tab;
    if (tab) inAddress("tab", event.target.open ? tab : "");
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest("input, select, textarea") || document.querySelector("dialog[open]")) return;
    const act = { e: stepEvidence, "]": () => stepTurn(1), "[": () => stepTurn(-1), F: () => document.querySelector("a[data-key=F]")?.click() }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  addEventListener("popstate", () => reveal(location.hash, false));
  newer?.addEventListener("click", toEnd);
  for (const place of [box, window]) place?.addEventListener("scroll", () => {
    if (unseen && below() < AT_END_PX) {
      unseen = 0;
      showUnseen();
    }
  }, { passive: true });
  if (location.hash && !reveal(location.hash, false) && !new URLSearchParams(location.search).has("at")) {
    location.replace(`?at=${location.hash.slice(1)}${location.hash}`);
  }
}

function inAddress(name, value) {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  history.replaceState(null, "", url);
}

read();
if (root) watchCall();
