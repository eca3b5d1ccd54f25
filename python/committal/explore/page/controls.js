// The settings of a bandit, as sliders. Every one acts at once.

import { choices, make, select, slider } from "./elements.js";
import { parametersOf, softmax } from "./geometry.js";
import { baselineFrom, baselineOf, current, short, state } from "./state.js";

const BASELINES = [
  ["b*", "b* — least variance"], ["natural b*", "b* of the natural metric"], ["value", "V — value of the policy"],
  ["constant", "constant"], ["running_mean", "running mean"], ["maximum", "best mean"], ["formula", "a formula …"],
];

// What every kind of problem has; `page` is told of changes.
export function shared(page) {
  const parts = [];
  const add = (part) => (parts.push(part), part.element);
  const offset = slider("offset ε", { min: -1.5, max: 1.5, step: 0.01, title: "Added to the baseline: low ones commit, high ones doubt" },
    () => {
      const b = baselineOf(current());
      return b.kind === "formula" || b.kind === "other" ? null : b.offset;
    },
    (x) => {
      // Both move by as much, and stay as far apart as they are.
      const by = x - baselineOf(current()).offset;
      page.edit((e) => {
        const b = baselineOf(e);
        if (b.kind === "formula" || b.kind === "other") return;
        e.baseline = baselineFrom({ ...b, offset: Math.round((b.offset + by) * 1e4) / 1e4 });
      });
    });
  offset.bar.id = "epsilon";
  offset.element.querySelector("label").htmlFor = "epsilon";
  const text = make("input", {
    type: "text", id: "formula", spellcheck: false, autocomplete: "off", "aria-label": "Formula of the baseline",
    placeholder: "sum(pi * r) + 0.1",
    onchange: () => page.edit((e) => { e.baseline = { kind: "formula_baseline", formula: text.value }; }),
  });
  const formula = make("div", { className: "row formula" }, make("label", { htmlFor: "formula", text: "b(π, r, θ, t) =" }), text);
  const kind = select("baseline", BASELINES, () => baselineOf(current()).kind, (value) =>
    page.edit((e) => {
      const before = baselineOf(e);
      const given = value === "formula" ? { formula: before.formula ?? "sum(pi * r)" } : {};
      e.baseline = baselineFrom({ kind: value, offset: before.offset, ...given });
    }));
  parts.push({
    refresh() {
      const b = baselineOf(current());
      formula.hidden = b.kind !== "formula";
      if (b.kind === "formula" && document.activeElement !== text) text.value = b.formula;
    },
  });
  const step = slider("step size α", { min: 0.001, max: 2, log: true },
    () => (typeof current().update.step_size === "number" ? current().update.step_size : null),
    (x) => {
      const before = current().update.step_size;
      page.edit((e) => {
        const own = e.update.step_size;
        if (typeof own !== "number") return;
        e.update.step_size = own === before ? x : Number(((own * x) / before).toPrecision(3));
      });
    });
  const entropy = slider("entropy τ", { min: 0, max: 0.5, step: 0.005, title: "Entropy regularisation" },
    () => (["natural", "vanilla"].includes(current().update.kind) && typeof (current().update.entropy ?? 0) === "number" ? current().update.entropy ?? 0 : null),
    (x) => page.edit((e) => { e.update.entropy = x; }));
  return { add, parts, offset, kind, formula, step, entropy };
}

export function group(title, ...rows) {
  return make("fieldset", {}, make("legend", { text: title }), ...rows);
}

export function banditControls(page) {
  const s = shared(page), { add, parts } = s;
  const update = select("update", [["natural", "natural"], ["vanilla", "vanilla"], ["projected", "projected"]],
    () => current().update.kind, (value) => page.edit((e) => setUpdate(e, value)));
  const samples = slider("samples", { min: 1, max: 64, step: 1, whole: true },
    () => ((current().estimator?.kind ?? "one_sample") === "one_sample" ? current().estimator?.samples ?? 1 : null),
    (x) => page.edit((e) => { e.estimator = { ...e.estimator, kind: "one_sample", samples: x }; }));
  const optimiser = select("optimiser", [["plain", "plain"], ["momentum", "momentum"], ["adam", "Adam"]],
    () => current().optimiser?.kind ?? "plain",
    (value) => page.edit((e) => {
      if (value === "plain") delete e.optimiser;
      else e.optimiser = value === "momentum" ? { kind: value, beta: 0.9 } : { kind: value };
    }));
  const behaviour = select("draws from", [["on_policy", "the policy"], ["uniform_mixture", "policy + uniform"], ["epsilon_greedy", "ε-greedy"]],
    () => current().behaviour?.kind ?? "on_policy",
    (value) => page.edit((e) => {
      e.behaviour = { on_policy: { kind: value }, uniform_mixture: { kind: value, gamma: 0.1 }, epsilon_greedy: { kind: value, epsilon: 0.1 } }[value];
    }));
  const rateName = { uniform_mixture: "gamma", epsilon_greedy: "epsilon" };
  const exploring = slider("exploration", { min: 0.01, max: 1, step: 0.01 },
    () => {
      const name = rateName[current().behaviour?.kind];
      return name && typeof current().behaviour[name] === "number" ? current().behaviour[name] : null;
    },
    (x) => page.edit((e) => { e.behaviour = { ...e.behaviour, [rateName[e.behaviour.kind]]: x }; }));

  const noise = select("rewards are", [["none", "certain"], ["bernoulli", "0 or 1"], ["gaussian", "normal"], ["uniform", "uniform"]],
    () => current().problem.noise ?? "none", (value) => page.edit((e) => setNoise(e, value)));
  const noiseName = { gaussian: "sigma", uniform: "half_width" };
  const spread = slider("spread", { min: 0, max: 2, step: 0.01 },
    () => {
      const p = current().problem, name = noiseName[p.noise];
      return name && typeof p[name] === "number" ? p[name] : null;
    },
    (x) => page.edit((e) => { e.problem[noiseName[e.problem.noise]] = x; }));

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
  const mean = slider(`reward of arm ${k + 1}`, { min: -1, max: 1.5, step: 0.01 },
    () => current().problem.means[k], (x) => page.edit((e) => { e.problem.means[k] = x; }));
  const theta = slider(`start of arm ${k + 1}`, { min: -6, max: 6, step: 0.05 },
    () => startOf(current())[k], (x) => page.edit((e) => setTheta(e, k, x)));
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
  const length = slider(steps, { min: 10, max: most, log: true, whole: true }, () => current().steps, (x) => page.edit((e) => { e.steps = x; }));
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
  e.problem = { kind: "bandit", means };
  if (kind !== "none") e.problem.noise = kind;
  if (kind === "bernoulli") e.problem.means = means.map((m) => Math.min(1, Math.max(0, m)));
  if (kind === "gaussian") e.problem.sigma = 0.5;
  if (kind === "uniform") e.problem.half_width = 0.5;
}

function resize(e, by) {
  const means = [...e.problem.means], theta = [...startOf(e)];
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
