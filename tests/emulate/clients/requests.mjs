// Completions at given times: node requests.mjs URL < LINES, a line "AT_S PROMPT_TOKENS OUTPUT_TOKENS" each.
// Exit status 1: a request was not answered in full. At most 120 s.
import http from "node:http";
import { readFileSync } from "node:fs";

const url = process.argv[2];
const rows = readFileSync(0, "utf8").trim().split("\n").map((line) => line.split(" ").map(Number));
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
let failed = 0;

function completion(number, prompt, output) {
  return new Promise((resolve) => {
    const body = JSON.stringify({ prompt: Array.from({ length: prompt }, (_, i) => 100000 * number + i),
      max_tokens: output, ignore_eos: true });
    const request = http.request(url + "/v1/completions", { method: "POST", agent,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) } }, (answer) => {
      let text = "";
      answer.on("data", (piece) => { text += piece; });
      answer.on("end", () => {
        if (answer.statusCode !== 200 || JSON.parse(text).usage.completion_tokens !== output) failed += 1;
        resolve();
      });
      answer.on("error", () => { failed += 1; resolve(); });
    });
    request.on("error", () => { failed += 1; resolve(); });
    request.end(body);
  });
}

setTimeout(() => { console.error("requests.mjs: more than 120 s"); process.exit(3); }, 120000).unref();
const start = performance.now();
await Promise.all(rows.map(async ([at, prompt, output], number) => {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + 1000 * at - performance.now())));
  await completion(number, prompt, output);
}));
process.exit(failed > 0 ? 1 : 0);
