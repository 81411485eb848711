// The settings of the scenario: what the server lists, with the units, bounds and choices that it states.

import { keyOf, on, setOf, setValue, state } from "./state.js";

const list = document.getElementById("list"), search = document.getElementById("search");
const rows = new Map(); // path -> {knob, element, input}
let knobs = [], refusedKeys = [], refusedText = "", most = 60;

const multiples = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, m: 1e-3, u: 1e-6, "%": 1e-2, ms: 1e-3, us: 1e-6, s: 1,
  min: 60, h: 3600, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10,
  MiB: 2 ** 20, GiB: 2 ** 30 };

/** "8k", "30 ms", "90 %" as a number; null where it is none. */
export function parsed(text) {
  const parts = text.trim().replace(/,(?=\d{3})/g, "").match(/^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(\S*)$/i);
  if (!parts) return null;
  const factor = parts[2] === "" ? 1 : multiples[parts[2]];
  return factor === undefined ? null : Number((Number(parts[1]) * factor).toPrecision(12));
}

const shownNumber = (value) => (typeof value === "number" ? String(Number(value.toPrecision(7))) : String(value ?? ""));
const bounded = (knob, value) => Math.min(knob.most ?? Infinity, Math.max(knob.least ?? -Infinity, value));

function element(tag, attributes = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) out.setAttribute(name, value === true ? name : value);
  }
  out.append(...children);
  return out;
}

// --- a number is dragged by its name, typed, or stepped with the arrow keys

function draggable(knob, label, input) {
  let from = null, start = 0;
  label.classList.add("drag");
  label.title = `${knob.path}: drag to change`;
  label.addEventListener("pointerdown", (event) => {
    start = parsed(input.value) ?? knob.default ?? 1;
    from = event.clientX;
    label.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  label.addEventListener("pointermove", (event) => {
    if (from === null) return;
    const way = event.clientX - from;
    if (Math.abs(way) < 3) return;
    put(knob, input, moved(knob, start, way / 120), `drag ${knob.path}`);
  });
  for (const end of ["pointerup", "pointercancel"]) label.addEventListener(end, () => { from = null; });
  input.addEventListener("keydown", (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const now = parsed(input.value) ?? knob.default ?? 1;
    put(knob, input, knob.whole && Math.abs(now) < 20 ? bounded(knob, now + way) : moved(knob, now, way * 0.05),
      `step ${knob.path}`);
  });
}

/** The value after a way of so many e-foldings; of 0, after so many units. */
function moved(knob, value, way) {
  const far = value === 0 ? way * (knob.most !== undefined ? knob.most / 4 : 1) : value * Math.exp(way);
  if (!knob.whole) return bounded(knob, Number(far.toPrecision(3)));
  return bounded(knob, Math.round(far) + (Math.round(far) === value ? Math.sign(way) : 0));
}

function put(knob, input, value, key) {
  input.value = shownNumber(value);
  setValue(knob.path, shownNumber(value), key);
}

// --- one row

function inputOf(knob) {
  if (knob.kind === "boolean" || knob.kind === "choice") {
    const values = knob.kind === "boolean" ? ["true", "false"] : knob.values.map(String);
    if (knob.value === undefined) values.unshift(""); // nothing is stated
    const out = element("select", {}, ...values.map((value) => element("option", { value }, value)));
    out.addEventListener("change", () => setValue(knob.path, out.value === "" ? null : out.value));
    return out;
  }
  const hint = knob.default === undefined ? "" : String(knob.default);
  const out = element("input", { type: "text", spellcheck: "false", autocomplete: "off", placeholder: hint });
  if (knob.values) {
    const id = `values-${knob.path}`;
    out.setAttribute("list", id);
    out.append(element("datalist", { id }, ...knob.values.map((value) => element("option", { value }))));
    out.addEventListener("focus", () => out.select());
  }
  const take = () => {
    const text = out.value.trim();
    if (text === "" && setOf(knob.path) !== undefined) return setValue(knob.path, null, `type ${knob.path}`);
    if (text === "" || text === shownValue(knob)) return;
    const number = knob.kind === "number" ? parsed(text) : null;
    setValue(knob.path, number === null ? text : shownNumber(number), `type ${knob.path}`);
  };
  out.addEventListener("change", take);
  if (knob.kind === "number") out.addEventListener("input", () => { if (parsed(out.value) !== null) take(); });
  return out;
}

function shownValue(knob) {
  const own = setOf(knob.path);
  if (own !== undefined) return own.slice(knob.path.length + 1);
  return knob.kind === "number" ? shownNumber(knob.value) : String(knob.value ?? "");
}

function rowOf(knob) {
  const id = `knob-${knob.path}`;
  const label = element("label", { for: id, title: knob.path }, knob.path.replace(/^[^.]+\.(?=.)/, ""));
  const input = inputOf(knob);
  input.id = id;
  const clear = element("button", { title: "As the scenario has it", "aria-label": `reset ${knob.path}` }, "×");
  clear.addEventListener("click", () => setValue(knob.path, null, ""));
  const wide = knob.kind !== "number";
  const row = element("div", { class: wide ? "knob wide" : "knob", "data-path": knob.path }, label, input);
  const unit = knob.unit && knob.unit !== "1" ? knob.unit : "";
  if (!wide) row.append(element("span", { class: "unit", title: unit }, unit));
  row.append(clear, element("p", { class: "error", role: "alert" }),
    element("p", { class: "doc" }, [knob.path, knob.varied ? "varies in this scenario" : "", knob.doc || "",
      knob.default !== undefined ? `default ${knob.default}` : "", boundsOf(knob)].filter(Boolean).join("; ")));
  if (knob.kind === "number") draggable(knob, label, input);
  return { knob, element: row, input, clear };
}

function boundsOf(knob) {
  if (knob.least === undefined && knob.most === undefined) return "";
  return `from ${knob.least ?? "-∞"} to ${knob.most ?? "∞"}`;
}

// --- the list

function matches(knob, words) {
  const text = `${knob.path} ${knob.doc || ""} ${knob.unit || ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function chosen() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return knobs.filter((knob) => knob.stated || knob.first || setOf(knob.path) !== undefined);
  const found = knobs.filter((knob) => matches(knob, words));
  const inPath = (knob) => words.every((word) => knob.path.toLowerCase().includes(word));
  return [...found.filter(inPath), ...found.filter((knob) => !inPath(knob))].slice(0, most);
}

function draw() {
  const wanted = chosen(), children = [];
  let group = "";
  for (const knob of wanted) {
    const own = knob.path.includes(".") ? knob.path.split(".")[0] : "";
    if (own !== group) children.push(element("div", { class: "group" }, own || "scenario"));
    group = own;
    let row = rows.get(knob.path);
    if (!row || row.shape !== shapeOf(knob)) {
      row = rowOf(knob);
      row.shape = shapeOf(knob);
      rows.set(knob.path, row);
    }
    row.knob = knob;
    children.push(row.element);
  }
  if (wanted.length === 0) children.push(element("p", { class: "unit" }, "no setting has these words"));
  const focused = document.activeElement;
  list.replaceChildren(...children);
  if (focused && focused !== document.activeElement && list.contains(focused)) focused.focus();
  fill();
}

const shapeOf = (knob) => JSON.stringify([knob.kind, knob.values, knob.default, knob.unit, knob.varied, !knob.value]);

/** Values, marks and errors of the rows that are there. */
function fill() {
  for (const { knob, element: row, input, clear } of rows.values()) {
    if (!row.isConnected) continue;
    const value = shownValue(knob), isSet = setOf(knob.path) !== undefined;
    const isBad = refusedKeys.includes(knob.path);
    if (document.activeElement !== input && input.value !== value) input.value = value;
    if (document.activeElement === input && !isSet && !isBad && parsed(input.value) === null) input.value = value;
    row.classList.toggle("set", isSet);
    row.classList.toggle("bad", isBad);
    clear.hidden = !isSet;
    row.querySelector(".error").textContent = isBad ? refusedText : "";
  }
  const known = refusedKeys.some((key) => rows.get(key) && rows.get(key).element.isConnected);
  document.getElementById("refused").textContent = refusedText && !known ? refusedText : "";
}

function refuse(problem, keys) {
  refusedText = problem || "";
  refusedKeys = problem ? keys || [] : [];
  fill();
}

search.addEventListener("input", draw);
search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { search.value = ""; draw(); search.blur(); }
  if (event.key === "Enter") { const first = list.querySelector("input, select"); if (first) first.focus(); }
});
on("opened", (opened) => {
  if (opened.knobs) knobs = opened.knobs;
  const paths = new Set(knobs.map((knob) => knob.path));
  for (const text of state.set) {
    const path = keyOf(text);
    if (!paths.has(path)) knobs.push({ path, kind: "data", doc: "set by the command or the address" });
  }
  draw();
  refuse(opened.problem, opened.keys);
});
on("state", () => fill());
on("problem", ({ problem, keys }) => refuse(problem, keys));
on("answer", (answer) => refuse(answer.problem, answer.keys));
export { element };
