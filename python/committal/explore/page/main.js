// The page: which panels there are, what is changed, and when to draw.

import { readColours } from "./colours.js";
import { banditControls } from "./controls.js";
import { choices, make } from "./elements.js";
import { Panel } from "./panel.js";
import { packet } from "./server.js";
import { FIGURE_1, ROOMS, around, clone, fromFragment, isMaze, mode, shownPanels, state, targets, toFragment } from "./state.js";
import { Texts } from "./texts.js";
import { Transport } from "./transport.js";
import { mazeControls } from "./maze_controls.js";

const byId = (id) => document.getElementById(id);

class Page {
  constructor() {
    readColours();
    fromFragment(location.hash.slice(1));
    this.panels = { a: new Panel("a", this), b: new Panel("b", this) };
    byId("panels").append(this.panels.a.element, this.panels.b.element);
    this.transport = new Transport(byId("transport"), this);
    this.texts = new Texts(byId("texts"), this);
    this.presets = [];
    if (state.unread) byId("says").textContent = "The address could not be read; this is figure 1.";
    this._choices();
    this._build();
    this._keys();
    this.all();
    this._loadPresets();
    const again = () => { readColours(); for (const panel of Object.values(this.panels)) panel.redraw(); this.maps(); };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new ResizeObserver(() => this.frame()).observe(byId("panels"));
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this._written) return;
      fromFragment(location.hash.slice(1));
      this.chosen = null;
      byId("presets").value = "";
      byId("says").textContent = "";
      this._build();
      this.all();
    });
  }

  visible() {
    return shownPanels().map((name) => this.panels[name]);
  }

  clock(panel) {
    return this.transport.index(panel.times.length);
  }

  // -- changes -------------------------------------------------------------------------------------

  // Change the experiments that the controls are for, and run them again.
  edit(change, names = targets()) {
    const since = performance.now();
    for (const name of shownPanels().filter((n) => names.includes(n))) {
      change(state.panels[name]);
      const labelled = name in state.labels;
      delete state.labels[name];
      this.panels[name].change(since);
      if (labelled) this._cases();
    }
    this._changed();
  }

  // Change something that both panels share.
  set(name, value) {
    state[name] = value;
    state.shown = Math.min(state.shown, state.runs - 1);
    this.all();
  }

  // Change only how it is drawn.
  look(name, value) {
    state[name] = value;
    this._changed();
    for (const panel of this.visible()) panel.redraw();
    this.frame();
  }

  all(since = performance.now()) {
    for (const panel of this.visible()) panel.change(since);
    this._changed();
  }

  two(wanted) {
    if (state.two === wanted) return;
    if (wanted && isMaze(state.panels.b) !== isMaze(state.panels.a)) state.panels.b = clone(state.panels.a);
    state.two = wanted;
    this._layout();
    this.all();
  }

  target(name) {
    state.target = name;
    this._layout();
    this._changed();
  }

  mode(wanted) {
    if (wanted === mode()) return;
    const [first, second] = [clone(wanted === "bandit" ? FIGURE_1 : ROOMS), clone(wanted === "bandit" ? FIGURE_1 : ROOMS)];
    second.baseline = around({ kind: "min_variance", metric: "gradient" }, 0.5);
    this.begin(first, second, wanted === "bandit" ? { runs: 200, below: 0.9 } : { runs: 30, below: 0.6 });
  }

  begin(first, second, more, labels = {}) {
    Object.assign(state, { panels: { a: first, b: second ?? clone(first) }, labels, shown: 0, ...more });
    if (second) state.two = true;
    this._build();
    this.transport.go(1);
    this.all();
  }

  // An experiment that somebody wrote takes the place of a panel's.
  replaced(name, experiment) {
    const other = isMaze(experiment) !== (mode() === "gridworld");
    delete state.labels[name];
    if (other) this.begin(experiment, null, isMaze(experiment) ? { two: false, runs: 30 } : { two: false });
    else {
      state.panels[name] = experiment;
      this.panels[name].change();
      this._changed();
    }
    return true;
  }

  // -- the page around the panels ------------------------------------------------------------------

  _choices() {
    this._refreshModes = choices(byId("modes"), [["bandit", "Bandit"], ["gridworld", "Gridworld"]], mode, (m) => this.mode(m));
    this._refreshSides = choices(byId("sides"), [[false, "One"], [true, "Two"]], () => state.two, (t) => this.two(t));
    byId("help-button").addEventListener("click", () => byId("help").showModal());
  }

  _build() {
    const made = mode() === "bandit" ? banditControls(this) : mazeControls(this);
    this.controls = made;
    this._targets = make("div", { className: "choices targets", role: "group", "aria-label": "Settings of" });
    this._refreshTargets = choices(this._targets, [["a", "A"], ["b", "B"], ["both", "both"]], () => state.target, (t) => this.target(t));
    byId("controls").replaceChildren(this._targets, made.element);
    this._layout();
  }

  _layout() {
    this._refreshModes();
    this._refreshSides();
    this._refreshTargets();
    this._targets.hidden = !state.two;
    this.panels.b.element.hidden = !state.two;
    if (!state.two) this.panels.b.stop();
    byId("panels").classList.toggle("two", state.two);
    for (const name of ["a", "b"]) {
      this.panels[name].element.classList.toggle("chosen", state.two && targets().includes(name));
    }
    this._cases();
    this.controls.refresh();
    if (!state.two) byId("paired").textContent = "";
  }

  _changed() {
    this.controls.refresh();
    clearTimeout(this._writing);
    this._writing = setTimeout(() => this.write(), 200);
  }

  write() {
    this._written = toFragment();
    history.replaceState(null, "", `#${this._written}`);
    this.texts.link();
  }

  received(panel) {
    this.texts.show(panel);
    this.transport._refresh();
    this._paired();
  }

  frame() {
    if (this._framed) return;
    this._framed = true;
    requestAnimationFrame(() => {
      this._framed = false;
      for (const panel of this.visible()) panel.draw();
    });
  }

  // Maps that stand side by side have the same colours for the same numbers.
  maps() {
    const shown = this.visible().filter((panel) => panel.map);
    const logs = shown.filter((panel) => panel.map.log).map((panel) => panel.map);
    const [low, high] = [Math.min(...logs.map((m) => m.low)), Math.max(...logs.map((m) => m.high))];
    for (const panel of shown) panel.showMap(...(panel.map.log ? [low, high] : [0, 1]));
    this.frame();
  }

  // What common random numbers are for: the same run, twice.
  _paired() {
    const [a, b] = [this.panels.a, this.panels.b];
    const box = byId("paired");
    if (!state.two || mode() !== "bandit" || !a.fates || !b.fates || a.fates.of.length !== b.fates.of.length) {
      box.textContent = "";
      return;
    }
    let [onlyA, onlyB, both] = [0, 0, 0];
    a.fates.of.forEach((fate, run) => {
      const [x, y] = [fate !== "reached", b.fates.of[run] !== "reached"];
      onlyA += x && !y;
      onlyB += y && !x;
      both += x && y;
    });
    box.textContent = `Of the same ${a.fates.of.length} random runs, ${onlyA} fail only in A, ${onlyB} only in B, ${both} in both.`;
  }

  // -- presets -------------------------------------------------------------------------------------

  async _loadPresets() {
    const list = byId("presets");
    list.append(make("option", { value: "", text: "— of the paper —" }));
    list.addEventListener("change", () => this.preset(list.value));
    try {
      this.presets = (await packet("presets", {})).presets;
    } catch (error) {
      list.title = `The figures cannot be had: ${error.message}`;
      list.disabled = true;
      return;
    }
    for (const one of this.presets) {
      const number = one.name.replace("fig", "");
      list.append(make("option", { value: one.name, text: `${number}: ${one.title}` }));
    }
    list.dataset.ready = "1";
  }

  preset(name) {
    const one = this.presets.find((preset) => preset.name === name);
    byId("says").textContent = one ? one.says : "";
    this.chosen = one;
    if (!one) {
      this._cases();
      return;
    }
    const [first, second] = one.pair.map((k) => one.cases[k]);
    const maze = isMaze(first.experiment);
    this.begin(clone(first.experiment), clone(second.experiment),
      { below: one.below, under: one.under, runs: maze ? 30 : 200 }, { a: first.label, b: second.label });
  }

  _cases() {
    for (const panel of Object.values(this.panels)) {
      panel.cases.replaceChildren();
      if (!this.chosen || isMaze(this.chosen.cases[0].experiment) !== (mode() === "gridworld")) continue;
      for (const one of this.chosen.cases) {
        panel.cases.append(make("button", {
          type: "button", text: one.label, "aria-pressed": String(state.labels[panel.name] === one.label),
          onclick: () => {
            const since = performance.now();
            state.panels[panel.name] = clone(one.experiment);
            state.labels[panel.name] = one.label;
            panel.change(since);
            this._cases();
            this._changed();
          },
        }));
      }
    }
  }

  // -- keys ----------------------------------------------------------------------------------------

  _keys() {
    addEventListener("keydown", (event) => {
      const tag = event.target.tagName, type = event.target.type;
      if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
      if (tag === "TEXTAREA" || tag === "SELECT" || type === "text" || type === "number") return;
      const arrows = event.key.startsWith("Arrow") || event.key === "Home" || event.key === "End";
      if (type === "range" && arrows) return;
      if (tag === "BUTTON" && event.key === " ") return;
      const t = this.transport, by = event.shiftKey ? 10 : 1;
      const does = {
        " ": () => t.toggle(), ArrowLeft: () => t.step(-by), ArrowRight: () => t.step(by),
        Home: () => { t.pause(); t.go(0); }, End: () => { t.pause(); t.go(1); },
        "[": () => t.faster(-1), "]": () => t.faster(1),
        1: () => this.two(false), 2: () => this.two(true),
        a: () => this.target("a"), b: () => this.target("b"), x: () => this.target("both"),
        r: () => this.set("seed", (state.seed + 1) % 100), c: () => this.texts.copyLink(),
        "?": () => byId("help").showModal(),
      }[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    });
  }
}

const page = new Page();
// The first thing to see is that it moves, unless somebody does not want that.
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
  page.transport.share = 0;
  page.transport.start();
}
