// The settings of a bandit, as sliders. Every one acts at once.

import { choices, make, slider } from "./elements.js";
import { parametersOf, softmax } from "./geometry.js";
import { chosen, otherBy, tuned } from "./settings.js";
import { baselineFrom, baselineOf, current, short, state } from "./state.js";

const BASELINES = [
  ["b*", "b* — least variance"], ["natural b*", "b* of the natural metric"], ["value", "V — value of the policy"],
  ["constant", "constant"], ["running_mean", "running mean"], ["maximum", "best mean"], ["formula", "a formula …"],
];

// What every kind of problem has; `page` is told of changes.
export function shared(page) {
  const parts = [];
  const add = (part) => (parts.push(part), part.element);
  const offset = tuned(page, "offset ε", { min: -1.5, max: 1.5, step: 0.01, title: "Added to the baseline: low ones commit, high ones doubt" },
    (e) => {
      const b = baselineOf(e);
      return b.kind === "formula" || b.kind === "other" ? null : b.offset;
    },
    (e, x) => { e.baseline = baselineFrom({ ...baselineOf(e), offset: x }); });
  offset.bar.id = "epsilon";
  offset.element.querySelector("label").htmlFor = "epsilon";
  const text = make("input", {
    type: "text", id: "formula", spellcheck: false, autocomplete: "off", "aria-label": "Formula of the baseline",
    placeholder: "sum(pi * r) + 0.1",
    onchange: () => page.edit((e) => { e.baseline = { kind: "formula_baseline", formula: text.value }; }),
  });
  const aside = make("span", { className: "other" });
  const formula = make("div", { className: "row formula" }, make("label", { htmlFor: "formula", text: "b(π, r, θ, t) =" }), text, aside);
  const kind = chosen(page, "baseline", BASELINES, (e) => baselineOf(e).kind, (e, value) => {
    const before = baselineOf(e);
    const given = value === "formula" ? { formula: before.formula ?? "sum(pi * r)" } : {};
    e.baseline = baselineFrom({ kind: value, offset: before.offset, ...given });
  });
  parts.push({
    refresh() {
      const b = baselineOf(current());
      formula.hidden = b.kind !== "formula";
      if (b.kind === "formula" && document.activeElement !== text) text.value = b.formula;
      const other = otherBy((e) => baselineOf(e).formula)();
      aside.textContent = other === undefined ? "" : `B: ${other}`;
    },
  });
  const step = tuned(page, "step size α", { min: 0.001, max: 2, log: true },
    ({ update }) => (typeof update.step_size === "number" ? update.step_size : null),
    (e, x) => { e.update.step_size = x; });
  const entropy = tuned(page, "entropy τ", { min: 0, max: 0.5, step: 0.005, bounds: [0, Infinity], title: "Entropy regularisation" },
    ({ update }) => (["natural", "vanilla"].includes(update.kind) && typeof (update.entropy ?? 0) === "number" ? update.entropy ?? 0 : null),
    (e, x) => { e.update.entropy = x; });
  return { add, parts, offset, kind, formula, step, entropy };
}

export function group(title, ...rows) {
  return make("fieldset", {}, make("legend", { text: title }), ...rows);
}

export function banditControls(page) {
  const s = shared(page), { add, parts } = s;
  const update = chosen(page, "update", [["natural", "natural"], ["vanilla", "vanilla"], ["projected", "projected"]],
    (e) => e.update.kind, setUpdate);
  const samples = tuned(page, "samples", { min: 1, max: 64, step: 1, whole: true, bounds: [1, 1000] },
    ({ estimator }) => ((estimator?.kind ?? "one_sample") === "one_sample" ? estimator?.samples ?? 1 : null),
    (e, x) => { e.estimator = { ...e.estimator, kind: "one_sample", samples: x }; });
  const optimiser = chosen(page, "optimiser", [["plain", "plain"], ["momentum", "momentum"], ["adam", "Adam"]],
    (e) => e.optimiser?.kind ?? "plain",
    (e, value) => {
      if (value === "plain") delete e.optimiser;
      else e.optimiser = value === "momentum" ? { kind: value, beta: 0.9 } : { kind: value };
    });
  const behaviour = chosen(page, "draws from", [["on_policy", "the policy"], ["uniform_mixture", "policy + uniform"], ["epsilon_greedy", "ε-greedy"]],
    (e) => e.behaviour?.kind ?? "on_policy",
    (e, value) => {
      e.behaviour = { on_policy: { kind: value }, uniform_mixture: { kind: value, gamma: 0.1 }, epsilon_greedy: { kind: value, epsilon: 0.1 } }[value];
    });
  const rateName = { uniform_mixture: "gamma", epsilon_greedy: "epsilon" };
  const exploring = tuned(page, "exploration", { min: 0.01, max: 1, step: 0.01, bounds: [0.01, 1] },
    ({ behaviour: b }) => {
      const name = rateName[b?.kind];
      return name && typeof b[name] === "number" ? b[name] : null;
    },
    (e, x) => { e.behaviour = { ...e.behaviour, [rateName[e.behaviour.kind]]: x }; });

  const noise = chosen(page, "rewards are", [["none", "certain"], ["bernoulli", "0 or 1"], ["gaussian", "normal"], ["uniform", "uniform"]],
    (e) => e.problem.noise ?? "none", setNoise);
  const noiseName = { gaussian: "sigma", uniform: "half_width" };
  const spread = tuned(page, "spread", { min: 0, max: 2, step: 0.01, bounds: [0, Infinity] },
    ({ problem: p }) => {
      const name = noiseName[p.noise];
      return name && typeof p[name] === "number" ? p[name] : null;
    },
    (e, x) => { e.problem[noiseName[e.problem.noise]] = x; });

  const arms = make("div", { className: "arms" });
  let rows = [];
  const rebuild = () => {
    const p = current().problem, count = p.means?.length ?? 0;
    if (rows.length === count) return;
    rows = Array.from({ length: count }, (_, k) => armRow(k, page));
    arms.replaceChildren(...rows.map((row) => row.element));
  };
  parts.push({ refresh() { rebuild(); rows.forEach((row) => row.refresh()); less.disabled = rows.length <= 2; more.disabled = rows.length >= 5 || !rows.length; } });
  const less = make("button", { type: "button", text: "− arm", onclick: () => page.edit((e) => resize(e, -1)) });
  const more = make("button", { type: "button", text: "+ arm", onclick: () => page.edit((e) => resize(e, 1)) });
  rebuild();

  const element = make("div", {},
    group("Baseline", add(s.kind), add(s.offset), s.formula),
    group("Learning", add(update), add(s.step), add(samples), add(s.entropy), add(optimiser), add(behaviour), add(exploring)),
    group("Arms", make("div", { className: "arm-heads" }, make("span", { text: "mean reward" }), make("span", { text: "start θ₀" })),
      arms, make("div", { className: "buttons" }, less, more), add(noise), add(spread)),
    runControls(page, add, { steps: "updates", most: 20000 }),
    lookControls(page, parts));
  return { element, refresh: () => parts.forEach((part) => part.refresh()) };
}

function armRow(k, page) {
  const mean = tuned(page, `reward of arm ${k + 1}`, { min: -1, max: 1.5, step: 0.01 },
    (e) => e.problem.means?.[k], (e, x) => { e.problem.means[k] = x; });
  const theta = tuned(page, `start of arm ${k + 1}`, { min: -6, max: 6, step: 0.05 },
    (e) => startOf(e)[k], (e, x) => setTheta(e, k, x));
  const share = make("span", { className: "share" });
  const element = make("div", { className: "arm" }, make("span", { className: "arm-name", text: `arm ${k + 1}` }), mean.element, theta.element, share);
  const refresh = () => {
    mean.refresh();
    theta.refresh();
    share.textContent = `π = ${short(policyOf(current())[k] ?? 0, 2)}`;
  };
  refresh();
  return { element, refresh };
}

export function runControls(page, add, { steps, most }) {
  const length = tuned(page, steps, { min: 10, max: most, log: true, whole: true, bounds: [1, 1e5] }, (e) => e.steps, (e, x) => { e.steps = x; });
  const runs = slider("runs drawn", { min: 10, max: 1000, log: true, whole: true }, () => state.runs, (x) => page.set("runs", x));
  const below = slider("fails below", { min: -1, max: 1.5, step: 0.01, title: "A run fails if its value ends below this" }, () => state.below, (x) => page.set("below", x));
  const seed = slider("seed", { min: 0, max: 99, step: 1, whole: true }, () => state.seed, (x) => page.set("seed", x));
  return group("Runs", add(length), add(runs), add(below), add(seed));
}

function lookControls(page, parts) {
  const colour = make("div", { className: "choices" }), under = make("div", { className: "choices" });
  parts.push({ refresh: choices(colour, [["fate", "fate"], ["time", "time"]], () => state.colour, (v) => page.look("colour", v)) });
  parts.push({ refresh: choices(under, [["none", "nothing"], ["ends", "ends"], ["variance", "variance"]], () => state.under, (v) => page.set("under", v)) });
  const path = make("input", { type: "checkbox", id: "path", onchange: () => page.set("path", path.checked) });
  parts.push({ refresh() { path.checked = state.path; } });
  return group("Look",
    make("div", { className: "row wide" }, make("span", { className: "label", text: "colour by" }), colour),
    make("div", { className: "row wide" }, make("span", { className: "label", text: "map of" }), under),
    make("div", { className: "row wide" }, make("label", { htmlFor: "path", text: "true gradient" }), path));
}

// -- changes of an experiment ----------------------------------------------------------------------

function armsOf(e) {
  return e.problem.means?.length ?? e.problem.table?.length ?? 0;
}

export function startOf(e) {
  const { kind, theta0, probabilities } = e.policy;
  if (kind === "sigmoid") return [theta0 ?? 0, 0];
  if (kind === "direct") return parametersOf(probabilities ?? new Array(armsOf(e)).fill(1 / armsOf(e)));
  return theta0 ?? new Array(armsOf(e)).fill(0);
}

export function policyOf(e) {
  if (e.policy.kind === "direct" && e.policy.probabilities) return e.policy.probabilities;
  return softmax(startOf(e));
}

function setTheta(e, k, x) {
  const theta = [...startOf(e)];
  theta[k] = x;
  setStart(e, theta);
}

function setStart(e, theta) {
  if (e.policy.kind === "sigmoid") {
    const x = Math.round((theta[0] - theta[1]) * 100) / 100;
    e.policy = { kind: "sigmoid", theta0: x };
  } else if (e.policy.kind === "direct") {
    const p = softmax(theta).map((v) => Math.round(v * 1000) / 1000);
    p[p.length - 1] = Math.round((1 - p.slice(0, -1).reduce((a, b) => a + b, 0)) * 1000) / 1000;
    e.policy = { kind: "direct", probabilities: p };
  } else e.policy = { ...e.policy, theta0: theta };
}

function setUpdate(e, kind) {
  const theta = startOf(e);
  e.update = { kind, step_size: e.update.step_size ?? 0.1 };
  const direct = e.policy.kind === "direct";
  if ((kind === "projected") === direct) return;
  e.policy = { kind: direct ? "softmax" : "direct" };
  setStart(e, theta);
}

function setNoise(e, kind) {
  const means = e.problem.means;
  if (!means) return;
  e.problem = { kind: "bandit", means };
  if (kind !== "none") e.problem.noise = kind;
  if (kind === "bernoulli") e.problem.means = means.map((m) => Math.min(1, Math.max(0, m)));
  if (kind === "gaussian") e.problem.sigma = 0.5;
  if (kind === "uniform") e.problem.half_width = 0.5;
}

function resize(e, by) {
  const means = [...(e.problem.means ?? [])], theta = [...startOf(e)];
  if (!means.length || means.length + by < 2 || means.length + by > 5) return;
  if (by < 0) [means, theta].forEach((list) => list.pop());
  else {
    means.push(0.3);
    theta.push(0);
  }
  e.problem = { ...e.problem, means };
  delete e.problem.names;
  if (e.policy.kind === "sigmoid") e.policy = { kind: "softmax" };
  setStart(e, theta);
}
