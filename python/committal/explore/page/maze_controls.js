// The settings of a gridworld.

import { group, runControls, shared } from "./controls.js";
import { choices, make, select, slider } from "./elements.js";
import { LETTERS, cleared, resized } from "./map.js";
import { chosen, tuned } from "./settings.js";
import { state } from "./state.js";

export function mazeControls(page) {
  const s = shared(page), { add, parts } = s;
  const tools = make("div", { className: "choices tools", role: "group", "aria-label": "Pencil" });
  parts.push({
    refresh: choices(tools, [
      ["wall", "wall", "Draw walls, or wipe them where you begin on one"], ["start", "start"],
      ...LETTERS.map((letter) => [letter, letter, `The goal ${letter}`]),
    ], () => state.tool, (tool) => { state.tool = tool; page.controls.refresh(); }),
  });
  const button = (text, change) => make("button", {
    type: "button", text, onclick: () => page.edit((e) => { change(e.problem); }),
  });
  const goals = LETTERS.map((letter) =>
    add(tuned(page, `goal ${letter}`, { min: -1, max: 2, step: 0.05 },
      (e) => e.problem.goals?.[letter] ?? null, (e, x) => { e.problem.goals[letter] = x; })));
  const number = (label, key, fallback, options) =>
    add(tuned(page, label, options, (e) => e.problem[key] ?? fallback, (e, x) => { e.problem[key] = x; }));
  const estimator = chosen(page, "estimator", [["exact_q", "exact Q on the way"], ["reinforce", "REINFORCE"], ["expected", "the true gradient"]],
    (e) => e.estimator?.kind ?? "exact_q", (e, kind) => { e.estimator = { kind }; });
  const update = chosen(page, "update", [["natural", "natural"], ["vanilla", "vanilla"]],
    (e) => e.update.kind, (e, kind) => { e.update = { ...e.update, kind }; });
  const shown = slider("shown run", { min: 1, max: 30, step: 1, whole: true },
    () => state.shown + 1, (x) => page.set("shown", Math.min(Math.max(1, x), state.runs) - 1));
  const heat = make("div", { className: "choices" });
  parts.push({ refresh: choices(heat, [["values", "values"], ["visits", "visits"]], () => state.heat, (v) => page.look("heat", v)) });
  const curve = select("curves of", [["return", "returns"], ["value", "values"], ["action_entropy", "entropy of actions"], ["state_entropy", "entropy of visits"]],
    () => state.curve, (v) => page.look("curve", v));
  const element = make("div", {},
    group("Map", tools,
      make("p", { className: "hint", text: "Draw on the map, with the mouse or a finger." }),
      ...goals,
      make("div", { className: "buttons" },
        button("+ row", (p) => resized(p, 1, 0)), button("− row", (p) => resized(p, -1, 0)),
        button("+ column", (p) => resized(p, 0, 1)), button("− column", (p) => resized(p, 0, -1)),
        button("no walls", cleared)),
      number("discount γ", "gamma", 0.99, { min: 0.5, max: 0.999, step: 0.001, bounds: [0, 0.9999] }),
      number("slip", "slip", 0, { min: 0, max: 0.9, step: 0.01, bounds: [0, 0.99] }),
      number("step reward", "step_reward", 0, { min: -0.2, max: 0.1, step: 0.005 }),
      number("moves", "limit", 100, { min: 10, max: 500, log: true, whole: true, bounds: [1, 1000] })),
    group("Baseline", add(s.kind), add(s.offset), s.formula),
    group("Learning", add(update), add(s.step), add(estimator), add(s.entropy)),
    runControls(page, add, { steps: "episodes", most: 10000 }),
    group("Look", add(shown),
      make("div", { className: "row wide" }, make("span", { className: "label", text: "colour of" }), heat), add(curve)));
  return { element, refresh: () => parts.forEach((part) => part.refresh()) };
}
