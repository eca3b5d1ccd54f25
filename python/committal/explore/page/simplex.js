// Runs on the simplex: every run a thread, drawn as far as the clock has come.

import { fit, words } from "./canvas.js";
import { colours, mapColour, timeColour } from "./colours.js";
import { corners, height, pointOf, policyAt } from "./geometry.js";
import { short, state } from "./state.js";

const BINS = 24; // colours of time
const NEAR = 0.4; // pixels of the screen
const PAD = { x: 34, top: 26, bottom: 26 };

function wide(context, text) {
  context.font = "600 12.5px system-ui, sans-serif";
  return context.measureText(text).width;
}

export class Simplex {
  constructor(canvas, onStart) {
    this.canvas = canvas;
    this.trail = document.createElement("canvas");
    this.data = null;
    this.map = null;
    this.start = null;
    this.fixed = !onStart;
    if (this.fixed) return;
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "slider");
    canvas.setAttribute("aria-label", "Start on the simplex: drag it, or use the arrow keys");
    this._drag(onStart);
  }

  // New runs: points of all of them, once.
  show(head, fates) {
    const { policy, path } = head.arrays;
    const [runs, times, arms] = policy.shape;
    const where = corners(arms);
    const flat = (array, count) => {
      const points = new Float32Array(count * 2);
      for (let i = 0, j = 0; i < count; i++) {
        let x = 0, y = 0;
        for (let k = 0; k < arms; k++, j++) {
          x += array[j] * where[k][0];
          y += array[j] * where[k][1];
        }
        points[2 * i] = x;
        // Two arms leave the second direction to time.
        points[2 * i + 1] = arms === 2 ? (i % times) / (times - 1 || 1) : y;
      }
      return points;
    };
    this.data = {
      runs, times, arms, where, fates, names: head.names, means: head.means,
      points: flat(policy, runs * times),
      path: path ? flat(path, times) : null,
      start: Array.from(policy.subarray(0, arms)),
    };
    this.start = this.data.start;
    this.drawn = -1;
  }

  // Colours from `low` to `high`, which panels may share.
  setMap(head, low, high) {
    if (!head) {
      this.map = null;
      return;
    }
    const array = head.arrays.map, [rows, columns] = array.shape;
    const image = new ImageData(columns, rows);
    for (let i = 0; i < array.length; i++) {
      const share = (array[i] - low) / (high - low);
      image.data.set([...mapColour(Math.min(Math.max(share, 0), 1)), 255], 4 * i);
    }
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: columns, height: rows });
    canvas.getContext("2d").putImageData(image, 0, 0);
    this.map = { canvas, head };
  }

  // From the square of the geometry to the canvas.
  _place(width, tall) {
    const arms = this.data.arms;
    const h = height(arms), room = tall - PAD.top - PAD.bottom;
    if (arms === 2) {
      return { left: PAD.x, top: PAD.top, x: width - 2 * PAD.x, y: room };
    }
    const side = Math.min(width - 2 * PAD.x, room / h);
    return { left: (width - side) / 2, top: PAD.top + (room - side * h) / 2, x: side, y: side };
  }

  draw(clock) {
    if (!this.data) return;
    const size = fit(this.canvas), { context, width, height: tall } = size;
    const place = (this.place = this._place(width, tall));
    this._ground(context, place, width);
    this._trails(size, place, clock);
    context.drawImage(this.trail, 0, 0, width, tall);
    this._path(context, place, clock);
    this._heads(context, place, clock);
    if (!this.fixed) this._handle(context, place);
  }

  _outline(context, place) {
    const { where, arms } = this.data;
    context.beginPath();
    if (arms === 2) {
      context.rect(place.left, place.top, place.x, place.y);
      return;
    }
    where.forEach(([x, y], k) => {
      const at = [place.left + x * place.x, place.top + y * place.y];
      if (k) context.lineTo(...at);
      else context.moveTo(...at);
    });
    context.closePath();
  }

  _ground(context, place, width) {
    const { where, arms, names, means } = this.data;
    const best = Math.max(...means);
    this._outline(context, place);
    if (this.map) {
      context.save();
      context.clip();
      context.imageSmoothingEnabled = true;
      context.drawImage(this.map.canvas, place.left, place.top, place.x, place.y * height(arms));
      context.restore();
      this._outline(context, place);
    }
    context.strokeStyle = colours.line;
    context.lineWidth = 1.2;
    context.stroke();
    where.forEach(([x, y], k) => {
      const text = `${names[k]} · ${short(means[k])}`;
      const colour = means[k] === best ? colours.reached : colours.soft;
      const weight = means[k] === best ? 600 : 400;
      let at = [place.left + x * place.x, place.top + y * place.y];
      let [align, base, dx, dy] = ["center", "top", 0, 8];
      if (arms === 2) {
        at = [place.left + x * place.x, place.top + place.y];
        align = x ? "right" : "left";
      } else if (y < 0.2) [base, dy] = ["bottom", -8];
      else if (y < height(arms) * 0.8) {
        // Beside its corner; above it, where the picture ends before the words do.
        const side = x < 0.5 ? -1 : 1, room = side < 0 ? at[0] : width - at[0];
        if (room > wide(context, text) + 12) [base, dx, dy, align] = ["middle", 9 * side, 0, side < 0 ? "right" : "left"];
        else [base, dx, dy, align] = ["bottom", side * (PAD.x - 4), -10, side < 0 ? "left" : "right"];
      } else if (arms === 3) {
        align = x < 0.5 ? "left" : "right";
        dx = x < 0.5 ? -PAD.x + 6 : PAD.x - 6;
      }
      words(context, text, at[0] + dx, at[1] + dy, { align, base, colour, weight, size: 12.5 });
    });
    if (arms === 2) words(context, "t ↓", place.left - 8, place.top + place.y / 2, { align: "right", size: 11 });
  }

  // Only what is new since the last frame, unless time went back.
  _trails({ width, height: tall, ratio }, place, clock) {
    const { points, runs, times, fates } = this.data;
    const key = `${width} ${tall} ${ratio} ${state.colour} ${colours.ink} ${place.left}`;
    const context = this.trail.getContext("2d");
    if (this.drawn < 0 || this.drawn > clock || this.key !== key) {
      Object.assign(this.trail, { width: Math.round(width * ratio), height: Math.round(tall * ratio) });
      this.drawn = 0;
      this.key = key;
    }
    if (this.drawn === clock) return;
    const [sizeX, sizeY] = [ratio * place.x, ratio * place.y], [left, top] = [ratio * place.left, ratio * place.top];
    // Every run is a line of its own, so that many together are darker than one. Steps that cannot
    // be seen are left out: a run that has settled costs nothing.
    const thread = (from, to, wanted) => {
      for (let run = 0; run < runs; run++) {
        if (wanted !== null && fates.of[run] !== wanted) continue;
        const base = 2 * run * times;
        let x = left + sizeX * points[base + 2 * from], y = top + sizeY * points[base + 2 * from + 1], moves = false;
        context.beginPath();
        context.moveTo(x, y);
        for (let j = base + 2 * (from + 1), end = base + 2 * to; j <= end; j += 2) {
          const nextX = left + sizeX * points[j], nextY = top + sizeY * points[j + 1];
          if (Math.abs(nextX - x) < NEAR && Math.abs(nextY - y) < NEAR) continue;
          context.lineTo((x = nextX), (y = nextY));
          moves = true;
        }
        if (moves) context.stroke();
      }
    };
    context.lineWidth = ratio > 1 ? 1 : runs > 300 ? 0.6 : 0.9; // at most a pixel: such lines are drawn quickly
    context.lineJoin = "round";
    context.globalAlpha = Math.min(0.9, Math.max(0.18, 26 / Math.sqrt(runs) / 5));
    if (state.colour === "time") {
      let from = this.drawn;
      while (from < clock) {
        const bin = Math.floor((from / (times - 1)) * BINS);
        const to = Math.min(clock, Math.max(from + 1, Math.ceil(((bin + 1) / BINS) * (times - 1))));
        context.strokeStyle = timeColour((bin + 0.5) / BINS);
        thread(from, to, null);
        from = to;
      }
    } else {
      for (const fate of ["reached", "moving", "failed"]) {
        context.strokeStyle = colours[fate];
        thread(this.drawn, clock, fate);
      }
    }
    context.globalAlpha = 1;
    this.drawn = clock;
  }

  _path(context, place, clock) {
    const path = state.path && this.data.path;
    if (!path) return;
    const run = (colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.lineJoin = "round";
      context.beginPath();
      for (let i = 0; i <= clock; i++) {
        context.lineTo(place.left + path[2 * i] * place.x, place.top + path[2 * i + 1] * place.y);
      }
      context.stroke();
    };
    run(colours.card, 4);
    run(colours.ink, 2);
  }

  _heads(context, place, clock) {
    const { points, runs, times, fates } = this.data;
    if (clock >= times - 1 && state.colour === "time") return;
    for (const fate of ["reached", "moving", "failed"]) {
      context.fillStyle = state.colour === "time" ? timeColour(clock / (times - 1)) : colours[fate];
      context.beginPath();
      for (let run = 0; run < runs; run++) {
        if (fates.of[run] !== fate) continue;
        const j = 2 * (run * times + clock);
        const x = place.left + points[j] * place.x, y = place.top + points[j + 1] * place.y;
        context.moveTo(x + 2.2, y);
        context.arc(x, y, 2.2, 0, 2 * Math.PI);
      }
      context.fill();
    }
  }

  _handle(context, place) {
    const [x, y] = this._startPoint(place);
    context.beginPath();
    context.arc(x, y, 8, 0, 2 * Math.PI);
    context.fillStyle = colours.card;
    context.fill();
    context.lineWidth = 2.5;
    context.strokeStyle = colours.accent;
    context.stroke();
    context.beginPath();
    context.arc(x, y, 2.5, 0, 2 * Math.PI);
    context.fillStyle = colours.accent;
    context.fill();
  }

  _startPoint(place) {
    const [x, y] = pointOf(this.start, this.data.where);
    return [place.left + x * place.x, place.top + (this.data.arms === 2 ? 0 : y) * place.y];
  }

  _drag(onStart) {
    const canvas = this.canvas;
    let held = false;
    const move = (event) => {
      const box = canvas.getBoundingClientRect();
      const x = (event.clientX - box.left - this.place.left) / this.place.x;
      const y = (event.clientY - box.top - this.place.top) / this.place.y;
      this.start = policyAt(x, y, this.data.where);
      onStart(this.start);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.data) return;
      const box = canvas.getBoundingClientRect();
      const [x, y] = this._startPoint(this.place);
      const far = Math.hypot(event.clientX - box.left - x, event.clientY - box.top - y);
      // A finger needs more room, and elsewhere it should scroll the page.
      if (far > (event.pointerType === "touch" ? 32 : 18) && event.pointerType === "touch") return;
      held = true;
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      event.preventDefault();
      move(event);
    });
    canvas.addEventListener("pointermove", (event) => held && move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      canvas.addEventListener(name, () => (held = false));
    }
    // Said when the finger comes down: once the page has begun to scroll, it is too late.
    canvas.addEventListener("touchstart", (event) => held && event.preventDefault(), { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      if (!by || !this.data) return;
      event.preventDefault();
      event.stopPropagation();
      const [x, y] = pointOf(this.start, this.data.where), step = event.shiftKey ? 0.05 : 0.015;
      this.start = policyAt(x + by[0] * step, y + by[1] * step, this.data.where);
      onStart(this.start);
    });
  }
}
