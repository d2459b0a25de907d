// Live pages: one socket a page that only listens. The page says what it has ({"after": N, "known": {...}}); the server
// sends what is missing and then what comes. Messages are rendered on the server and hold escaped text only.
"use strict";

const SILENT_MS = 12_000; // the server shows a sign of life every 5 s
const RETRY_MS = [300, 1_000, 2_000, 5_000, 10_000];
const ACK_EVERY = 200; // rows; the server waits for a confirmation after 1,000
const AT_END_PX = 48;

const root = document.querySelector("[data-live]");
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

// Connection

class Line {
  constructor(path, opening, receive) {
    this.url = new URL(path, location.href);
    this.url.protocol = this.url.protocol.replace("http", "ws");
    this.opening = opening;
    this.receive = receive;
    this.failures = 0;
    this.skew = 0;
    this.isOver = false;
    this.open();
    setInterval(() => this.watch(), 1_000);
  }

  open() {
    this.heard = Date.now();
    const socket = (this.socket = new WebSocket(this.url));
    socket.onopen = () => {
      this.say(this.opening());
      this.wasOpen = true;
    };
    socket.onmessage = (event) => {
      if (socket !== this.socket) return;
      this.heard = Date.now();
      this.failures = 0;
      const message = JSON.parse(event.data);
      if (message.type === "beat") {
        this.skew = message.now - Date.now();
        this.say(this.opening());
        state("live", "live");
      } else this.receive(message, this);
    };
    socket.onclose = (event) => socket === this.socket && this.closed(event.code);
  }

  say(content) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(content));
  }

  // A line may be dead without a word: no sign of life for long means it is.
  watch() {
    if (!this.isOver && this.socket.readyState <= WebSocket.OPEN && Date.now() - this.heard > SILENT_MS) this.drop();
  }

  drop() {
    const socket = this.socket;
    this.socket = null;
    socket.close();
    this.socket = { readyState: WebSocket.CLOSED };
    this.closed(1006);
  }

  end() {
    this.isOver = true;
    this.socket.close?.();
  }

  async closed(code) {
    if (this.isOver) return;
    if (code === 4401 || (code === 1006 && (await isSignedOut()))) return this.stop("out", "signed out; what you see is as it was");
    if (code === 4404) return this.stop("gone", "this call was deleted");
    if (code === 4400) return this.stop("gone", "this page is out of date; reload it");
    const wait = RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)];
    this.failures += 1;
    state("lost", `connection lost; trying again${wait >= 2_000 ? ` in ${wait / 1000} s` : ""}`);
    setTimeout(() => !this.isOver && this.open(), wait);
  }

  stop(key, words) {
    this.isOver = true;
    state(key, words);
    if (key !== "out") return;
    const link = document.createElement("a");
    link.href = `/sign-in/?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.textContent = "Sign in";
    document.querySelector("#connection .word")?.append(" · ", link);
  }
}

// An expired session refuses the handshake just as a lost network does; only a page tells them apart.
async function isSignedOut() {
  try {
    const answer = await fetch(location.pathname, { method: "HEAD", redirect: "manual", cache: "no-store" });
    return answer.type === "opaqueredirect" || answer.status === 401 || answer.status === 403;
  } catch {
    return false;
  }
}

function state(key, words) {
  const place = document.getElementById("connection");
  if (!place || place.dataset.state === key) return;
  place.dataset.state = key;
  place.querySelector(".word").textContent = words;
}

// Ages

let line = null;

function showAges() {
  const now = (Date.now() + (line?.skew ?? 0)) / 1000;
  for (const place of document.querySelectorAll("[data-age]")) {
    if (!place.dataset.age) continue;
    const age = Math.max(0, Math.round(now - Number(place.dataset.age)));
    const words = age < 60 ? `${age} s ago` : age < 3600 ? `${Math.floor(age / 60)}m${String(age % 60).padStart(2, "0")}s ago` : `${Math.floor(age / 3600)}h ago`;
    if (place.textContent !== words) place.textContent = words;
  }
}

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

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

function addRow(row) {
  if (row.kind === "attempt.started") foldAttempt();
  const item = parse(row.html).firstElementChild;
  const same = document.getElementById(item.id);
  // A late word of a turn that is there already: it grows in place.
  if (same && transcript.contains(same)) same.replaceWith(item);
  else {
    transcript.append(item);
    if (item.getClientRects().length) unseen += 1;
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
      if (follow) toEnd();
      else showUnseen();
      showAges();
    } else if (message.type === "state") showState(message, feed, line);
    else if (message.type === "gone") line.stop("gone", "this call was deleted");
  };
  if (!location.hash && box) toEnd();
  line = new Line(root.dataset.socket, opening, receive);
}

function showState(message, feed, line) {
  const before = root.dataset.status;
  root.dataset.status = message.status;
  if (message.status !== "running") document.getElementById("hang-up")?.remove();
  const place = document.querySelector("#outcome .outcome");
  if (place && !message.ended && message.status !== before) {
    place.className = `outcome large is-${message.status}`;
    place.lastChild.textContent = message.status[0].toUpperCase() + message.status.slice(1);
  }
  // A call that was queued has another bar once it runs (hang-up, age of the last event).
  if (before === "queued" && message.status === "running") refresh();
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

// Pages of cells or tiles: what has a key is patched where it stands, so nothing moves; new tiles come at the end.

function watchKeys() {
  const opening = () => {
    const known = {};
    for (const cell of root.querySelectorAll("[data-key][data-state]")) known[cell.dataset.key] = cell.dataset.state;
    return { after: 0, known };
  };
  const receive = (message, line) => {
    if (message.type === "patch") {
      for (const fresh of [...parse(message.html).children]) patch(fresh);
      document.getElementById("nothing")?.toggleAttribute("hidden", Boolean(root.querySelector("[data-key]")));
      showAges();
    }
    if (message.type === "counts") {
      for (const place of root.querySelectorAll("[data-count]")) place.textContent = message.counts[place.dataset.count] ?? 0;
      for (const place of root.querySelectorAll("[data-ended]")) place.textContent = message.ended;
      if (message.ended === message.total) state("ended", "every call has ended");
    }
    root.dispatchEvent(new CustomEvent("live-changed", { bubbles: true }));
    const tiles = document.getElementById("tile-count");
    if (tiles) tiles.textContent = root.querySelectorAll(".tile.status-running, .tile.status-scoring").length;
  };
  line = new Line(root.dataset.socket, opening, receive);
}

function patch(fresh) {
  const old = document.getElementById(fresh.id);
  if (!old) {
    document.getElementById("patches")?.append(fresh);
    return;
  }
  for (const name of ["selected", "other"]) fresh.classList.toggle(name, old.classList.contains(name));
  const hadFocus = old.contains(document.activeElement);
  old.replaceWith(fresh);
  if (hadFocus) (fresh.matches("a") ? fresh : fresh.querySelector("a"))?.focus({ preventScroll: true });
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

if (transcript) read();
if (root?.dataset.live === "trial") watchCall();
else if (root) watchKeys();
if (document.querySelector("[data-age]")) {
  showAges();
  setInterval(showAges, 1_000);
}
