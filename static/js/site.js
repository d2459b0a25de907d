// Frame of every page: colours, the reader's time zone, the keyboard map, focus after a swap. Nothing here is needed for reading.
"use strict";

const YEAR_S = 365 * 24 * 3600;

function keep(name, value, age = YEAR_S) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${name}=${value}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
}

// Times are rendered on the server in the reader's zone; the first page ever seen is in UTC and says so.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !document.cookie.split("; ").includes(`tz=${zone}`)) keep("tz", zone);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-theme-form] button");
  if (button) {
    event.preventDefault();
    const chosen = button.value;
    keep("theme", chosen, chosen === "auto" ? 0 : YEAR_S);
    if (chosen === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    for (const other of button.form.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
  }
  if (event.target.closest("[data-keys]")) document.getElementById("keys").showModal();
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});

// Keyboard: rows are [data-row] elements with a link inside; pages add [data-failed] to rows that failed.

const PLACES = { h: "/", r: "/runs/", n: "/runs/new", l: "/live/", s: "/scenarios/", v: "/review/" };
const GOING_MS = 1_500;
let going = -Infinity; // when g was pressed

// By the time of the press: a page that is busy hears of both keys late.
function isGoing(event) {
  return event.timeStamp - going < GOING_MS;
}

function rows() {
  return [...document.querySelectorAll("[data-row]")].filter((row) => row.offsetParent !== null);
}

function select(row) {
  document.querySelector("[data-row].selected")?.classList.remove("selected");
  row.classList.add("selected");
  (row.matches("a") ? row : row.querySelector("a")).focus();
  row.scrollIntoView({ block: "nearest" });
}

function step(direction, wanted = () => true) {
  const all = rows();
  const here = all.findIndex((row) => row.classList.contains("selected") || row.contains(document.activeElement));
  const order = direction > 0 ? all.slice(here + 1) : all.slice(0, here < 0 ? all.length : here).reverse();
  const next = order.find(wanted);
  if (next) select(next);
}

// A page without rows (a single call) offers its neighbours as links.
function follow(name) {
  const link = document.querySelector(`:is(a, button)[data-key="${name}"]`);
  if (link) link.click();
  return Boolean(link);
}

const KEYS = {
  "?": () => document.getElementById("keys")?.showModal(),
  "/": () => document.querySelector("[data-search], input[type=search]")?.focus(),
  j: () => follow("j") || step(1),
  k: () => follow("k") || step(-1),
  f: () => follow("f") || step(1, (row) => row.hasAttribute("data-failed")),
  c: () => follow("c"),
  x: () => document.querySelector("[data-row].selected input[type=checkbox][name=runs]")?.click(),
  u: () => (document.querySelector("a[data-key=u]") ?? [...document.querySelectorAll(".crumbs a")].pop())?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  if (isGoing(event)) {
    going = -Infinity;
    if (PLACES[event.key]) location.assign(PLACES[event.key]);
    return;
  }
  if (event.key === "g") {
    going = event.timeStamp;
    return;
  }
  if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  }
});

// Focus returns where it was after a patch, by id.
let focused = "";
document.addEventListener("htmx:beforeSwap", () => (focused = document.activeElement?.id ?? ""));
document.addEventListener("htmx:afterSettle", () => {
  if (focused && document.activeElement === document.body) document.getElementById(focused)?.focus({ preventScroll: true });
});

function announce(text) {
  document.getElementById("announcer").textContent = text;
}

function complain(text) {
  const place = document.getElementById("problem");
  place.textContent = text;
  place.hidden = !text;
}

document.addEventListener("htmx:responseError", (event) => {
  complain(`The site answered ${event.detail.xhr.status}; what you see is as it was before. Reload the page to see how things stand.`);
});
document.addEventListener("htmx:sendError", () => complain("The site cannot be reached; what you see is as it was before."));
document.addEventListener("htmx:afterRequest", (event) => event.detail.successful && complain(""));
