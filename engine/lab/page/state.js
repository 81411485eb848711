// The state of the laboratory: what was changed, in the address and on the server; undo; what the server answers.

const token = new URLSearchParams(location.search).get("token") || "";
const listeners = {};
let before = [], after = [], lastKey = "", lastTime = 0;
let sending = false, waiting = false, sequence = 0;

export let state = { set: [], texts: {}, pins: [] };
export let times = { event: 0 }; // of the last change by a person, in ms of performance.now()

export function on(name, act) { (listeners[name] = listeners[name] || []).push(act); }
export function tell(name, value) { (listeners[name] || []).forEach((act) => act(value)); }

export function address(path) { return `${path}${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}`; }

/** A JSON of the server. Throws an Error with its message, its status and its key. */
export async function ask(path, options) {
  const answer = await fetch(address(path), options);
  const body = await answer.json();
  if (answer.ok || body.sequence !== undefined) return body;
  throw Object.assign(new Error(body.error ? body.error.message : answer.statusText), { status: answer.status });
}

export const keyOf = (text) => text.slice(0, text.indexOf("="));
export const valueOf = (text) => text.slice(text.indexOf("=") + 1);
export function setOf(path) { return state.set.find((text) => keyOf(text) === path); }

// --- the address holds the state: base64 of its JSON, UTF-8

function encoded() {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join("")).replace(/\+/g, "-").replace(/\//g, "_");
}

function decoded() {
  const text = location.hash.slice(1).replace(/-/g, "+").replace(/_/g, "/");
  if (!text) return null;
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0))));
  } catch {
    return null;
  }
}

function isEmpty() { return state.set.length + state.pins.length + Object.keys(state.texts).length === 0; }

function write() {
  history.replaceState(null, "", location.pathname + location.search + (isEmpty() ? "" : `#${encoded()}`));
}

/** Sends the newest state; one that was overtaken is never sent. */
async function send() {
  if (sending) { waiting = true; return tell("asked"); }
  sending = true;
  try {
    const told = ask("/api/state", { method: "PUT", body: JSON.stringify(state) });
    tell("asked");
    const answer = await told;
    if (!waiting) tell("sent", answer);
    fetchKnobs(answer.version);
  } catch (problem) {
    tell("problem", { problem: problem.message, keys: [] });
  }
  sending = false;
  if (waiting) { waiting = false; send(); }
}

async function fetchKnobs(version) {
  try {
    const opened = await ask("/api/state");
    if (opened.version >= version) tell("opened", opened);
  } catch (problem) {
    tell("problem", { problem: problem.message, keys: [] });
  }
}

// --- changes

/** Changes the state by `act`, which gets a copy. Changes with the same `key` in a second are undone together. */
export function change(act, key = "") {
  const copy = JSON.parse(JSON.stringify(state)), now = performance.now();
  act(copy);
  if (JSON.stringify(copy) === JSON.stringify(state)) return;
  if (!key || key !== lastKey || now - lastTime > 1000) before.push(state);
  if (before.length > 200) before.shift();
  [lastKey, lastTime, after] = [key, now, []];
  times.event = now;
  adopt(copy);
}

function adopt(other) {
  state = { set: other.set || [], texts: other.texts || {}, pins: other.pins || [] };
  if (other.seed !== undefined) state.seed = other.seed;
  send(); // first: what the page draws of the change costs milliseconds
  write();
  tell("state");
}

export function setValue(path, value, key = path) {
  change((copy) => {
    copy.set = copy.set.filter((text) => keyOf(text) !== path);
    if (value !== null) copy.set.push(`${path}=${value}`);
  }, key);
}

export function undo() { step(before, after); }
export function redo() { step(after, before); }
function step(from, to) {
  if (from.length === 0) return;
  to.push(state);
  lastKey = "";
  times.event = performance.now();
  adopt(from.pop());
}
export function canUndo() { return before.length > 0; }
export function canRedo() { return after.length > 0; }

// --- answers, as they come

async function listen() {
  for (;;) {
    try {
      const answer = await ask(`/api/answer?after=${sequence}&brief=1`);
      if (answer.sequence < sequence) continue;
      sequence = answer.sequence;
      tell("answer", answer);
    } catch (problem) {
      tell("problem", { problem: `the server does not answer: ${problem.message}`, keys: [] });
      await new Promise((go) => setTimeout(go, 1000));
      sequence = 0;
    }
  }
}

export function begin() {
  const stated = decoded();
  if (stated) adopt(stated); else ask("/api/state").then(async (opened) => {
    adopt(opened.state);
  }).catch((problem) => tell("problem", { problem: problem.message, keys: [] }));
  addEventListener("hashchange", () => {
    const other = decoded();
    if (other && JSON.stringify(other) !== JSON.stringify(state)) { before.push(state); adopt(other); }
  });
  listen();
}
