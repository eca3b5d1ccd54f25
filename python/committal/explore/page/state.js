// What the page shows: two experiments, how they are looked at, and the address that carries both.
// An experiment is the dictionary that committal.Experiment.to_dict() writes; the server reads it.

export const FIGURE_1 = {
  problem: { kind: "bandit", means: [1, 0.7, 0] },
  policy: { kind: "softmax", theta0: [0, 3, 5] },
  update: { kind: "natural", step_size: 0.025 },
  baseline: around({ kind: "min_variance", metric: "gradient" }, -0.5),
  steps: 1000,
};

export const ROOMS = {
  problem: {
    kind: "gridworld",
    text: [
      "##########", "#S...#...#", "#....#...#", "#........#", "#....#..A#",
      "##.####.##", "#....#...#", "#........#", "#...B#..C#", "##########",
    ].join("\n"),
    goals: { A: 0.6, B: 0.3, C: 1 },
  },
  policy: { kind: "softmax" },
  update: { kind: "natural", step_size: 0.1 },
  estimator: { kind: "exact_q" },
  baseline: around({ kind: "min_variance", metric: "gradient" }, -0.5),
  steps: 1000,
};

const BEGINNING = {
  panels: { a: null, b: null },
  two: true,
  target: "both",
  seed: 0,
  runs: 200,
  below: 0.9,
  colour: "fate",
  under: "none",
  path: true,
  shown: 0,
  heat: "values",
  curve: "return",
  tool: "wall",
  labels: {},
};

export const state = structuredClone(BEGINNING);

export function clone(x) {
  return structuredClone(x);
}

export function isMaze(experiment) {
  return experiment.problem.kind === "gridworld";
}

export function mode() {
  return isMaze(state.panels.a) ? "gridworld" : "bandit";
}

export function shownPanels() {
  return state.two ? ["a", "b"] : ["a"];
}

export function targets() {
  if (!state.two) return ["a"];
  return state.target === "both" ? ["a", "b"] : [state.target];
}

// The panel whose settings the controls show.
export function current() {
  return state.panels[targets()[0]];
}

// -- baselines -------------------------------------------------------------------------------------

export function around(part, offset) {
  return { kind: "linear", terms: [[1, part]], offset };
}

// A baseline as the controls know it: which one, and how far from it.
export function baselineOf(experiment) {
  const b = experiment.baseline ?? { kind: "constant", c: 0 };
  if (typeof b === "number") return { kind: "constant", offset: b };
  if (b.kind === "constant") return { kind: "constant", offset: b.c };
  if (b.kind === "formula_baseline") return { kind: "formula", offset: 0, formula: b.formula };
  let part = b, offset = 0;
  if (b.kind === "linear") {
    if (b.terms.length !== 1 || b.terms[0][0] !== 1) return { kind: "other", offset: b.offset };
    [part, offset] = [b.terms[0][1], b.offset];
  }
  if (part.kind === "formula_baseline") return { kind: "other", offset };
  if (part.kind === "min_variance") {
    return { kind: part.metric === "natural" ? "natural b*" : "b*", offset };
  }
  return { kind: ["value", "running_mean", "maximum"].includes(part.kind) ? part.kind : "other", offset };
}

export function baselineFrom({ kind, offset, formula }) {
  if (kind === "constant") return { kind: "constant", c: offset };
  if (kind === "formula") return { kind: "formula_baseline", formula };
  const parts = {
    "b*": { kind: "min_variance", metric: "gradient" },
    "natural b*": { kind: "min_variance", metric: "natural" },
  };
  return around(parts[kind] ?? { kind }, offset);
}

// -- words -----------------------------------------------------------------------------------------

export function short(x, digits = 3) {
  if (!Number.isFinite(x)) return String(x);
  const text = String(Number(x.toPrecision(digits)));
  return text.replace("-", "−");
}

function signed(x) {
  return x === 0 ? "" : x > 0 ? ` + ${short(x)}` : ` − ${short(-x)}`;
}

export function baselineWords(experiment) {
  const b = baselineOf(experiment);
  const names = {
    "b*": "b*", "natural b*": "b* (natural)", value: "V", running_mean: "running mean",
    maximum: "max r",
  };
  if (b.kind === "constant") return `b = ${short(b.offset)}`;
  if (b.kind === "formula") return `b = ${b.formula}`;
  return (names[b.kind] ?? "other baseline") + signed(b.offset);
}

export function title(experiment) {
  const step = experiment.update.step_size;
  const parts = [baselineWords(experiment), experiment.update.kind ?? "formula"];
  if (typeof step === "number") parts.push(`α = ${short(step)}`);
  const behaviour = experiment.behaviour?.kind;
  if (behaviour && behaviour !== "on_policy") parts.push(behaviour.replace("_", " "));
  const optimiser = experiment.optimiser?.kind;
  if (optimiser && optimiser !== "plain") parts.push(optimiser);
  return parts.join(" · ");
}

// -- the address -----------------------------------------------------------------------------------

const CHOICES = {
  colour: ["fate", "time"], under: ["none", "ends", "variance"], heat: ["values", "visits"],
  target: ["a", "b", "both"],
  curve: ["return", "value", "action_entropy", "state_entropy"],
};

export function toFragment() {
  const given = { a: JSON.stringify(state.panels.a) };
  if (state.two) given.b = JSON.stringify(state.panels.b);
  given.seed = state.seed;
  given.below = state.below;
  given.runs = state.runs;
  if (!state.path) given.path = 0;
  if (mode() === "gridworld") {
    given.shown = state.shown;
    given.heat = state.heat;
    given.curve = state.curve;
  } else {
    given.colour = state.colour;
    given.under = state.under;
  }
  if (state.two) given.target = state.target;
  return Object.entries(given).map(([k, v]) => `${k}=${encodeURIComponent(v)}`).join("&");
}

// What is wrong in an address is left out; what is wrong in an experiment, the server says.
export function fromFragment(text) {
  Object.assign(state, structuredClone(BEGINNING));
  const given = new URLSearchParams(text.replace(/\+/g, "%2B"));
  const experiment = (name) => {
    try {
      return readable(JSON.parse(given.get(name)));
    } catch {
      return null;
    }
  };
  const number = (name, low, high, whole = true) => {
    const x = Number(given.get(name));
    if (given.get(name) !== null && Number.isFinite(x) && x >= low && x <= high) {
      state[name] = whole ? Math.round(x) : x;
    }
  };
  const [a, b] = [experiment("a"), experiment("b")];
  state.unread = !a && given.has("a");
  state.panels.a = a ?? clone(FIGURE_1);
  state.panels.b = b ?? (a ? clone(a) : clone(FIGURE_1));
  if (!a) state.panels.b.baseline = around({ kind: "min_variance", metric: "gradient" }, 0.5);
  state.two = !a || Boolean(b);
  if (b && isMaze(state.panels.a) !== isMaze(b)) state.two = false;
  if (mode() === "gridworld") {
    Object.assign(state, { runs: 30, below: 0.6 });
  } else if (a) {
    state.below = defaultBelow(state.panels.a);
  }
  number("seed", 0, 2 ** 32);
  number("below", -1e6, 1e6, false);
  number("runs", 1, 1000);
  number("shown", 0, 999);
  state.shown = Math.min(state.shown, state.runs - 1);
  if (given.get("path") === "0") state.path = false;
  for (const [name, allowed] of Object.entries(CHOICES)) {
    if (allowed.includes(given.get(name))) state[name] = given.get(name);
  }
}

// Whether sliders can be made for it; whether it can be run, the server says.
function readable(found) {
  const { problem, update } = found;
  const numbers = (list) => Array.isArray(list) && list.length && list.every(Number.isFinite);
  const drawable = problem.kind === "gridworld"
    ? typeof problem.text === "string" && problem.goals.constructor === Object
    : problem.kind === "bandit" && (numbers(problem.means) || Array.isArray(problem.table));
  if (!drawable || typeof update.kind !== "string") return null;
  found.policy ??= { kind: "softmax" };
  const start = found.policy.theta0 ?? found.policy.probabilities ?? 0;
  return Number.isFinite(start) || numbers(start) || isMaze(found) ? found : null;
}

// A third of the way from the best arm to the next one.
export function defaultBelow(experiment) {
  const { means: given, table } = experiment.problem;
  const means = [...(given ?? table.map((arm) => arm.reduce((m, [x, p]) => m + x * p, 0)))].sort((x, y) => y - x);
  const next = means.find((m) => m < means[0]) ?? means[0] - 1;
  return Math.round((means[0] - (means[0] - next) / 3) * 1000) / 1000;
}
