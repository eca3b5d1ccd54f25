// What the pictures share: a canvas at the screen's own resolution, axes, and small words.

import { colours } from "./colours.js";

export function fit(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const box = canvas.getBoundingClientRect();
  const [width, height] = [Math.max(box.width, 1), Math.max(box.height, 1)];
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height, ratio };
}

export function words(context, text, x, y, { align = "left", base = "alphabetic", size = 12, colour = colours.soft, weight = 400 } = {}) {
  context.font = `${weight} ${size}px system-ui, sans-serif`;
  context.textAlign = align;
  context.textBaseline = base;
  context.fillStyle = colour;
  context.fillText(text, x, y);
}

// Round numbers between two ends, about so many.
export function ticks(low, high, about = 4) {
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const found = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + step * 1e-9; x += step) {
    found.push(Math.abs(x) < step * 1e-9 ? 0 : x);
  }
  return found;
}

export function tidy(x) {
  const text = Math.abs(x) >= 1000 ? x.toLocaleString("en") : String(Number(x.toPrecision(4)));
  return text.replace("-", "−");
}

// A frame with axes: returns the two scales.
export function axes(context, { width, height }, { x, y, label, yLabel, xTicks, yTicks, left = 40, right = 10, top = yLabel ? 18 : 8, bottom = 22 }) {
  const toX = (v) => left + ((v - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const toY = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const v of yTicks ?? ticks(...y, 3)) {
    context.moveTo(left, toY(v));
    context.lineTo(width - right, toY(v));
    words(context, tidy(v), left - 6, toY(v), { align: "right", base: "middle", size: 11 });
  }
  context.stroke();
  for (const v of xTicks ?? ticks(...x, Math.max(2, Math.floor(width / 110)))) {
    const room = label ? 100 : 0; // for the name of the axis at its end
    if (toX(v) > width - right - room) continue;
    words(context, tidy(v), toX(v), height - bottom + 14, { align: "center", size: 11 });
  }
  if (label) words(context, label, width - right, height - bottom + 14, { align: "right", size: 11 });
  if (yLabel) words(context, yLabel, left, top - 7, { size: 11 });
  return { toX, toY, left, right: width - right, top, bottom: height - bottom };
}
