// The clock of all panels: a share of their times, so that runs of different lengths keep pace.

import { make } from "./elements.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];
const SECONDS = 6; // of a whole run at speed 1

export class Transport {
  constructor(box, page) {
    this.page = page;
    this.share = 1;
    this.playing = false;
    this.speed = 2;
    const button = (text, label, onclick) =>
      make("button", { type: "button", text, title: label, "aria-label": label, onclick });
    this.play = button("▶", "Play (Space)", () => this.toggle());
    this.play.className = "play";
    this.bar = make("input", {
      type: "range", min: 0, max: 1, step: 0.001, "aria-label": "Time",
      oninput: () => {
        this.playing = false;
        this.go(Number(this.bar.value));
      },
    });
    this.label = make("output", { className: "clock" });
    this.fast = make("button", { type: "button", title: "Speed ([ and ])", onclick: () => this.faster(1, true) });
    box.append(
      this.play, button("‹", "One step back (←)", () => this.step(-1)),
      button("›", "One step forward (→)", () => this.step(1)), this.bar, this.label, this.fast);
    this._refresh();
  }

  get longest() {
    return Math.max(2, ...this.page.visible().map((panel) => panel.times.length));
  }

  index(count) {
    return Math.round(this.share * (count - 1));
  }

  toggle() {
    if (this.playing) this.pause();
    else this.start();
  }

  start() {
    if (this.share >= 1) this.share = 0;
    this.playing = true;
    this._last = performance.now();
    this._refresh();
    requestAnimationFrame((now) => this._tick(now));
  }

  pause() {
    this.playing = false;
    this._refresh();
  }

  go(share) {
    this.share = Math.min(1, Math.max(0, share));
    this._refresh();
    this.page.frame();
  }

  step(by) {
    this.pause();
    const last = this.longest - 1;
    this.go((Math.round(this.share * last) + by) / last);
  }

  faster(by, around = false) {
    const next = this.speed + by;
    this.speed = around ? next % SPEEDS.length : Math.min(SPEEDS.length - 1, Math.max(0, next));
    this._refresh();
  }

  _tick(now) {
    if (!this.playing) return;
    const passed = Math.min(0.1, (now - this._last) / 1000);
    this._last = now;
    this.share = Math.min(1, this.share + (passed * SPEEDS[this.speed]) / SECONDS);
    if (this.share >= 1) this.playing = false;
    this._refresh();
    this.page.frame();
    if (this.playing) requestAnimationFrame((then) => this._tick(then));
  }

  _refresh() {
    this.play.textContent = this.playing ? "❚❚" : "▶";
    this.play.setAttribute("aria-label", this.playing ? "Pause (Space)" : "Play (Space)");
    this.bar.value = this.share;
    this.fast.textContent = `${SPEEDS[this.speed]}×`;
    const panel = this.page.visible()[0];
    const times = panel?.times ?? [0];
    this.label.textContent = `t = ${times[this.index(times.length)].toLocaleString("en")}`;
  }
}
