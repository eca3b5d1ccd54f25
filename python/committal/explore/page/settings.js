// Settings of an experiment, for one panel or for both at once. `read` and `write` know one
// experiment; what an experiment does not have is null, and stays so.
//
// With both panels nothing that differs is made equal unseen: the other value stands below, and a
// slider moves both, by the same amount or, on a scale of logarithms, by the same factor. Only a
// choice from a list, which has no amount, is the same for both once it is made.

import { select, slider } from "./elements.js";
import { current, state } from "./state.js";

// What the second panel has, where both are changed and it is something else.
export function otherBy(read) {
  return () => {
    if (!state.two || state.target !== "both") return undefined;
    const [a, b] = [read(state.panels.a), read(state.panels.b)];
    return a === b || b === null || b === undefined ? undefined : b;
  };
}

// `bounds`: what the setting may be, which is more than the slider has.
export function tuned(page, label, options, read, write) {
  const { log = false, whole = false, bounds = [-Infinity, Infinity] } = options;
  const moved = (own, before, x) => {
    if (own === before) return x;
    const far = log ? Number(((own * x) / before).toPrecision(3)) : Math.round((own + x - before) * 1e4) / 1e4;
    const kept = whole ? Math.round(far) : far;
    return Math.min(bounds[1], Math.max(bounds[0], kept));
  };
  return slider(label, options, () => read(current()), (x) => {
    const before = read(current());
    page.edit((e) => {
      const own = read(e);
      if (own !== null && own !== undefined) write(e, moved(own, before, x));
    });
  }, otherBy(read));
}

export function chosen(page, label, options, read, write) {
  return select(label, options, () => read(current()), (value) => page.edit((e) => write(e, value)), otherBy(read));
}
