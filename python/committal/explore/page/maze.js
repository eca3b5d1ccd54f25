// A gridworld: placeholder until it is drawn.
export class MazeView {
  constructor() {}
  show() {}
  draw() {}
}
