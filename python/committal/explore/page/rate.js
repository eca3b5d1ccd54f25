// The failure rate while it is counted: ever more runs to the right, the interval closing.

import { axes, fit, words } from "./canvas.js";
import { colours } from "./colours.js";

export function percent(x) {
  const p = 100 * x;
  if (p === 0 || p === 100) return `${p} %`;
  const tail = Math.min(p, 100 - p);
  return `${p.toFixed(tail >= 10 ? 1 : tail >= 1 ? 2 : tail >= 0.1 ? 3 : 4)} %`;
}

// As committal.FailureRate writes it: no failure is a bound.
export function rateWords(known) {
  if (known.failures === 0) return `< ${percent(known.high)}`;
  if (known.failures === known.runs) return `> ${percent(known.low)}`;
  return percent(known.rate);
}

export function intervalWords(known) {
  const runs = known.runs.toLocaleString("en");
  const counts = `${known.failures.toLocaleString("en")} of ${runs} runs`;
  if (known.failures === 0 || known.failures === known.runs) return `95 % bound · ${counts}`;
  const digits = Math.max(0, 1 - Math.floor(Math.log10(50 * (known.high - known.low))));
  const [low, high] = [known.low, known.high].map((x) => (100 * x).toFixed(Math.min(digits, 4)));
  return `[${low}, ${high}] · ${counts}`;
}

export function drawRate(canvas, history, exact) {
  const size = fit(canvas), { context } = size;
  if (!history.length) return;
  const last = history[history.length - 1];
  const top = Math.max(4, Math.ceil(Math.log10(last.runs) - 1e-9));
  const low = Math.log10(Math.min(100, history[0].runs));
  // The first interval of some size sets the scale, so that one sees the next ones close.
  const first = history.find((k) => k.runs >= 100) ?? history[0];
  const high = Math.min(1, Math.max(first.high, last.high * 1.3, (exact?.probability ?? 0) * 1.3, 0.002));
  const least = Math.max(0, Math.min(first.low * 0.98, last.low - (last.high - last.low)));
  const digits = high - least < 0.02 ? 2 : high - least < 0.2 ? 1 : 0;
  const xTicks = [];
  for (let d = 2; d <= top; d++) xTicks.push(d);
  const bottom = 22, left = 54;
  const frame = axes(context, size, { x: [low, top], y: [least, high], xTicks: [], yTicks: [], left, bottom });
  const { toX, toY } = frame;
  const every = Math.ceil(34 / (toX(1) - toX(0))); // decades, so that words do not touch
  for (const d of xTicks) {
    if ((top - d) % every) continue;
    const text = ["", "", "100", "1,000", "10⁴", "10⁵", "10⁶"][d] ?? `10^${d}`;
    words(context, text, toX(d), size.height - 8, { align: d === top ? "right" : "center", size: 11 });
  }
  for (const v of [least, high]) {
    words(context, `${(100 * v).toFixed(digits)} %`, left - 6, toY(v), { align: "right", base: v === least ? "bottom" : "top", size: 11 });
  }
  const xs = history.map((k) => toX(Math.log10(k.runs)));
  const clip = (v) => toY(Math.min(Math.max(v, least), high));
  const band = (bottomOf, topOf, alpha) => {
    context.beginPath();
    history.forEach((k, i) => context.lineTo(xs[i], clip(topOf(k))));
    for (let i = history.length - 1; i >= 0; i--) context.lineTo(xs[i], clip(bottomOf(history[i])));
    context.closePath();
    context.fillStyle = colours.failed;
    context.globalAlpha = alpha;
    context.fill();
    context.globalAlpha = 1;
  };
  band((k) => k.always_low, (k) => k.always_high, 0.12);
  band((k) => k.low, (k) => k.high, 0.28);
  context.strokeStyle = colours.failed;
  context.lineWidth = 1.8;
  context.beginPath();
  history.forEach((k, i) => context.lineTo(xs[i], clip(k.rate)));
  context.stroke();
  if (exact) {
    context.strokeStyle = colours.ink;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.4;
    context.beginPath();
    context.moveTo(frame.left, clip(exact.probability));
    context.lineTo(frame.right, clip(exact.probability));
    context.stroke();
    context.setLineDash([]);
  }
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(frame.left, frame.bottom);
  context.lineTo(frame.right, frame.bottom);
  context.stroke();
}
