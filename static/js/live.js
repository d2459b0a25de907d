// Live pages: one socket a page that only listens. The page says what it has ({"after": N, "known": {...}}); the server
// sends what is missing and then what comes. Messages are rendered on the server and hold escaped text only.
"use strict";

const SILENT_MS = 12_000; // the server shows a sign of life every 5 s
const RETRY_MS = [300, 1_000, 2_000, 5_000, 10_000];

const root = document.querySelector("[data-live]");

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
        if (document.getElementById("connection")?.dataset.state !== "ended") state("live", "live");
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

function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
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
      if (message.ended === message.total) state("ended", "every call has ended");
      else state("live", "live");
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

if (root && root.dataset.live !== "trial") watchKeys();
if (document.querySelector("[data-age]")) {
  showAges();
  setInterval(showAges, 1_000);
}
