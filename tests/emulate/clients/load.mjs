// Streams of completions at a rate, from one process: node load.mjs URL REQUESTS RATE_PER_S PROMPT_TOKENS OUTPUT_TOKENS
// Prints {requests, failed, at_once, tokens, seconds, tokens_per_s, ttft_ms: {mean, p50, p99}, tpot_ms: {...}}; at_once:
// streams that had a token and not yet the last. A file behind them gets a line "ID TTFT_MS TPOT_MS" per request. At most
// 100,000 requests and 120 s.
import http from "node:http";
import { appendFileSync } from "node:fs";

const [url, requests, rate, prompt, output, file] = process.argv.slice(2);
const count = Math.min(Number(requests), 100000);
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });
const rows = [];
let failed = 0, tokens = 0, begun = 0, streaming = 0, atOnce = 0;

function stream(number) {
  return new Promise((resolve) => {
    const body = JSON.stringify({ prompt: Array.from({ length: Number(prompt) }, (_, i) => 1000 * number + i),
      max_tokens: Number(output), ignore_eos: true, stream: true });
    const start = performance.now();
    let first = 0, last = 0, seen = 0, id = "";
    const request = http.request(url + "/v1/completions", { method: "POST", agent,
      headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) } }, (answer) => {
      answer.setEncoding("utf8");
      answer.on("data", (text) => {
        const now = performance.now();
        if (!id) id = (/"id":"([^"]+)"/.exec(text) ?? ["", ""])[1];
        const pieces = text.split('"text":" a"').length - 1;
        if (pieces === 0) return;
        if (!first) {
          first = now;
          streaming += 1;
          atOnce = Math.max(atOnce, streaming);
        }
        last = now;
        seen += pieces;
      });
      answer.on("close", () => { if (first) streaming -= 1; });
      answer.on("end", () => {
        if (answer.statusCode !== 200 || seen !== Number(output)) failed += 1;
        else rows.push([id, first - start, seen > 1 ? (last - first) / (seen - 1) : 0]);
        tokens += seen;
        resolve();
      });
      answer.on("error", () => { failed += 1; resolve(); });
    });
    request.on("error", () => { failed += 1; resolve(); });
    request.end(body);
  });
}

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
  return { mean: values.reduce((a, b) => a + b, 0) / values.length, p50: at(0.5), p99: at(0.99) };
}

setTimeout(() => { console.error("load.mjs: more than 120 s"); process.exit(3); }, 120000).unref();
const start = performance.now();
const all = [];
while (begun < count) {
  const due = start + (1000 * begun) / Number(rate);
  const wait = due - performance.now();
  if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
  all.push(stream(begun));
  begun += 1;
}
await Promise.all(all);
const seconds = (performance.now() - start) / 1000;
if (file) appendFileSync(file, rows.map((row) => row.join(" ")).join("\n") + "\n");
console.log(JSON.stringify({ requests: count, failed, at_once: atOnce, tokens, seconds, tokens_per_s: tokens / seconds,
  ttft_ms: summary(rows.map((row) => row[1])), tpot_ms: summary(rows.map((row) => row[2])) }));
process.exit(failed > 0 ? 1 : 0);
