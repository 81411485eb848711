// The page of a laboratory: buttons, keys, exports.

import { address, begin, canRedo, canUndo, on, redo, state, undo } from "./state.js";
import "./answer.js";
import { chooseAt } from "./pictures.js";
import { pin } from "./pins.js";
import { toggle } from "./policies.js";

const at = (id) => document.getElementById(id);
const keys = `/ search settings
1 … 9 pictures
u, r undo, redo
p pin
e policies
j, h download JSON, page
↑ ↓ in a number: a step
? these keys`;

function help() {
  at("help").textContent = keys;
  at("help").hidden = !at("help").hidden;
}

const acts = { u: undo, r: redo, p: pin, e: toggle, "/": () => at("search").focus(), "?": help,
  j: () => at("as-json").click(), h: () => at("as-html").click() };

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input:not([type=checkbox]), textarea, select");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !isTyping) {
    event.preventDefault();
    return event.shiftKey ? redo() : undo();
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[1-9]$/.test(event.key)) chooseAt(Number(event.key) - 1);
  else if (acts[event.key]) acts[event.key]();
  else return;
  event.preventDefault();
});

at("undo").addEventListener("click", undo);
at("redo").addEventListener("click", redo);
at("pin").addEventListener("click", pin);
at("files").addEventListener("click", toggle);
at("as-command").addEventListener("focus", (event) => event.target.select());
for (const what of ["json", "html", "lua"]) at(`as-${what}`).href = address(`/api/export/${what}`);

on("state", () => {
  at("undo").disabled = !canUndo();
  at("redo").disabled = !canRedo();
  at("unsaved").hidden = Object.keys(state.texts).length === 0;
});
on("opened", (opened) => {
  at("as-lua").hidden = !opened.exports_lua;
  if (opened.command) at("as-command").value = opened.command;
  const name = opened.title || opened.scenario || "rooflua lab";
  at("title").textContent = name;
  document.title = `${name} – rooflua lab`;
});
begin();
