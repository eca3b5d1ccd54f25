// The colours of the pictures, as the style sheet says them for light and for dark.

const NAMES = ["ink", "soft", "line", "paper", "card", "reached", "failed", "moving", "accent"];

export const colours = {};

export function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
  colours.dark = style.getPropertyValue("--dark").trim() === "1";
}

// From early to late: dark blue to yellow; nearly even in lightness steps.
const LATE = [[59, 76, 160], [52, 120, 170], [42, 157, 143], [122, 190, 90], [233, 196, 70]];

export function timeColour(share) {
  const x = Math.min(Math.max(share, 0), 0.9999) * (LATE.length - 1);
  const i = Math.floor(x), f = x - i;
  const mix = (k) => Math.round(LATE[i][k] * (1 - f) + LATE[i + 1][k] * f);
  return `rgb(${mix(0)} ${mix(1)} ${mix(2)})`;
}

// Of a map, from 0 to 1: paper to orange, so that trajectories stay visible.
export function mapColour(share) {
  const from = colours.dark ? [24, 30, 38] : [255, 253, 248];
  const to = colours.dark ? [164, 74, 18] : [238, 150, 92];
  return [0, 1, 2].map((k) => Math.round(from[k] * (1 - share) + to[k] * share));
}
