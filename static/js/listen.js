// Listening to a recorded call: the waveform seeks, turns and evidence play, the row that is heard is marked.
// The page works without this: the browser's own player stands there.
"use strict";

const EVIDENCE_LEAD_MS = 2_000; // a quote is understood with what was said before it

// Where each turn and tool call stands in the recording: the marks of the timeline know it, whatever rows are loaded.
function places() {
  const found = new Map();
  for (const mark of document.querySelectorAll("#marks > a > .mark")) {
    const start = Number(mark.getAttribute("x"));
    found.set(mark.parentNode.getAttribute("href").slice(1), { start, end: start + Number(mark.getAttribute("width")) });
  }
  return found;
}

class Player {
  constructor(audio) {
    this.audio = audio;
    this.marks = document.getElementById("marks");
    this.head = document.getElementById("playhead");
    this.end = Number(this.marks.dataset.end);
    this.places = places();
    this.turns = [...this.places].filter(([id]) => id.startsWith("turn-"));
    for (const event of ["timeupdate", "seeking", "play"]) audio.addEventListener(event, () => this.show());
    audio.addEventListener("play", () => this.move());
    audio.addEventListener("error", () => complain("The recording cannot be played: the site did not give it, or it is damaged."));
    this.marks.addEventListener("click", (event) => this.clicked(event));
    const speed = document.getElementById("speed");
    speed.disabled = false;
    speed.addEventListener("change", () => (audio.playbackRate = Number(speed.value)));
    audio.addEventListener("ratechange", () => (speed.value = String(audio.playbackRate)));
  }

  get ms() {
    return this.audio.currentTime * 1000;
  }

  playFrom(ms) {
    this.audio.currentTime = Math.max(0, ms) / 1000;
    this.play();
  }

  // Refused when a pause comes before the sound, and when the recording is damaged, which the element says itself.
  play() {
    this.audio.play().catch(() => this.show());
  }

  // A click on the waveform goes there; the link of a mark shows its row as well.
  clicked(event) {
    if (event.detail === 0) return; // the keyboard: no place was pointed at
    const box = this.marks.getBoundingClientRect();
    this.audio.currentTime = (((event.clientX - box.left) / box.width) * this.end) / 1000;
  }

  move() {
    this.show();
    if (!this.audio.paused && this.audio.isConnected) requestAnimationFrame(() => this.move());
  }

  show() {
    for (const name of ["x1", "x2"]) this.head.setAttribute(name, this.ms);
    const is = new Set(this.turns.filter(([, place]) => place.start <= this.ms && this.ms < place.end).map(([id]) => id));
    for (const row of document.querySelectorAll(".row.sounding")) if (!is.has(row.id)) row.classList.remove("sounding");
    if (this.ms) for (const id of is) document.getElementById(id)?.classList.add("sounding");
  }
}

let player = null;

function playButton(ms, label) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "play";
  button.dataset.ms = ms;
  button.textContent = "▶";
  button.title = label;
  button.setAttribute("aria-label", label);
  return button;
}

function addButtons() {
  for (const row of document.querySelectorAll(".row:is(.turn, .called):not([data-playable])")) {
    const place = player.places.get(row.id);
    const name = row.querySelector(".who, .tool-name");
    if (!place || !name) continue;
    row.dataset.playable = "";
    name.append(" ", playButton(place.start, `Play from ${row.id.replace("-", " ")}`));
  }
  for (const link of document.querySelectorAll("a.evidence:not([data-playable])")) {
    const place = player.places.get(link.hash.slice(1));
    link.dataset.playable = "";
    if (place) link.after(" ", playButton(place.start - EVIDENCE_LEAD_MS, `Play from 2 s before ${link.hash.slice(1).replace("-", " ")}`));
  }
}

// The player comes with the page, or with the swap at the end of a call that was watched.
function equip() {
  const audio = document.getElementById("audio");
  if (!audio) return;
  if (player?.audio !== audio) player = new Player(audio);
  addButtons();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.play");
  if (button && player) player.playFrom(Number(button.dataset.ms));
});

document.addEventListener("keydown", (event) => {
  if (!player || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, select, textarea, button, a, summary, audio") || document.querySelector("dialog[open]")) {
    if (event.key === " ") return; // theirs
  }
  if (event.target.closest("input, select, textarea")) return;
  if (event.key === " ") {
    event.preventDefault();
    if (player.audio.paused) player.play();
    else player.audio.pause();
  } else if (event.key === "p") {
    const row = document.activeElement.closest(".row") ?? document.querySelector(".row.pointed");
    const place = row && player.places.get(row.id);
    if (place) player.playFrom(place.start);
  }
});

document.addEventListener("htmx:afterSettle", equip);
equip();
