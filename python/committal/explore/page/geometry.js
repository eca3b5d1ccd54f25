// Policies as points: a segment for two arms, a triangle for three, a regular polygon for more.

// The corners in a square of side 1, the first arm at the top. A triangle fills its width, as the
// maps of the server do.
export function corners(arms) {
  if (arms === 2) return [[1, 0.5], [0, 0.5]];
  if (arms === 3) return [[0.5, 0], [0, Math.sqrt(3) / 2], [1, Math.sqrt(3) / 2]];
  const found = [];
  for (let k = 0; k < arms; k++) {
    const angle = -Math.PI / 2 - (2 * Math.PI * k) / arms;
    found.push([0.5 + 0.5 * Math.cos(angle), 0.5 + 0.5 * Math.sin(angle)]);
  }
  return found;
}

export function height(arms) {
  return arms === 3 ? Math.sqrt(3) / 2 : 1;
}

export function pointOf(policy, where) {
  let x = 0, y = 0;
  for (let k = 0; k < where.length; k++) {
    x += policy[k] * where[k][0];
    y += policy[k] * where[k][1];
  }
  return [x, y];
}

const LEAST = 1e-4;

// The policy at a point: barycentric for three arms, Wachspress coordinates for more, which are
// smooth, positive inside and exact on the sides.
export function policyAt(x, y, where) {
  const arms = where.length;
  if (arms === 2) return inside([x, 1 - x]);
  const area = (a, b, c) =>
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  let p = [x, y];
  const turn = Math.sign(area(where[0], where[1], where[2]));
  // Pulled into the polygon, side by side, if it is outside.
  for (let round = 0; round < 2; round++) {
    for (let k = 0; k < arms; k++) {
      const a = where[k], b = where[(k + 1) % arms];
      const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
      const depth = (turn * area(a, b, p)) / length;
      if (depth < 1e-5) {
        const normal = [(-turn * (b[1] - a[1])) / length, (turn * (b[0] - a[0])) / length];
        p = [p[0] + (1e-5 - depth) * normal[0], p[1] + (1e-5 - depth) * normal[1]];
      }
    }
  }
  const weights = where.map((corner, k) => {
    const before = where[(k + arms - 1) % arms], after = where[(k + 1) % arms];
    const near = Math.max(Math.abs(area(p, before, corner)), 1e-9);
    const next = Math.max(Math.abs(area(p, corner, after)), 1e-9);
    return Math.abs(area(before, corner, after)) / (near * next);
  });
  const total = weights.reduce((a, b) => a + b, 0);
  return inside(weights.map((w) => w / total));
}

function inside(policy) {
  const kept = policy.map((p) => Math.min(1, Math.max(LEAST, p)));
  const total = kept.reduce((a, b) => a + b, 0);
  return kept.map((p) => p / total);
}

export function softmax(theta) {
  const top = Math.max(...theta);
  const weights = theta.map((t) => Math.exp(t - top));
  const total = weights.reduce((a, b) => a + b, 0);
  return weights.map((w) => w / total);
}

// Parameters of a policy, with the least one at 0, rounded for people.
export function parametersOf(policy) {
  const logs = policy.map(Math.log);
  const least = Math.min(...logs);
  return logs.map((x) => Math.round((x - least) * 100) / 100);
}
