import { make } from "./elements.js";
export function mazeControls() {
  return { element: make("div"), refresh() {} };
}
