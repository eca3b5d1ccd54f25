// The experiment as Python and as TOML, to copy or to change, and the link.

import { choices, make } from "./elements.js";
import { packet } from "./server.js";
import { state } from "./state.js";

export class Texts {
  constructor(box, page) {
    this.page = page;
    this.kind = "python";
    this.panel = "a";
    this.heads = {};
    const kinds = make("div", { className: "choices" });
    this._refreshKinds = choices(kinds, [["python", "Python"], ["toml", "TOML"], ["link", "Link"]], () => this.kind, (kind) => {
      this.kind = kind;
      this._draw();
    });
    this.panels = make("div", { className: "choices" });
    this._refreshPanels = choices(this.panels, [["a", "A"], ["b", "B"]], () => this.panel, (panel) => {
      this.panel = panel;
      this._draw();
    });
    this.copyButton = make("button", { type: "button", id: "copy", text: "Copy", onclick: () => this._copy(this.area.value) });
    this.apply = make("button", { type: "button", id: "apply", text: "Run this TOML", onclick: () => this._apply() });
    this.area = make("textarea", { id: "text", spellcheck: false, "aria-label": "The experiment as text" });
    this.error = make("p", { className: "error", role: "alert", hidden: true });
    box.append(make("div", { className: "bar" }, kinds, this.panels, this.copyButton, this.apply), this.area, this.error);
    this._draw();
  }

  show(panel) {
    this.heads[panel.name] = panel.head;
    this._draw();
  }

  link() {
    if (this.kind === "link") this._draw();
  }

  _draw() {
    if (!state.two) this.panel = "a";
    this.panels.hidden = !state.two || this.kind === "link";
    this.apply.hidden = this.kind !== "toml";
    this.area.readOnly = this.kind !== "toml";
    this._refreshKinds();
    this._refreshPanels();
    if (document.activeElement === this.area && this.kind === "toml") return;
    const head = this.heads[this.panel];
    this.area.value = this.kind === "link" ? location.href : head?.[this.kind] ?? "";
    this.area.rows = Math.min(24, Math.max(6, this.area.value.split("\n").length));
  }

  async _apply() {
    try {
      const head = await packet("read", { toml: this.area.value });
      this.error.hidden = true;
      if (this.page.replaced(this.panel, head.experiment)) this.area.blur();
    } catch (error) {
      this.error.textContent = error.message;
      this.error.hidden = false;
    }
  }

  copyLink() {
    this.page.write();
    this._copy(location.href);
  }

  async _copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      this.area.focus();
      this.area.select();
      document.execCommand("copy");
    }
    this.copyButton.textContent = "Copied";
    clearTimeout(this._soon);
    this._soon = setTimeout(() => { this.copyButton.textContent = "Copy"; }, 1500);
  }
}
