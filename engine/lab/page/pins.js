// Pins: states that stay, and how the answer differs from the answer of each.

import { change, on, state } from "./state.js";
import { changeOf, rangeOf, unitOf } from "./answer.js";
import { element } from "./knobs.js";

const place = document.getElementById("pins"), most = 6;
const known = new Map(); // a pinned state, as text -> what the answer has of it

/** What a state is called: what was set, or the scenario. */
function nameOf(own) {
  const words = [...own.set, ...Object.keys(own.texts || {}).map((path) => `edited ${path}`)];
  return words.length ? words.join(", ") : "the scenario";
}

export function pin() {
  if (state.pins.length >= most) return;
  const own = { set: state.set, texts: state.texts };
  if (state.seed !== undefined) own.seed = state.seed;
  change((copy) => copy.pins.push({ name: nameOf(own), state: own }));
}

function headOf(i, name) {
  const close = element("button", { title: "Unpin", "aria-label": `unpin ${name}` }, "×");
  close.addEventListener("click", () => change((copy) => copy.pins.splice(i, 1)));
  const back = element("button", { title: "Back to this state" }, name);
  back.addEventListener("click", () => change((copy) => Object.assign(copy, { seed: undefined }, copy.pins[i].state)));
  return element("th", { class: "n" }, back, " ", close);
}

function draw(answer) {
  if (state.pins.length === 0) return place.replaceChildren();
  const columns = (answer.columns || []).filter((column) => column.shown);
  const head = element("tr", {}, element("th", {}, "pinned"), ...state.pins.map((one, i) => headOf(i, one.name)),
    element("th", { class: "n" }, "now"));
  const rows = columns.map((column) => element("tr", {},
    element("td", {}, `${column.label} ${unitOf(column)}`),
    ...state.pins.map((one, i) => cellOf(column, answer.pins.find((each) => each.number === i), one)),
    element("td", { class: "n" }, column.texts[0] ?? "-", rangeOf(column) ? ` (${rangeOf(column)})` : "")));
  const words = answer.pins.filter((each) => each.compared || each.problem).map((each) => element("details", {},
    element("summary", {}, `now against ${state.pins[each.number] ? state.pins[each.number].name : "a pin"}`),
    element("pre", {}, each.problem || each.compared.text)));
  place.replaceChildren(element("details", { open: true }, element("summary", {}, "Pins and differences"),
    element("div", { class: "scroll" }, element("table", {}, head, ...rows)), ...words));
}

function cellOf(column, own, pinned) {
  const name = JSON.stringify(pinned.state);
  if (own && own.columns) known.set(name, own);
  const other = ((known.get(name) || {}).columns || []).find((each) => each.name === column.name);
  if (!other) return element("td", { class: "n" }, own && own.problem ? "failed" : "…");
  const { text, kind, range } = changeOf(column, column.values[0], other.values[0], own);
  const unit = other.unit === column.unit ? "" : ` ${other.unit}`;
  const interval = rangeOf(other);
  return element("td", { class: "n" }, element("span", {}, other.texts[0] + unit),
    ...(interval ? [element("small", { title: "90 % interval" }, ` (${interval})`)] : []),
    element("span", { class: `delta ${kind}`, title: range }, text));
}

on("answer", (answer) => { if (answer.columns) draw(answer); });
on("state", () => {
  document.getElementById("pin").disabled = state.pins.length >= most;
  if (state.pins.length === 0) place.replaceChildren();
});
