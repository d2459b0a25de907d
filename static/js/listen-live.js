// Listening to a call while it is held: both sides, receive only, with the delay shown. Nothing is ever sent.
"use strict";

const RATE_HZ = 16_000;
const HEADER_BYTES = 16; // the server's clock (float64), position and age of the last sample (uint32), little endian
const AGAIN_MS = [500, 1_000, 2_000, 5_000, 10_000, 10_000, 10_000, 10_000, 10_000]; // a site that starts anew on a busy machine takes half a minute

class LiveSound {
  constructor(place) {
    this.place = place;
    this.button = place.querySelector("button");
    this.words = place.querySelector("output");
    this.button.disabled = false;
    this.button.addEventListener("click", () => (this.context ? this.stop("") : this.start()));
  }

  async start() {
    this.failures = 0;
    this.isLost = false;
    this.base = Infinity;
    this.age = 0;
    this.context = new AudioContext({ sampleRate: RATE_HZ, latencyHint: "interactive" });
    this.button.setAttribute("aria-pressed", "true");
    this.say("connecting…");
    try {
      await this.context.audioWorklet.addModule(this.place.dataset.worklet);
    } catch {
      this.stop("this browser cannot play live sound");
      return;
    }
    if (!this.context) return; // stopped meanwhile
    this.node = new AudioWorkletNode(this.context, "jitter", { numberOfInputs: 0, outputChannelCount: [2] });
    this.node.port.onmessage = ({ data }) => this.report(data);
    this.node.connect(this.context.destination);
    this.context.resume();
    this.open();
  }

  open() {
    const url = new URL(this.place.dataset.socket, location.href);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = (this.socket = new WebSocket(url));
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => socket === this.socket && (typeof data === "string" ? this.told(JSON.parse(data)) : this.heard(data));
    socket.onclose = ({ code }) => socket === this.socket && this.closed(code);
  }

  // What the network adds is told by how much later than the fastest message this one came.
  heard(data) {
    const view = new DataView(data);
    const late = Date.now() - view.getFloat64(0, true);
    this.base = Math.min(this.base, late);
    this.position = view.getUint32(8, true);
    this.age = view.getUint32(12, true) + (late - this.base);
    this.failures = 0;
    this.isLost = false;
    const pcm = data.slice(HEADER_BYTES);
    this.node.port.postMessage(pcm, [pcm]);
  }

  told(message) {
    if (message.type === "over") this.stop(message.why);
    else if (message.type === "waiting") this.say(message.why);
  }

  report({ buffered, gaps, isFilling }) {
    if (!this.context || this.position === undefined || this.isLost) return;
    const out = (this.context.outputLatency || this.context.baseLatency || 0) * 1000;
    this.delay = Math.round(this.age + buffered + out);
    this.place.dataset.delay = this.delay;
    this.place.dataset.position = this.position;
    this.say(isFilling ? "waiting for sound…" : `delay ${this.delay} ms${gaps ? `, ${gaps} gap${gaps > 1 ? "s" : ""}` : ""}`);
  }

  closed(code) {
    if (!this.context) return;
    if (code === 4401) this.stop("signed out");
    else if (code === 4400 || this.failures >= AGAIN_MS.length) this.stop("the connection was lost");
    else {
      this.isLost = true;
      this.say("connection lost; trying again");
      setTimeout(() => this.context && this.open(), AGAIN_MS[this.failures]);
      this.failures += 1;
    }
  }

  stop(why) {
    const { context, socket } = this;
    this.context = this.socket = this.node = this.position = undefined;
    socket?.close();
    context?.close();
    this.button.setAttribute("aria-pressed", "false");
    delete this.place.dataset.delay;
    this.say(why);
  }

  say(words) {
    if (this.words.textContent !== words) this.words.textContent = words;
  }
}

const soundPlace = document.getElementById("live-sound");
if (soundPlace) new LiveSound(soundPlace);
