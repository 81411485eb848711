// Pictures: the sections of the page of a run, and views that are made when they are looked at. The server draws them.

import { ask, on } from "./state.js";
import { element } from "./knobs.js";

const tabs = document.getElementById("tabs"), picture = document.getElementById("picture");
let views = [], sections = [], chosen = "", version = 0, going = 0;

/** The tabs in order; a digit opens each of the first nine. */
function all() { return [...views, ...sections.filter((one) => !views.some((view) => view.name === one.name))]; }

function draw() {
  const list = all();
  if (!chosen && sections.length) chosen = sections[0].name;
  tabs.replaceChildren(...list.map((one, i) => {
    const isChosen = one.name === chosen.split("/")[0] ? "true" : "false";
    const out = element("button", { role: "tab", "aria-selected": isChosen, "data-name": one.name },
      ...(i < 9 ? [element("kbd", {}, String(i + 1))] : []), one.title);
    out.addEventListener("click", () => choose(one.name));
    return out;
  }));
}

export function chooseAt(i) { const one = all()[i]; if (one) choose(one.name); }

function choose(name) {
  chosen = name;
  draw();
  show();
}

// --- what a click in a picture opens: another picture, or the words that stand in a tooltip

function openFrom(target) {
  const opener = target.closest("[data-open]");
  if (opener) return choose(opener.dataset.open);
  const title = target.closest("svg *")?.querySelector(":scope > title")
    ?? target.closest("svg g")?.querySelector(":scope > title");
  if (!title) return;
  let line = picture.querySelector(".picked");
  if (!line) picture.prepend(line = element("p", { class: "picked", role: "status" }));
  line.textContent = title.textContent;
}

/** One of them is reached by Tab, the others by the arrow keys. */
function reachable() {
  const list = [...picture.querySelectorAll("[data-open]")];
  list.forEach((each, i) => each.setAttribute("tabindex", i === 0 ? 0 : -1));
}

picture.addEventListener("click", (event) => openFrom(event.target));
picture.addEventListener("keydown", (event) => {
  const list = [...picture.querySelectorAll("[data-open]")], at = list.indexOf(event.target);
  if (at < 0) return;
  if (event.key === "Enter") openFrom(event.target);
  const next = list[at + ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] || 0)];
  if (!next || next === event.target) return;
  event.preventDefault();
  next.setAttribute("tabindex", 0);
  next.focus();
});

/** Follows a picture until it is whole, another one is chosen, or the state is another one. */
async function show() {
  const own = ++going, name = chosen, of = version;
  if (!name || !of) return;
  picture.classList.add("old");
  for (let after = 0; own === going;) {
    let told;
    try {
      told = await ask(`/api/picture/${name}?after=${after}`);
    } catch (problem) {
      if (own !== going) return;
      picture.replaceChildren(element("p", { class: "note" }, problem.message));
      return;
    }
    if (own !== going || told.version < of) return;
    after = told.sequence;
    put(told);
    if (told.whole || told.problem) return;
  }
}

function put(told) {
  const parts = told.sections.map((section) => {
    const out = element("div", {}, element("h2", {}, section.title));
    const inside = document.createElement("div");
    inside.innerHTML = section.html; // of the server, which escapes what is the user's
    out.append(inside);
    return out;
  });
  if (told.problem) parts.unshift(element("p", { class: "error" }, told.problem));
  else if (!told.whole) parts.push(element("p", { class: "note" }, "more follows …"));
  if (parts.length === 0) parts.push(element("p", { class: "note" }, "there is nothing to show"));
  picture.replaceChildren(...parts);
  reachable();
  picture.classList.remove("old");
  picture.dataset.version = told.version;
  picture.dataset.whole = told.whole;
}

on("opened", (opened) => {
  views = opened.views || [];
  draw();
});
on("answer", (answer) => {
  const isNew = answer.version !== version, had = sections.length;
  version = answer.version;
  if (answer.pictures.length) sections = answer.pictures;
  if (isNew || sections.length !== had) draw();
  if (answer.whole && !answer.problem && (isNew || picture.dataset.asked !== String(version))) {
    picture.dataset.asked = version;
    show();
  }
});
