// The files of the scenario and of its policies: read, edited as a copy, compared with what is on disk, saved.

import { ask, change, on, state } from "./state.js";
import { element } from "./knobs.js";

const [drawer, file, text, edit, discard, fault, difference, saveAs, save, replace, saved, saving] = ["drawer", "file",
  "text", "edit", "discard", "fault", "difference", "save-as", "save", "replace", "saved",
  "saving"].map((id) => document.getElementById(id));
let files = [], shipped = "", path = "", pause = 0;

export function toggle() {
  drawer.hidden = !drawer.hidden;
  document.querySelector("main").classList.toggle("drawn", !drawer.hidden);
  document.getElementById("files").setAttribute("aria-expanded", String(!drawer.hidden));
  if (!drawer.hidden) load(path || (files.find((each) => each.key) || files[0] || {}).path);
}

async function load(wanted) {
  if (!wanted) return;
  try {
    const told = await ask(`/api/text?path=${encodeURIComponent(wanted)}`);
    [path, shipped] = [wanted, told.text];
    file.value = wanted;
    text.value = state.texts[path] ?? shipped;
    saveAs.value = path;
    draw();
  } catch (problem) {
    fault.textContent = problem.message;
  }
}

function draw() {
  const isEdited = state.texts[path] !== undefined;
  text.readOnly = !isEdited;
  edit.disabled = isEdited;
  discard.disabled = !isEdited;
  saving.hidden = !isEdited;
  replace.hidden = true;
  saved.textContent = "";
  if (isEdited && document.activeElement !== text) text.value = state.texts[path];
  difference.replaceChildren(...(isEdited ? differ(shipped.split("\n"), text.value.split("\n")) : []));
}

/** Lines that differ, with two around them: the longest common subsequence between the equal ends. */
function differ(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const x = a.slice(head, a.length - tail), y = b.slice(head, b.length - tail), out = [];
  const kinds = { "+": "plus", "-": "minus", " ": "same" };
  const line = (sign, words) => out.push(element("span", { class: kinds[sign] }, `${sign} ${words}\n`));
  if (x.length + y.length === 0) return out;
  a.slice(Math.max(0, head - 2), head).forEach((each) => line(" ", each));
  const best = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      best[i][j] = x[i] === y[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
    }
  }
  for (let i = 0, j = 0; i < x.length || j < y.length;) {
    if (i < x.length && j < y.length && x[i] === y[j]) { line(" ", x[i]); i++; j++; }
    else if (i < x.length && (j >= y.length || best[i + 1][j] >= best[i][j + 1])) line("-", x[i++]);
    else line("+", y[j++]);
  }
  a.slice(a.length - tail, a.length - tail + 2).forEach((each) => line(" ", each));
  return out;
}

/** The line that a message names: "schedulers/mine.lua:12: ..." */
function lineOf(problem) {
  const name = path.split("/").pop().replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = (problem || "").match(new RegExp(`${name}:(\\d+)`));
  return found ? Number(found[1]) : 0;
}

function tellFault(problem) {
  const at = problem && state.texts[path] !== undefined ? lineOf(problem) : 0;
  const where = at ? `line ${at}: ${text.value.split("\n")[at - 1] || ""}\n` : "";
  fault.textContent = problem && Object.keys(state.texts).length ? where + problem : "";
  if (!at || document.activeElement === text) return;
  text.scrollTop = (at - 5) * parseFloat(getComputedStyle(text).lineHeight);
}

async function store(replaces) {
  try {
    const body = JSON.stringify({ path: saveAs.value, text: text.value, replace: replaces });
    const told = await ask("/api/save", { method: "POST", body });
    replace.hidden = true;
    saved.textContent = `saved: ${told.saved}`;
  } catch (problem) {
    replace.hidden = problem.status !== 409;
    saved.textContent = problem.message;
  }
}

file.addEventListener("change", () => load(file.value));
edit.addEventListener("click", () => {
  change((copy) => { copy.texts[path] = shipped; });
  text.focus();
});
discard.addEventListener("click", () => {
  change((copy) => { delete copy.texts[path]; });
  text.value = shipped;
  draw();
});
text.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(() => { change((copy) => { copy.texts[path] = text.value; }, `text ${path}`); }, 150);
});
text.addEventListener("keydown", (event) => { if (event.key === "Escape") file.focus(); });
save.addEventListener("click", () => store(false));
replace.addEventListener("click", () => store(true));
saveAs.addEventListener("input", () => { replace.hidden = true; });
on("opened", (opened) => {
  files = opened.policies || [];
  const before = file.value;
  file.replaceChildren(...files.map((each) => element("option", { value: each.path },
    (each.key ? `${each.key}: ` : "") + each.path)));
  if (files.some((each) => each.path === before)) file.value = before;
  tellFault(opened.problem);
});
on("state", () => { if (!drawer.hidden) draw(); });
on("answer", (answer) => tellFault(answer.problem));
on("problem", ({ problem }) => tellFault(problem));
