// One line per run in the colour of its fate, the mean on top.

import { axes, fit } from "./canvas.js";
import { colours } from "./colours.js";

const LEVEL = 0.15; // pixels

// `series`: {times, runs, values (runs x times), fates, low, high, below, mean, path, label}.
export function drawCurves(canvas, series, clock, counted) {
  const size = fit(canvas), { context } = size;
  const { times, values, runs, fates } = series;
  const last = times[times.length - 1] || 1;
  const pad = (series.high - series.low || 1) * 0.04;
  const frame = axes(context, size, {
    x: [0, last], y: [series.low - pad, series.high + pad], label: `${last.toLocaleString("en")} ${series.xLabel ?? "updates"}`,
    yLabel: series.label,
  });
  const { toX, toY } = frame;
  const xs = Float32Array.from(times, toX);
  const line = (get, count = times.length) => {
    context.beginPath();
    for (let i = 0; i < count; i++) context.lineTo(xs[i], toY(get(i)));
    context.stroke();
  };
  if (series.below !== undefined) {
    context.strokeStyle = colours.soft;
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(frame.left, toY(series.below));
    context.lineTo(frame.right, toY(series.below));
    context.stroke();
    context.setLineDash([]);
  }
  context.drawImage(runsOf(series, size, frame, xs), 0, 0, size.width, size.height);
  if (series.path) {
    context.strokeStyle = colours.ink;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.4;
    line((i) => series.path[i]);
    context.setLineDash([]);
  }
  const mean = counted ?? { times, mean: series.mean };
  for (const [colour, width] of [[colours.card, 4.5], [colours.ink, 2.2]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.beginPath();
    mean.times.forEach((t, i) => context.lineTo(toX(t), toY(mean.mean[i])));
    context.stroke();
  }
  if (clock < times.length - 1) {
    context.fillStyle = colours.card;
    context.globalAlpha = 0.72;
    context.fillRect(xs[clock] + 0.5, frame.top, frame.right - xs[clock], frame.bottom - frame.top);
    context.globalAlpha = 1;
  }
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.4;
  context.beginPath();
  context.moveTo(xs[clock], frame.top);
  context.lineTo(xs[clock], frame.bottom);
  context.stroke();
}

// The lines of the runs, drawn once: only the clock moves over them.
function runsOf(series, { width, height, ratio }, { toY }, xs) {
  const { values, runs, fates } = series, count = xs.length;
  const key = `${width} ${height} ${ratio} ${colours.ink}`;
  if (series.layer?.key === key) return series.layer.canvas;
  const canvas = series.layer?.canvas ?? document.createElement("canvas");
  Object.assign(canvas, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.lineWidth = ratio > 1 ? 1 / ratio : 0.7; // at most a pixel: such lines are drawn quickly
  context.globalAlpha = Math.min(0.8, Math.max(0.16, 3.2 / Math.sqrt(runs)));
  for (const fate of ["reached", "moving", "failed"]) {
    context.strokeStyle = colours[fate];
    for (let run = 0; run < runs; run++) {
      if (fates && fates.of[run] !== fate) continue;
      if (!fates && fate !== "reached") continue;
      const base = run * count;
      let y = toY(values[base]), level = 0;
      context.beginPath();
      context.moveTo(xs[0], y);
      for (let i = 1; i < count; i++) {
        const next = toY(values[base + i]);
        // What stays level is one line, however many times it was looked at.
        if (Math.abs(next - y) < LEVEL && i < count - 1) {
          level = i;
          continue;
        }
        if (level === i - 1) context.lineTo(xs[level], y);
        context.lineTo(xs[i], (y = next));
      }
      context.stroke();
    }
  }
  series.layer = { key, canvas };
  return canvas;
}

export function meanOver(values, runs, times) {
  const mean = new Float32Array(times);
  for (let run = 0; run < runs; run++) {
    for (let i = 0; i < times; i++) mean[i] += values[run * times + i] / runs;
  }
  return mean;
}
