// One panel: an experiment, its pictures, and the requests that make them.

import { make } from "./elements.js";
import { drawCurves, meanOver } from "./curves.js";
import { parametersOf } from "./geometry.js";
import { MazeView } from "./maze.js";
import { drawRate, intervalWords, percent, rateWords } from "./rate.js";
import { lines, packet } from "./server.js";
import { Simplex } from "./simplex.js";
import { isMaze, short, state, title } from "./state.js";

const COUNT_AFTER = 250; // milliseconds without a change, before a million runs are counted
const ANSWER_AFTER = 500;
const IMPATIENT = 150; // a picture that takes longer is given up for a newer one
const ASK_AGAIN = 100;
const SURE = 0.9; // of an arm: the run has settled there

export class Panel {
  constructor(name, page) {
    this.name = name;
    this.page = page;
    this.number = 0;
    this.head = null;
    this.history = [];
    this.exact = null;
    this._build();
    this.simplex = new Simplex(this.simplexCanvas, (policy) => this._moveStart(policy));
    this.maze = new MazeView(this, page);
  }

  _build() {
    const canvas = (className, label) =>
      make("canvas", { className, role: "img", "aria-label": label });
    this.simplexCanvas = canvas("simplex", "Runs on the simplex");
    this.simplexCanvas.dataset.testid = "simplex";
    this.curvesCanvas = canvas("curves", "Learning curves");
    this.rateCanvas = canvas("rate", "Failure rate by number of runs");
    this.mazeBox = make("div", { className: "maze-box" });
    this.title = make("h2");
    this.cases = make("div", { className: "cases" });
    this.legend = make("p", { className: "legend" });
    this.big = make("output", { className: "big", text: "…" });
    this.small = make("output", { className: "small" });
    this.exactLine = make("p", { className: "exact" });
    this.note = make("p", { className: "note" });
    this.error = make("p", { className: "error", role: "alert", hidden: true });
    this.element = make("article", { className: "panel" },
      make("header", {}, make("span", { className: "badge", text: this.name.toUpperCase() }), this.title),
      this.cases, this.error,
      this.simplexCanvas, this.mazeBox, this.legend, this.curvesCanvas,
      make("div", { className: "rate-box" },
        make("div", { className: "numbers" },
          make("p", { className: "what", text: "runs that fail" }), this.big, this.small, this.exactLine),
        this.rateCanvas),
      this.note);
    this.element.dataset.panel = this.name;
  }

  get experiment() {
    return state.panels[this.name];
  }

  get times() {
    return this.head?.times ?? [0, 1];
  }

  // -- requests ------------------------------------------------------------------------------------

  // Something has changed at time `since`: make a new picture, the newest setting wins.
  change(since = performance.now()) {
    this.number += 1;
    this.since = since;
    this.element.dataset.wanted = String(this.number);
    delete this.element.dataset.counted;
    this.title.textContent = state.labels[this.name] ?? title(this.experiment);
    clearTimeout(this._later);
    this._counting?.abort();
    this._asking?.abort();
    if (!this._busy) {
      this._picture();
      return;
    }
    this._again = true;
    clearTimeout(this._impatience);
    const waited = performance.now() - this._sent;
    this._impatience = setTimeout(() => this._drawing?.abort(), Math.max(0, IMPATIENT - waited));
  }

  // It is not seen any more: whatever is on its way for it is given up.
  stop() {
    this.number += 1;
    this._again = false;
    for (const timer of [this._later, this._impatience]) clearTimeout(timer);
    for (const work of [this._drawing, this._counting, this._asking]) work?.abort();
  }

  async _picture() {
    this._busy = true;
    this._again = false;
    this._drawing = new AbortController();
    const sent = (this._sent = performance.now());
    const number = this.number, since = this.since;
    try {
      const head = await packet("picture", this._request({ runs: state.runs, shown: state.shown }), this._drawing.signal);
      this._receive(head, number, since, sent);
    } catch (error) {
      this._failed(error, number);
      // Nobody asked for another: whatever has ended it, the setting still wants its picture.
      if (error.superseded && number === this.number) this._later = setTimeout(() => this.change(since), ASK_AGAIN);
    }
    clearTimeout(this._impatience); // it was for this picture, not for the next one
    this._busy = false;
    if (this._again) this._picture();
  }

  _request(more) {
    return {
      panel: this.name, number: this.number, experiment: this.experiment,
      seed: state.seed, below: state.below, ...more,
    };
  }

  _failed(error, number) {
    if (error.name === "AbortError" || error.superseded) return;
    if (number !== this.number) return;
    this.error.textContent = error.facts ? error.message : `The server does not answer (${error.message}).`;
    this.error.hidden = false;
    this.element.classList.add("stale");
    this.element.dataset.ready = String(number);
  }

  _receive(head, number, since, sent) {
    const read = performance.now();
    this.error.hidden = true;
    this.element.classList.remove("stale");
    this.head = head;
    this.history = [];
    this.exact = null;
    this.counted = null;
    this.exactLine.textContent = "";
    const maze = head.mode === "gridworld";
    this.element.classList.toggle("maze", maze);
    if (maze) this.maze.show(head);
    else this._bandit(head);
    this._first();
    this.page.received(this);
    const made = performance.now();
    this.draw();
    const drawn = performance.now();
    // A message that is sent while a frame is made arrives after that frame was painted.
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        const now = performance.now();
        this.element.dataset.latency = (now - since).toFixed(1);
        // Where the time went: see tests/explore/latency.py.
        const parts = {
          waited: sent - since, server: 1000 * head.seconds, way: head.came - sent - 1000 * head.seconds,
          read: read - head.came, made: made - read, drawn: drawn - made, painted: now - drawn,
        };
        this.element.dataset.parts = JSON.stringify(parts);
        this.element.dataset.ready = String(number);
      };
      channel.port2.postMessage(0);
    });
    if (number !== this.number) return;
    this._later = setTimeout(() => {
      this._count(number);
      this._later = setTimeout(() => this._answers(number), ANSWER_AFTER);
    }, COUNT_AFTER);
  }

  async _count(number) {
    this._counting = new AbortController();
    try {
      for await (const known of lines("count", this._request({ runs: 1_000_000 }), this._counting.signal)) {
        if (number !== this.number) return;
        this.history.push(known);
        this.counted = known;
        this._rate(known);
        this.page.frame();
      }
    } catch (error) {
      this._failed(error, number);
    }
  }

  async _answers(number) {
    if (this.head?.mode !== "bandit") return;
    this._asking = new AbortController();
    const signal = this._asking.signal;
    const ask = (what) => packet("answer", this._request({ what }), signal);
    if (state.under !== "none") {
      this.note.textContent = "computing the map …";
      try {
        const map = await ask(state.under);
        if (number !== this.number) return;
        this.map = map;
        this.page.maps();
      } catch (error) {
        if (number !== this.number || error.name === "AbortError" || error.superseded) return;
        this.note.textContent = `no map: ${error.message}`;
      }
    }
    this.exactLine.textContent = "exact: …";
    try {
      const exact = await ask("probability");
      if (number !== this.number) return;
      this.exact = exact;
      this.exactLine.textContent = `exact, t → ∞: ${exactWords(exact)}`;
      this.exactLine.title = "The probability that a run ends on a suboptimal arm, without sampling";
      this.page.frame();
    } catch (error) {
      if (number !== this.number || error.name === "AbortError" || error.superseded) return;
      this.exactLine.textContent = "no exact answer";
      this.exactLine.title = error.message;
    }
  }

  // -- what arrived --------------------------------------------------------------------------------

  _bandit(head) {
    const { policy } = head.arrays, [runs, times, arms] = policy.shape;
    const values = new Float32Array(runs * times);
    for (let i = 0, j = 0; i < values.length; i++) {
      let v = 0;
      for (let k = 0; k < arms; k++, j++) v += policy[j] * head.means[k];
      values[i] = v;
    }
    const fates = { of: new Array(runs), reached: 0, failed: 0, moving: 0 };
    for (let run = 0; run < runs; run++) {
      const end = (run + 1) * times - 1;
      let sure = 0;
      for (let k = 0; k < arms; k++) sure = Math.max(sure, policy[end * arms + k]);
      const fate = values[end] >= head.below ? "reached" : sure > SURE ? "failed" : "moving";
      fates.of[run] = fate;
      fates[fate] += 1;
    }
    this.fates = fates;
    const path = head.arrays.path;
    this.series = {
      times: head.times, runs, values, fates, below: head.below, label: "value",
      low: Math.min(...head.means), high: Math.max(...head.means),
      mean: meanOver(values, runs, times),
      path: path && state.path
        ? head.times.map((_, i) => head.means.reduce((v, m, k) => v + m * path[i * arms + k], 0)) : null,
    };
    this.map = null;
    this.simplex.setMap(null);
    this.simplex.show(head, fates);
    this._legend();
    this.note.textContent = head.no_path ? `no path of the true gradient: ${head.no_path}` : "";
  }

  _legend() {
    const { fates, head } = this;
    const share = (name, text) => make("span", { className: name, text: `${fates[name]} ${text}` });
    this.legend.replaceChildren(
      share("reached", "end well"), share("failed", "stuck"), share("moving", "not finished"));
    if (state.colour === "time") this.legend.prepend(make("span", { className: "time", text: "from first to last" }));
    if (head.arrays.path) this.legend.append(make("span", { className: "path", text: "true gradient" }));
  }

  showMap(low, high) {
    this.simplex.setMap(this.map, low, high);
    this.note.textContent = mapWords(this.map, low, high);
  }

  // What the drawn runs say already, until more are counted.
  _first() {
    const fates = this.fates;
    this.small.textContent = "counting …";
    if (this.head.mode !== "bandit") {
      this.big.textContent = "…";
      return;
    }
    const failed = fates.failed + fates.moving;
    this.big.textContent = `${failed} of ${fates.of.length}`;
  }

  _rate(known) {
    this.big.textContent = rateWords(known);
    this.small.textContent = intervalWords(known);
    this.element.dataset.counted = String(known.runs);
    this.small.title = `95 % (Wilson); valid however long one watches: [${percent(known.always_low)}, ${percent(known.always_high)}]`;
  }

  // Forget what was drawn: colours have changed.
  redraw() {
    if (this.head?.mode === "bandit") this._legend();
    this.simplex.drawn = this.maze.goals.drawn = -1;
  }

  // -- drawing -------------------------------------------------------------------------------------

  draw() {
    if (!this.head) return;
    const clock = Math.min(this.page.clock(this), this.times.length - 1);
    if (this.head.mode === "gridworld") this.maze.draw(clock);
    else {
      this.simplex.draw(clock);
      drawCurves(this.curvesCanvas, this.series, clock, this.counted);
    }
    drawRate(this.rateCanvas, this.history, this.exact);
  }

  _moveStart(policy) {
    const policyPart = this.experiment.policy;
    const kind = policyPart.kind;
    this.page.edit((experiment) => {
      if (isMaze(experiment)) return;
      const theta = parametersOf(policy);
      if (kind === "direct") experiment.policy = { kind, probabilities: normal(policy) };
      else if (kind === "sigmoid") experiment.policy = { kind, theta0: round(theta[0] - theta[1]) };
      else experiment.policy = { ...experiment.policy, theta0: theta };
    }, state.target === "both" ? ["a", "b"] : [this.name]);
  }
}

function round(x) {
  return Math.round(x * 100) / 100;
}

function normal(policy) {
  const kept = policy.map((p) => Math.round(p * 1000) / 1000);
  kept[kept.length - 1] = Math.round((1 - kept.slice(0, -1).reduce((a, b) => a + b, 0)) * 1000) / 1000;
  return kept;
}

function exactWords({ probability, uncertainty }) {
  if (probability < uncertainty) return `< ${percent(probability + uncertainty)}`;
  if (uncertainty < 5e-6) return percent(probability);
  const digits = Math.max(0, -Math.floor(Math.log10(100 * uncertainty)));
  return `${(100 * probability).toFixed(digits)} ± ${(100 * uncertainty).toFixed(digits)} %`;
}

function mapWords(map, low, high) {
  if (map.log) {
    return `under the runs: variance of the gradient estimate, from ${short(10 ** low, 2)} to ${short(10 ** high, 2)} (orange)`;
  }
  return "under the runs: probability of ending on a suboptimal arm, from 0 to 1 (orange)";
}
