// The answer: the numbers that pages show, each with its interval and its change against the first pin.

import { on, times } from "./state.js";
import { element } from "./knobs.js";

const place = document.getElementById("answer"), status = document.getElementById("status");
let shown = null, figure = "", all = false, filter = "", passed = "";

/** The figure of a distribution that a column is of: "p99"; "" of other columns. */
const figureOf = ({ name, group }) => (name.startsWith(`${group}_`) ? name.slice(group.length + 1) : "");

/** The unit, where the label does not say it. */
export const unitOf = (column) => (column.label === column.unit ? "" : column.unit);

/** "19.8 to 25.0 ms": the 90 % interval of the first variant; "" where none is known. */
export function rangeOf(column) {
  const interval = column.intervals && column.intervals[0];
  return interval && interval.text ? interval.text.replace(/^[^(]*\(([^;)]*).*$/, "$1") : "";
}

/**
 * "+4.2 %", "no difference" where a change is noise; "" where nothing is compared. `pin`: of an answer; where several
 * seeds were compared, the mean change over them, and its interval in `range`.
 */
export function changeOf(column, now, before, pin) {
  const over = ((pin && pin.changes) || []).find((each) => each.name === column.name);
  const flat = pin && pin.compared ? pin.compared.flat_frac : 0;
  if (typeof now !== "number" || typeof before !== "number") return { text: "", kind: "" };
  if (now === before) return { text: "the same", kind: "" };
  if (before === 0) return { text: "from 0", kind: "" };
  const change = over ? over.mean : now / before - 1;
  const range = over ? `${percentOf(over.low)} to ${percentOf(over.high)} over ${pin.seeds} seeds` : "";
  if (over ? over.none : Math.abs(change) <= flat) return { text: "no difference", kind: "", range };
  const text = Math.abs(change) >= 2 ? `×${(1 + change).toPrecision(3)}` : percentOf(change);
  const kind = column.better === "neither" ? "" : (column.better === "more") === change > 0 ? "better" : "worse";
  return { text, kind, range };
}

const percentOf = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)} %`;

function wanted(answer) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return (answer.columns || []).filter((column) => {
    const text = `${column.name} ${column.label} ${column.help}`.toLowerCase();
    if (words.length) return words.every((word) => text.includes(word));
    if (all) return true;
    const own = figureOf(column);
    return column.shown && (!figure || !own || own === figure);
  });
}

function against(answer, column) {
  const pin = (answer.pins || [])[0];
  const other = pin && pin.columns && pin.columns.find((each) => each.name === column.name);
  if (!other) return null;
  const { text, kind, range } = changeOf(column, column.values[0], other.values[0], pin);
  if (!text) return null;
  const title = [`pinned: ${other.texts[0]} ${other.unit}`, range].filter(Boolean).join("; ");
  return element("span", { class: `delta ${kind}`, title }, text);
}

function card(answer, column) {
  const interval = rangeOf(column);
  const out = element("div", { class: "card", title: `${column.name}: ${column.help}`, "data-column": column.name },
    element("h2", {}, column.label), element("b", {}, column.texts[0] ?? "-"), ` ${unitOf(column)}`);
  if (interval) out.append(element("small", { title: "90 % interval" }, interval));
  const delta = against(answer, column);
  if (delta) out.append(delta);
  return out;
}

function tableOf(answer, columns) {
  const head = element("tr", {}, element("th", {}, "variant"),
    ...columns.map((column) => element("th", { class: "n", title: column.help }, `${column.label} ${unitOf(column)}`)));
  const rows = answer.variants.map((variant, i) => element("tr", {}, element("td", {}, variant.name || "run"),
    ...columns.map((column) => element("td", { class: "n" }, column.texts[i] ?? "-"))));
  return element("div", { class: "scroll" }, element("table", {}, head, ...rows));
}

const svgNames = "http://www.w3.org/2000/svg";
function evidenceOf(variant) {
  const bar = document.createElementNS(svgNames, "svg"), words = [];
  bar.setAttribute("class", "bar");
  bar.setAttribute("viewBox", "0 0 100 4");
  bar.setAttribute("preserveAspectRatio", "none");
  let from = 0;
  for (const [name, share] of Object.entries(variant.evidence || {})) {
    const part = document.createElementNS(svgNames, "rect");
    for (const [key, value] of Object.entries({ x: 100 * from, width: 100 * share, height: 4, class: `e-${name}` })) {
      part.setAttribute(key, value);
    }
    bar.append(part);
    words.push(`${name} ${(100 * share).toFixed(1)} %`);
    from += share;
  }
  if (words.length === 0) return [];
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", words.join(", "));
  return [bar, element("div", { class: "e-key" }, `the time rests on ${words.join(", ")}`)];
}

function chooser(answer) {
  const figures = [...new Set(answer.columns.filter((column) => column.shown).map(figureOf).filter(Boolean))];
  const choice = element("select", { "aria-label": "Which statistic" },
    element("option", { value: "" }, "every statistic"),
    ...figures.map((each) => element("option", { value: each }, each)));
  choice.value = figure;
  choice.addEventListener("change", () => { figure = choice.value; draw(); });
  const every = element("input", { type: "checkbox", id: "every" });
  every.checked = all;
  every.addEventListener("change", () => { all = every.checked; draw(); });
  const find = element("input", { type: "search", placeholder: "search metrics", "aria-label": "Search metrics" });
  find.value = filter;
  find.addEventListener("input", () => { filter = find.value; draw(true); });
  return element("div", { class: "choose" }, choice, element("label", {}, every, " every metric"), find);
}

function draw(keepsChooser = false) {
  const answer = shown;
  if (!answer || !answer.columns) return;
  const columns = wanted(answer), parts = [];
  if (columns.length === 0) parts.push(element("p", { class: "note" }, "no metric of this answer"));
  else if (answer.variants.length > 1) parts.push(tableOf(answer, columns));
  else parts.push(element("div", { class: "cards" }, ...columns.map((column) => card(answer, column))));
  if (answer.variants.length === 1) parts.push(...evidenceOf(answer.variants[0]));
  parts.push(...(answer.facts || []).map((line) => element("div", { class: "e-key fact" }, line)));
  for (const [title, lines] of [["Notes", answer.notes], ["Report", answer.report]]) {
    if (!lines || lines.length === 0) continue;
    const before = place.querySelector(`details[data-name="${title}"]`);
    const inside = title === "Report" ? [element("pre", {}, lines.join("\n"))]
      : lines.map((line) => element("p", { class: "note" }, line));
    const count = title === "Notes" ? ` (${lines.length})` : "";
    const out = element("details", { "data-name": title }, element("summary", {}, title + count), ...inside);
    out.open = Boolean(before && before.open);
    parts.push(out);
  }
  const old = place.querySelector(".choose");
  if (keepsChooser && old) {
    while (old.nextSibling) old.nextSibling.remove();
    place.append(...parts);
  } else {
    const isTyping = old && old.contains(document.activeElement);
    if (isTyping) return draw(true);
    place.replaceChildren(chooser(answer), ...parts);
  }
}

function tellStatus(answer, isNew) {
  if (isNew && answer.whole) passed = times.event ? ` after ${Math.round(performance.now() - times.event)} ms` : "";
  if (answer.problem) status.textContent = shown ? "refused: the numbers are those of the last answer" : answer.problem;
  else if (answer.whole) status.textContent = `whole: ${answer.finished.toLocaleString("en")} requests${passed}`;
  else if (answer.columns) status.textContent = `of ${answer.finished.toLocaleString("en")} requests …`;
}

on("asked", () => { status.textContent = "…"; place.classList.add("old"); place.dataset.sent = ""; });
on("sent", ({ version }) => { place.dataset.sent = version; });
on("problem", ({ problem }) => { if (problem) { status.textContent = problem; place.classList.add("old"); } });
on("answer", (answer) => {
  if (answer.columns) {
    const isNew = !shown || shown.version !== answer.version || shown.whole !== answer.whole
      || shown.finished !== answer.finished;
    const isPinned = shown && JSON.stringify(shown.pins) !== JSON.stringify(answer.pins);
    shown = answer;
    if (isNew || isPinned) draw();
    if (isNew) performance.mark(answer.whole ? "whole" : "first", { detail: answer.version });
    place.classList.remove("old");
    tellStatus(answer, isNew);
  } else if (answer.problem) {
    place.classList.add("old");
    tellStatus(answer, false);
  }
  place.dataset.version = answer.version;
  place.dataset.whole = answer.whole;
  place.dataset.problem = answer.problem || "";
});
