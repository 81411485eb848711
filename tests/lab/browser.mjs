// Drives the page of a laboratory: browser.mjs PROGRAM CHROMIUM SOURCE ["latency"]. See browser.sh.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import puppeteer from "puppeteer-core";

const [program, chromium, source, mode] = process.argv.slice(2);
const turns = Number(process.env.ROOFLUA_LAB_TURNS || 25);
let failed = 0;
const check = (ok, sentence, found = "") => {
  if (!ok) failed++;
  console.log(ok ? "passed:" : "FAILED:", sentence, ok ? "" : found);
};
const wait = (ms) => new Promise((go) => setTimeout(go, ms));

async function lab(file) {
  const child = spawn(program, ["lab", file, "--no-open", "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((go) => child.stdout.once("data", (text) => go(String(text).split("\n")[0])));
  return { child, address };
}

async function open(browser, address, problems) {
  const page = await browser.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 422|status of 409/.test(message.text())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(address, { waitUntil: "domcontentloaded" });
  await settled(page);
  return page;
}

/** Until the answer is whole, or refused, and of the state that was sent last; for latencies until there are numbers. */
async function settled(page, isRefused = false) {
  await page.waitForFunction((refused, any) => {
    const place = document.getElementById("answer");
    return document.querySelector(".knob") && place.dataset.sent === place.dataset.version
      && (refused ? place.dataset.problem : !place.dataset.problem
      && (any || place.dataset.whole === "true") && !place.classList.contains("old"));
  }, { timeout: 30000 }, isRefused, mode === "latency");
}

/** Waits for the answer to a change that was just made. */
async function changed(page, act, isRefused = false) {
  const before = await page.$eval("#answer", (place) => Number(place.dataset.version));
  await act();
  await page.waitForFunction((version) => Number(document.getElementById("answer").dataset.version) > version,
    { timeout: 30000 }, before);
  await settled(page, isRefused);
}

const row = (path) => `.knob[data-path="${path}"]`;
const numbers = (page) => page.$$eval(".card", (cards) => Object.fromEntries(cards.map((card) => [card.dataset.column,
  card.querySelector("b").textContent])));
const state = (page) => page.evaluate(() => {
  const text = location.hash.slice(1).replace(/-/g, "+").replace(/_/g, "/");
  return text ? JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))) : { set: [] };
});

async function type(page, path, text) {
  await page.click(`${row(path)} input`, { count: 3 });
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
}

async function search(page, words) {
  await page.$eval("#search", (field) => { field.value = ""; });
  await page.click("#search");
  await page.keyboard.type(words);
}

/** What the page shows is what the command says. */
async function sameAsCommand(page, sentence) {
  const own = await state(page);
  const words = ["run", "small.lua", "--quiet", "--json", "command.json", ...own.set.flatMap((text) => ["--set", text])];
  execFileSync(program, words, { stdio: "ignore" });
  const summary = JSON.parse(readFileSync("command.json", "utf8")).variants[0].summary;
  const shown = await numbers(page), token = new URL(page.url()).searchParams.get("token");
  const json = await page.evaluate(async (given) => (await fetch(`/api/export/json?token=${given}`)).text(), token);
  check(json === readFileSync("command.json", "utf8"), `${sentence}: its JSON has the bytes of the command`);
  check(Number(shown.completed) === summary.completed, `${sentence}: completed requests`, [shown.completed, summary.completed]);
}

async function walk(browser, problems) {
  const { child, address } = await lab("small.lua");
  const page = await open(browser, address, problems);
  await page.setViewport({ width: 1500, height: 950 });
  await wait(1500);
  await page.screenshot({ path: "wide.png" });
  const first = await numbers(page);
  check(Object.keys(first).length > 8, "the answer has numbers", first);

  const box = await (await page.$(`${row("workload.rate_per_s")} label`)).boundingBox();
  await changed(page, async () => {
    await page.mouse.move(box.x + 10, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 150, box.y + 8, { steps: 12 });
    await page.mouse.up();
    await wait(300);
  });
  const dragged = Number((await state(page)).set[0].split("=")[1]);
  check(dragged > 16, "a number is dragged", dragged);
  await sameAsCommand(page, "dragged");
  check(JSON.stringify(await numbers(page)) !== JSON.stringify(first), "and the answer moves");

  await changed(page, () => type(page, "workload.rate_per_s", "0.012k"));
  check((await state(page)).set[0] === "workload.rate_per_s=12", "a number is typed, with a unit", await state(page));
  await search(page, "chunked");
  check(await page.$$eval(".knob", (all) => all.length > 0 && all.every((one) => one.textContent.includes("chunked"))),
    "settings are searched");
  await page.keyboard.press("Escape");

  await changed(page, () => type(page, "scheduler.max_num_seqs", "-3"), true);
  check(await page.$eval(`${row("scheduler.max_num_seqs")} .error`, (each) => each.textContent.includes("max_num_seqs")),
    "a refused value has its error beside it");
  check(await page.$eval("#answer", (each) => each.classList.contains("old")), "the last answer stays, greyed");
  await page.screenshot({ path: "refused.png" });
  await changed(page, () => page.click("#undo"));
  check((await state(page)).set.length === 1, "undo takes it back");

  await page.click("#pin");
  await changed(page, () => type(page, "deployment.tp", "2"));
  await page.waitForFunction(() => /[-+]\d+\.\d %/.test(document.getElementById("pins").textContent), { timeout: 15000 });
  await page.waitForFunction(() => document.querySelectorAll(".card .delta").length > 3, { timeout: 15000 });
  check(true, "changes against the pin stand in the cards");
  await page.screenshot({ path: "pinned.png" });

  for (const digit of ["2", "5", "1"]) {
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press(digit);
    await page.waitForFunction(() => document.getElementById("picture").dataset.whole === "true"
      && !document.getElementById("picture").classList.contains("old"), { timeout: 30000 });
    check(await page.$$eval("#picture svg, #picture pre", (all) => all.length > 0), `picture ${digit} is drawn`);
    await page.screenshot({ path: `picture${digit}.png` });
  }

  await opensStep(page);
  await page.keyboard.press("e");
  await page.waitForFunction(() => document.getElementById("text").value.length > 100);
  await page.select("#file", "small.lua");
  await page.waitForFunction(() => document.getElementById("text").value.includes("A small server"));
  await page.click("#edit");
  await settled(page);
  await changed(page, async () => {
    await page.$eval("#text", (text) => { text.selectionStart = text.selectionEnd = 0; });
    await page.focus("#text");
    await page.keyboard.type("this is wrong\n");
  }, true);
  check(await page.$eval("#fault", (each) => each.textContent.startsWith("line 1")), "an error of an edited file names its line",
    await page.$eval("#fault", (each) => each.textContent));
  await page.screenshot({ path: "edited.png" });
  await changed(page, async () => {
    await page.$eval("#text", (text) => {
      text.value = text.value.replace("this is wrong\n", "").replace("num_requests = 300", "num_requests = 70");
      text.dispatchEvent(new Event("input"));
    });
  });
  check((await numbers(page)).completed === "70", "it is mended, and in force", await numbers(page));
  check((await page.$$("#difference .plus")).length === 1, "its difference is shown");
  rmSync("saved.lua", { force: true });
  await page.$eval("#save-as", (field) => { field.value = "saved.lua"; });
  await page.click("#save");
  await page.waitForFunction(() => document.getElementById("saved").textContent.startsWith("saved"));
  check(existsSync("saved.lua") && readFileSync("small.lua", "utf8").includes("300"), "it is saved beside the scenario, alone");
  await page.click("#save");
  await page.waitForFunction(() => !document.getElementById("replace").hidden);
  check(true, "it is replaced only by another click");
  await changed(page, () => page.click("#discard"));
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("e");

  const before = [await state(page), await numbers(page)];
  await page.reload({ waitUntil: "domcontentloaded" });
  await settled(page);
  check(JSON.stringify([await state(page), await numbers(page)]) === JSON.stringify(before), "a reload shows the same");
  check(await page.$eval("#as-command", (field) => field.value.includes("--set deployment.tp=2")), "the command is told");

  await byKeyboard(page);
  await looks(page);
  await randomly(page, problems);
  await page.close();
  child.kill("SIGTERM");
  const status = await new Promise((go) => child.once("exit", go));
  check(status === 0, "TERM ends it", status);
}

/** A step and a request are opened from the picture of one second: by Enter and by a click. Pins have several seeds. */
async function opensStep(page) {
  const heading = () => page.$eval("#picture h2", (each) => each.textContent);
  const drawn = (words) => page.waitForFunction((start) => {
    const own = document.querySelector("#picture:not(.old) h2");
    return own && own.textContent.startsWith(start);
  }, { timeout: 30000 }, words);
  await page.click('#tabs button[data-name="steps"]');
  await drawn("One second");
  await page.screenshot({ path: "second.png" });
  await page.evaluate(() => document.querySelector('#picture [tabindex="0"]').focus());
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await drawn("A step of replica 1");
  check(true, "Enter opens a step", await heading());
  await page.$eval("#picture svg title", (title) => title.parentNode.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  check(await page.$eval("#picture .picked", (line) => line.textContent.length > 5), "a click tells what a point is");
  await page.screenshot({ path: "step.png" });
  await page.click('#tabs button[data-name="steps"]');
  await drawn("One second");
  await page.$eval('#picture [data-open^="request/"] text', (row) => row.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await drawn("Request ");
  check(true, "a click opens a request", await heading());
  await page.waitForFunction(() => [...document.querySelectorAll("#pins .delta")].some((each) => /5 seeds/.test(each.title)),
    { timeout: 30000 });
  check(true, "changes against the pin are over five seeds");
  await page.evaluate(() => document.activeElement.blur());
}

async function byKeyboard(page) {
  await changed(page, async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("rate_per_s");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowUp");
  });
  check((await state(page)).set.some((text) => text === "workload.rate_per_s=12.6"), "the keyboard alone: search, step",
    await state(page));
  await page.evaluate(() => document.activeElement.blur());
  await changed(page, () => page.keyboard.press("u"));
  check(!(await state(page)).set.includes("workload.rate_per_s=12.6"), "and undo");
  const isReachable = await page.evaluate(() => [...document.querySelectorAll("button, a[href], input, select, summary, textarea")]
    .every((each) => each.tabIndex >= 0));
  check(isReachable, "every control is reached by Tab");
  await page.$eval("#search", (field) => { field.value = ""; field.dispatchEvent(new Event("input")); });
}

/** Nothing overflows, dark and light, narrow and wide. */
async function looks(page) {
  for (const scheme of ["dark", "light"]) {
    for (const width of [1000, 1500]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await page.setViewport({ width, height: 900 });
      await wait(400);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(over <= 0, `${scheme}, ${width} px: nothing stands beside the page`, over);
      const bottom = await page.$eval(".cards, #answer table", (each) => each.getBoundingClientRect().bottom);
      check(bottom < 900, `${scheme}, ${width} px: the answer needs no scrolling`, bottom);
      await page.screenshot({ path: `${scheme}${width}.png` });
    }
  }
}

/** Random turns: nothing fails, and what is shown in the end is what the command says. */
async function randomly(page, problems) {
  let seed = 7;
  const dice = (most) => { seed = (seed * 48271) % 2147483647; return seed % most; };
  const heap = async () => (await page.metrics()).JSHeapUsedSize / 1e6;
  const before = await heap();
  for (let i = 0; i < turns; i++) {
    const paths = ["workload.rate_per_s", "scheduler.max_num_seqs", "deployment.tp", "workload.output_tokens"];
    const path = paths[dice(paths.length)], act = dice(8);
    if (act < 4) await page.evaluate((p, value) => {
      const field = document.querySelector(`.knob[data-path="${p}"] input`);
      if (!field) return;
      field.value = value;
      field.dispatchEvent(new Event("change"));
    }, path, String([1, 2, 4, 8][dice(4)]));
    else if (act === 4) await page.click("#undo").catch(() => {});
    else if (act === 5) await page.click("#redo").catch(() => {});
    else if (act === 6) await page.evaluate((n) => document.querySelectorAll("#tabs button")[n]?.click(), dice(9));
    else await page.evaluate((p) => document.querySelector(`.knob[data-path="${p}"] button`)?.click(), path);
    if (dice(3) === 0) await wait(dice(150));
  }
  await wait(1000);
  await settled(page);
  await sameAsCommand(page, `after ${turns} random turns`);
  const grown = (await heap()) - before;
  check(grown < 60, `the page's memory grew by ${grown.toFixed(1)} MB`);
  check(problems.length === 0, "no error in the console", problems);
}

/** Milliseconds from the input event to the first numbers and to those of the whole run, over shipped scenarios. */
async function latency(browser, problems) {
  const names = ["02_chunk_size", "08_prefix_caching", "21_speculation", "26_host_memory", "32_agents", "37_gates", "38_fairness",
    "39_retries", "45_adapters", "48_front_end"];
  const every = { first: [], whole: [] };
  for (const name of names) {
    const { child, address } = await lab(`${source}/scenarios/${name}.lua`);
    const page = await open(browser, address, problems);
    const own = { first: [], whole: [] };
    for (let i = 1; i <= 9; i++) {
      const version = await page.$eval("#answer", (place) => Number(place.dataset.version));
      const told = await page.evaluate(async (seedValue, of) => {
        const field = document.querySelector('.knob[data-path="seed"] input');
        performance.clearMarks();
        const began = performance.now();
        field.value = String(seedValue);
        field.dispatchEvent(new Event("change"));
        const place = document.getElementById("answer"), out = {};
        await new Promise((go) => {
          const look = () => {
            const marks = performance.getEntriesByType("mark").filter((mark) => mark.detail > of);
            if (marks.length && out.first === undefined) out.first = performance.now() - began;
            if (marks.some((mark) => mark.name === "whole")) { out.whole = performance.now() - began; return go(); }
            if (performance.now() - began > (place.dataset.problem ? 500 : 5000)) return go();
            requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        });
        return out;
      }, 100 + i, version);
      for (const key of ["first", "whole"]) if (told[key] !== undefined) own[key].push(told[key]);
      await wait(400);
    }
    const middle = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
    const told = own.whole.length ? `${middle(own.whole).toFixed(0)} ms` : "not within 5 s";
    console.log(`${name}: first ${middle(own.first)?.toFixed(0)} ms, whole ${told}`);
    every.first.push(...own.first);
    every.whole.push(...own.whole);
    await page.close();
    child.kill("SIGTERM");
  }
  const middle = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)].toFixed(0);
  console.log(`p50 of ${every.first.length} changes: first ${middle(every.first)} ms, whole ${middle(every.whole)} ms`);
}

const browser = await puppeteer.launch({ executablePath: chromium, args: ["--no-sandbox"] });
const problems = [];
try {
  await (mode === "latency" ? latency : walk)(browser, problems);
} catch (problem) {
  check(false, "the walk goes to its end", problem);
}
await browser.close();
writeFileSync("problems.txt", problems.join("\n"));
process.exit(failed ? 1 : 0);
