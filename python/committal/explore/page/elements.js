// Small things made of elements. Texts are always texts: nothing here reads markup.

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// One of a few, as buttons side by side.
export function choices(box, options, get, set) {
  const buttons = options.map(([value, label, title]) =>
    make("button", {
      type: "button", text: label, title: title ?? "",
      onclick: () => set(value),
    }));
  box.replaceChildren(...buttons);
  const refresh = () => buttons.forEach((b, i) => {
    b.setAttribute("aria-pressed", String(options[i][0] === get()));
  });
  refresh();
  return refresh;
}

let count = 0;

// A slider with its number beside it; `log` for what spans decades. `other` gives what the
// second panel has, if that is something else.
export function slider(label, { min, max, step = 0.01, log = false, whole = false, title = "" }, get, set, other = () => undefined) {
  const id = `s${++count}`;
  const toBar = (v) => (log ? Math.log10(Math.max(v, min)) : v);
  const fromBar = (v) => {
    const x = log ? 10 ** v : v;
    return whole ? Math.round(x) : log ? Number(x.toPrecision(2)) : Number(x.toFixed(4));
  };
  const bar = make("input", {
    type: "range", id, min: toBar(min), max: toBar(max), step: log ? 0.01 : step,
    oninput: () => { number.value = fromBar(Number(bar.value)); set(fromBar(Number(bar.value))); },
  });
  const number = make("input", {
    type: "number", step: "any", "aria-label": label,
    onchange: () => {
      const x = Number(number.value);
      if (number.value !== "" && Number.isFinite(x)) set(whole ? Math.round(x) : x);
      refresh();
    },
  });
  const aside = make("span", { className: "other" });
  const row = make("div", { className: "row", title }, make("label", { htmlFor: id, text: label }), bar, number, aside);
  const refresh = () => {
    const value = get();
    row.hidden = value === null || value === undefined;
    if (row.hidden) return;
    if (document.activeElement !== bar) bar.value = toBar(value);
    if (document.activeElement !== number) number.value = value;
    const found = other();
    aside.textContent = found === undefined ? "" : `B: ${found}`;
  };
  refresh();
  return { element: row, refresh, bar };
}

// `options`: pairs of value and words.
export function select(label, options, get, set, other = () => undefined) {
  const id = `s${++count}`;
  const list = make("select", { id, onchange: () => set(list.value) },
    ...options.map(([value, words]) => make("option", { value, text: words })));
  const aside = make("span", { className: "other" });
  const row = make("div", { className: "row wide" }, make("label", { htmlFor: id, text: label }), list, aside);
  const refresh = () => {
    const value = get();
    row.hidden = value === null;
    const known = options.some(([v]) => v === value);
    for (const option of [...list.options]) if (option.dataset.other) option.remove();
    if (!known && value !== null) {
      const other = make("option", { value, text: String(value).replace(/_/g, " ") });
      other.dataset.other = "1";
      list.append(other);
    }
    list.value = value;
    const found = other(), words = options.find(([v]) => v === found)?.[1] ?? found;
    aside.textContent = found === undefined ? "" : `B: ${words}`;
  };
  refresh();
  return { element: row, refresh };
}
