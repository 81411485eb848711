// The pure functions of a page's script, as a page has them: node page_script.js PAGE [choice].
// With "choice" the page is one of more variants than it draws, and its script has the functions of choice.js, too.
const assert = require("assert");
const fs = require("fs");
const text = fs.readFileSync(process.argv[2], "utf8");
const script = /<script>\/\/<!\[CDATA\[([^]*)\/\/\]\]><\/script>/.exec(text)[1];
assert.ok(script.length < (process.argv[3] ? 21000 : 12000), "the script has " + script.length + " bytes");
const module_ = { exports: null };
new Function("module", script)(module_);
const page = module_.exports;

for (const [cell, value] of [["1,234", 1234], ["12.5 %", 12.5], ["-4 %", -4], ["+4 %", 4], ["15 ms", 0.015],
  ["1.5 s", 1.5], ["3.2 GB/s", 3.2e9], ["x3.1", 210], ["2 us", 2e-6], ["128 tokens", 128]])
  assert.ok(Math.abs(page.number(cell) - value) <= 1e-9 * Math.abs(value), cell);
for (const cell of ["", "-", "kernels", "tp=4"]) assert.ok(Number.isNaN(page.number(cell)), cell);
assert.ok(page.number("<0.1 %") < page.number("0.1 %"));
assert.ok(page.number(">99.9 %") > page.number("99.9 %"));

const order = (cells, down) => page.order(cells, down).map((i) => cells[i]).join(" ");
assert.equal(order(["10", "9", "-", "1,000"], false), "9 10 1,000 -");
assert.equal(order(["10", "9", "-", "1,000"], true), "1,000 10 9 -");
assert.equal(order(["tp=16", "tp=2", "tp=8"], false), "tp=2 tp=8 tp=16");
assert.deepEqual(page.order(["5", "5", "5"], true), [0, 1, 2]);

assert.equal(page.difference("12", "10"), "+20.0 %");
assert.equal(page.difference("8 ms", "16 ms"), "-50.0 %");
assert.equal(page.difference("40", "10"), "x4");
assert.equal(page.difference("10", "10"), "0 %");
assert.equal(page.difference("-", "10"), "");
assert.equal(page.difference("3", "0"), "");

for (const text of ["linear|2|12|30|430|s|time", "log|0.1|1000|30|430|ms|", "percentile|0|0.999|30|430||share"]) {
  const axis = page.axis(text);
  for (const px of [30, 100, 431 - 1])
    assert.ok(Math.abs(page.pixel(axis, page.value(axis, px)) - px) < 1e-6, text);
  const ticks = page.ticks(axis, 5);
  assert.ok(ticks.length >= 2 && ticks.length <= 11, text + ": " + ticks);
  for (const tick of ticks) assert.ok(tick >= axis.low && tick <= axis.high * (1 + 1e-9), text + ": " + tick);
}
assert.deepEqual(page.ticks(page.axis("linear|3.2|9.1|0|1||"), 5), [4, 6, 8]);
assert.deepEqual(page.ticks(page.axis("log|1|1000|0|1||"), 5), [1, 10, 100, 1000]);
assert.deepEqual(page.ticks(page.axis("log|2|150|0|1||"), 5), [3, 10, 30, 100]);
assert.ok(page.matches("tp=2, rate_per_s=40", "rate_per_s=4 tp=2") && !page.matches("tp=2", "tp=2 rate"));
assert.ok(page.matches("anything", ""));
assert.equal(page.at(["0,0", "10,20", "20,0"], 5), 10);
assert.equal(page.at(["0,0", "10,20"], 11), null);
assert.equal(page.shown(page.axis("percentile|0|1|0|1||"), 0.99), "p99");

assert.equal(page.csv({ variants: [
  { name: "a,b", parameters: { tp: 1 }, summary: { ttft_s: { p50: 0.5 }, slo: null, replicas: [1] } },
  { name: 'say "x"', parameters: { tp: 2 }, summary: {} } ] }),
  'name,tp,ttft_s_p50,slo\n"a,b",1,0.5,\n"say ""x""",2,,\n');

if (process.argv[3]) {
  const steps = { kind: "linear", steps: true, unit: "ms", label: "", x: { kind: "linear", unit: "s", label: "t" },
    limits: [], curves: [[2.5, 1, [4, 4, 6]], 0] };
  assert.deepEqual(page.points(steps, 0), [[0, 4], [1, 4], [2, 4], [2, 6], [2.5, 6]]);
  assert.deepEqual(page.points(steps, 1), []);
  const shares = { kind: "log", steps: false, unit: "ms", label: "", x: { kind: "percentile", unit: "", label: "" },
    xs: [0, 0.5, 0.9], limits: [[20, "SLO 20 ms"], [5000, "SLO 5000 ms"]],
    curves: [[0.95, 0, [1, 2, 4, 10]], [0.6, 0, [0, 3]]] };
  assert.deepEqual(page.points(shares, 0), [[0, 1], [0.5, 2], [0.9, 4], [0.95, 10]]);
  assert.deepEqual(page.points(shares, 1), [[0.6, 3]]); // no place on a logarithmic axis for 0
  const axes = page.axes(shares, [page.points(shares, 0)]);
  assert.ok(axes.y.low < 1 && axes.y.high > 20 && axes.y.high < 100); // the near limit, not the far one
  assert.equal(axes.x.high, 0.95);
  const linear = page.axes(steps, [page.points(steps, 0)]);
  assert.deepEqual([linear.y.low, linear.y.high, linear.x.high], [0, 6, 2.5]);
  const empty = page.axes(steps, []);
  assert.ok(empty.y.high > empty.y.low && empty.x.high > empty.x.low);
  assert.equal(page.above(0, 83), 100);
  assert.deepEqual(page.first(["tp=1", "tp=2", "tp=12"], "tp=1", 2), [0, 2]);
  assert.deepEqual(page.first(["a", "b", "c"], "", 2), [0, 1]);
  assert.equal(page.style(8), "s1 again");
} else {
  assert.equal(page.first, undefined);
}
console.log("ok");
