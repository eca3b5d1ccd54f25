// A gridworld: the map to draw on, with one run's policy, and what all runs earn and reach.

import { fit, words } from "./canvas.js";
import { colours } from "./colours.js";
import { drawCurves, meanOver } from "./curves.js";
import { make } from "./elements.js";
import { changed } from "./map.js";
import { Simplex } from "./simplex.js";
import { short, state } from "./state.js";

const MOVES = [[0, -1], [1, 0], [0, 1], [-1, 0]]; // up, right, down, left
const LABELS = {
  return: "return", value: "value", action_entropy: "entropy of actions", state_entropy: "entropy of visits",
};

export class MazeView {
  constructor(panel, page) {
    this.panel = panel;
    this.page = page;
    this.canvas = make("canvas", { className: "maze-map", role: "img", "aria-label": "The map: draw on it with the mouse" });
    this.goalsCanvas = make("canvas", { className: "goals", role: "img", "aria-label": "Which goals the runs reach" });
    panel.mazeBox.append(this.canvas, this.goalsCanvas);
    this.goals = new Simplex(this.goalsCanvas, null);
    this._draws();
  }

  show(head) {
    this.head = head;
    const { arrays, times } = head, count = times.length;
    const value = arrays.value, runs = value.shape[0];
    const fates = { of: new Array(runs), reached: 0, failed: 0, moving: 0 };
    for (let run = 0; run < runs; run++) {
      const fate = value[(run + 1) * count - 1] >= head.below ? "reached" : "failed";
      fates.of[run] = fate;
      fates[fate] += 1;
    }
    this.panel.fates = fates;
    this.fates = fates;
    this.panel.legend.replaceChildren(
      make("span", { className: "reached", text: `${fates.reached} runs end at a value of ${short(head.below)} or more` }),
      make("span", { className: "failed", text: `${fates.failed} below` }));
    const best = Object.entries(head.best).map(([goal, [moves, v]]) => `${goal}: ${moves} moves, ${short(v)}`);
    this.panel.note.textContent = best.length ? `shortest ways — ${best.join("; ")}` : "no goal can be reached";
    this._goals(head, fates);
    this._series = null;
  }

  // Shares of the goals; where there are few, what reaches none is a corner too.
  _goals(head, fates) {
    const p = head.arrays.goal_probability, [runs, times, goals] = p.shape;
    const none = goals < 3, arms = goals + (none ? 1 : 0);
    const shares = new Float32Array(runs * times * arms);
    for (let i = 0; i < runs * times; i++) {
      let total = 0;
      for (let g = 0; g < goals; g++) total += p[i * goals + g];
      for (let g = 0; g < goals; g++) {
        shares[i * arms + g] = none ? p[i * goals + g] : total > 1e-9 ? p[i * goals + g] / total : 1 / goals;
      }
      if (none) shares[i * arms + goals] = Math.max(0, 1 - total);
    }
    shares.shape = [runs, times, arms];
    const names = head.goals.map((goal) => goal);
    const means = head.goals.map((goal) => head.rewards[goal[0]]);
    // The best goal on top, as the best arm of a bandit.
    const order = means.map((_, g) => g).sort((x, y) => means[y] - means[x]);
    if (none) order.push(goals);
    const sorted = new Float32Array(shares.length);
    for (let i = 0; i < runs * times; i++) order.forEach((g, k) => { sorted[i * arms + k] = shares[i * arms + g]; });
    sorted.shape = shares.shape;
    this.goals.show({
      arrays: { policy: sorted },
      names: order.map((g) => names[g] ?? "no goal"), means: order.map((g) => means[g] ?? 0),
    }, fates);
  }

  series() {
    if (this._series?.name === state.curve) return this._series;
    const { arrays, times } = this.head;
    const values = arrays[state.curve], runs = values.shape[0];
    let low = Infinity, high = -Infinity;
    for (const v of values) {
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    if (["return", "value"].includes(state.curve)) low = Math.min(low, 0);
    this._series = {
      name: state.curve, times, runs, values, fates: this.fates, low, high: high > low ? high : low + 1,
      label: LABELS[state.curve], xLabel: "episodes", mean: meanOver(values, runs, times.length),
      below: state.curve === "value" ? this.head.below : undefined,
    };
    return this._series;
  }

  draw(clock) {
    this._map(clock);
    this.goals.draw(clock);
    const counted = state.curve === "value" ? this.panel.counted : null;
    drawCurves(this.panel.curvesCanvas, this.series(), clock, counted);
  }

  // -- the map -------------------------------------------------------------------------------------

  _map(clock) {
    const { context, width, height } = fit(this.canvas);
    const head = this.head, { rows, cells, arrays } = head;
    const size = Math.min(width / rows[0].length, height / rows.length);
    const left = (width - size * rows[0].length) / 2, top = (height - size * rows.length) / 2;
    this.place = { left, top, size };
    const states = cells.length, heat = arrays[state.heat];
    const now = heat.subarray(clock * states, (clock + 1) * states);
    const ended = new Set(head.terminal);
    let most = 0;
    now.forEach((v, s) => { if (!ended.has(s)) most = Math.max(most, v); });
    context.fillStyle = colours.dark ? "#3c4753" : "#39434d";
    context.fillRect(left, top, size * rows[0].length, size * rows.length);
    cells.forEach(([r, c], s) => {
      const [x, y] = [left + c * size, top + r * size];
      context.fillStyle = colours.card;
      context.fillRect(x, y, size + 0.5, size + 0.5);
      const share = ended.has(s) || most <= 0 ? 0 : Math.sqrt(Math.max(0, now[s]) / most);
      context.globalAlpha = 0.62 * share;
      context.fillStyle = state.heat === "visits" ? colours.moving : colours.reached;
      context.fillRect(x, y, size + 0.5, size + 0.5);
      context.globalAlpha = 1;
      context.strokeStyle = colours.line;
      context.lineWidth = 0.5;
      context.strokeRect(x, y, size, size);
    });
    cells.forEach(([r, c], s) => {
      const [x, y] = [left + (c + 0.5) * size, top + (r + 0.5) * size];
      const letter = rows[r][c];
      if (ended.has(s)) this._goal(context, x, y, size, letter, head.rewards[letter]);
      else this._arrows(context, x, y, size, arrays.policy, (clock * states + s) * 4);
      if (letter === head.start) {
        context.beginPath();
        context.arc(x, y, size * 0.43, 0, 2 * Math.PI);
        context.strokeStyle = colours.accent;
        context.lineWidth = Math.max(1.6, size * 0.05);
        context.stroke();
      }
    });
    words(context, `run ${head.shown + 1}, ${state.heat}`, left + 4, top + size * rows.length - 5, { size: 11, colour: "#c9d1d8" });
  }

  _goal(context, x, y, size, letter, reward) {
    const best = reward === Math.max(...Object.values(this.head.rewards));
    context.fillStyle = best ? colours.reached : colours.failed;
    context.beginPath();
    context.roundRect(x - size * 0.42, y - size * 0.42, size * 0.84, size * 0.84, size * 0.14);
    context.fill();
    words(context, letter, x, y - size * 0.08, { align: "center", base: "middle", size: size * 0.4, colour: colours.card, weight: 700 });
    words(context, short(reward), x, y + size * 0.26, { align: "center", base: "middle", size: Math.max(8, size * 0.22), colour: colours.card });
  }

  _arrows(context, x, y, size, policy, at) {
    let best = 0;
    for (let a = 1; a < 4; a++) if (policy[at + a] > policy[at + best]) best = a;
    for (let a = 0; a < 4; a++) {
      const p = policy[at + a];
      if (p < 0.03) continue;
      const [dx, dy] = MOVES[a], reach = size * 0.42 * Math.sqrt(p), wide = size * 0.09 * Math.sqrt(p) + 0.6;
      context.globalAlpha = a === best ? 0.9 : 0.45;
      context.fillStyle = colours.ink;
      context.beginPath();
      context.moveTo(x + dx * reach, y + dy * reach);
      context.lineTo(x - dy * wide, y + dx * wide);
      context.lineTo(x + dy * wide, y - dx * wide);
      context.closePath();
      context.fill();
    }
    context.globalAlpha = 1;
  }

  // -- drawing with the mouse ----------------------------------------------------------------------

  _draws() {
    let tool = null;
    const cell = (event) => {
      const box = this.canvas.getBoundingClientRect(), { left, top, size } = this.place;
      const c = Math.floor((event.clientX - box.left - left) / size);
      const r = Math.floor((event.clientY - box.top - top) / size);
      const rows = this.panel.experiment.problem.text.split("\n");
      return r >= 0 && c >= 0 && r < rows.length && c < rows[0].length ? [r, c, rows[r][c]] : null;
    };
    const apply = (event) => {
      const at = cell(event);
      if (!at) return;
      const names = state.target === "both" ? ["a", "b"] : [this.panel.name];
      if (!changed(structuredClone(this.panel.experiment.problem), at[0], at[1], tool)) return;
      this.page.edit((e) => { changed(e.problem, at[0], at[1], tool); }, names);
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      const at = this.place && cell(event);
      if (!at) return;
      // The pencil draws walls on floor, and wipes where it began on a wall.
      tool = state.tool === "wall" ? (at[2] === "#" ? "." : "#") : state.tool;
      this.canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
      apply(event);
    });
    this.canvas.addEventListener("pointermove", (event) => tool && apply(event));
    for (const name of ["pointerup", "pointercancel"]) {
      this.canvas.addEventListener(name, () => (tool = null));
    }
  }
}
