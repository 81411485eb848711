// What Prometheus says of 35 s of an emulated server's load against the requests that the server wrote down:
//   node prometheus.mjs PROMETHEUS LIVE.CSV CLOCK_S NOW_S     the scenario's clock at NOW_S, in seconds since 1970
import { readFileSync } from "node:fs";

const [url, path, clock, now] = process.argv.slice(2);
const window = 35, [head, ...lines] = readFileSync(path, "utf8").trim().split("\n");
const names = head.split(",");
const rows = lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [names[i], cell])))
  .filter((row) => row.outcome === "completed")
  .map((row) => ({ end: Number(row.arrival_s) + Number(row.e2e_s), e2e: Number(row.e2e_s), ttft: Number(row.ttft_s),
    first: Number(row.arrival_s) + Number(row.ttft_s), tpot: Number(row.tpot_s), prompt: Number(row.prompt_tokens),
    output: Number(row.output_tokens) }));

// rate() reaches back over the first sample of its window only as far as the counter would not be below 0.
const from = Math.min(...rows.map((row) => row.end)) + 5, to = from + window;
const within = (at) => at > from && at <= to;
const ended = rows.filter((row) => within(row.end)), begunRows = rows.filter((row) => within(row.first));
const sum = (list, key) => list.reduce((total, row) => total + row[key], 0);
/// Tokens of an answer in the window, as if they came evenly.
const tokens = rows.reduce((total, row) => {
  for (let i = 0; i < row.output; ++i) total += within(row.first + i * row.tpot) ? 1 : 0;
  return total;
}, 0);

async function ask(query) {
  const text = `${url}/api/v1/query?time=${Number(now) - Number(clock) + to}&query=${encodeURIComponent(query)}`;
  const answer = await (await fetch(text)).json();
  return Number(answer.data.result[0]?.value[1] ?? NaN);
}

const rate = (series) => `sum(rate(vllm:${series}[${window}s]))`;
const expected = [
  ["requests/s", rate("request_success_total"), ended.length / window],
  ["output tokens/s", rate("generation_tokens_total"), tokens / window],
  ["prompt tokens/s", rate("prompt_tokens_total"), sum(begunRows, "prompt") / window],
  ["mean E2E s", `${rate("e2e_request_latency_seconds_sum")} / ${rate("e2e_request_latency_seconds_count")}`,
    sum(ended, "e2e") / ended.length],
  ["mean TTFT s", `${rate("time_to_first_token_seconds_sum")} / ${rate("time_to_first_token_seconds_count")}`,
    sum(begunRows, "ttft") / begunRows.length],
];
let wrong = rows.length < 500 || ended.length < 300;
for (const [name, query, right] of expected) {
  const found = await ask(query), off = Math.abs(found / right - 1);
  console.log(`${name}: ${found.toPrecision(5)} and ${right.toPrecision(5)}, ${(100 * off).toFixed(2)} % apart`);
  wrong ||= !(off < 0.01);
}
process.exit(wrong ? 1 : 0);
