// Plays stereo frames as they come: a small buffer against jitter, silence while it fills, no growing delay.
"use strict";

const TARGET_S = 0.25; // heard this long after it came: the server reads every 0.1 s, the lane writes every 0.2 s
const MOST_S = 1; // more than this is thrown away down to the target
const REPORT_S = 0.25;

class Jitter extends AudioWorkletProcessor {
  constructor() {
    super();
    this.frames = [];
    this.waiting = 0; // frames in the buffer
    this.at = 0; // of the first block
    this.isFilling = true;
    this.gaps = this.dropped = 0;
    this.reported = 0;
    this.port.onmessage = ({ data }) => this.take(new Int16Array(data));
  }

  take(block) {
    this.frames.push(block);
    this.waiting += block.length / 2;
    if (this.waiting <= MOST_S * sampleRate) return;
    this.dropped += 1;
    this.skip(this.waiting - Math.round(TARGET_S * sampleRate));
  }

  skip(count) {
    for (; count > 0; count -= 1) this.next();
  }

  next() {
    const block = this.frames[0];
    const frame = [block[this.at] / 32768, block[this.at + 1] / 32768];
    this.at += 2;
    this.waiting -= 1;
    if (this.at >= block.length) {
      this.frames.shift();
      this.at = 0;
    }
    return frame;
  }

  process(inputs, [output]) {
    const [left, right = left] = output;
    if (this.isFilling && this.waiting >= TARGET_S * sampleRate) this.isFilling = false;
    for (let index = 0; index < left.length; index += 1) {
      if (!this.isFilling && !this.waiting) {
        this.isFilling = true;
        this.gaps += 1;
      }
      if (this.isFilling) left[index] = right[index] = 0;
      else [left[index], right[index]] = this.next();
    }
    if (currentTime - this.reported >= REPORT_S) {
      this.reported = currentTime;
      this.port.postMessage({ buffered: (this.waiting / sampleRate) * 1000, gaps: this.gaps, dropped: this.dropped, isFilling: this.isFilling });
    }
    return true;
  }
}

registerProcessor("jitter", Jitter);
