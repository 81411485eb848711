// Clients that behave badly, against an emulated server: node rough.mjs URL CASES
// CASES: connections with random bytes. Everything is bounded in count and time.
import assert from "node:assert/strict";
import net from "node:net";

const url = new URL(process.argv[2]);
const cases = Math.min(Number(process.argv[3] ?? 300), 200000);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// Sends bytes, pieces of them 100 ms apart, and returns what comes until the other side closes, or until `ms` have passed.
function raw(bytes, ms = 3000) {
  return new Promise((resolve) => {
    const socket = net.connect(Number(url.port), url.hostname);
    let text = "", closed = false;
    const done = () => { socket.destroy(); resolve({ text, closed }); };
    const timer = setTimeout(done, ms);
    socket.on("data", (data) => { text += data.toString("latin1"); });
    socket.on("close", () => { closed = true; clearTimeout(timer); done(); });
    socket.on("error", () => {});
    socket.on("connect", async () => {
      for (const [i, each] of [bytes].flat().entries()) {
        if (i > 0) await wait(100);
        if (!socket.destroyed) socket.write(each);
      }
    });
  });
}

const post = (path, body, more = "") =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;
const completion = (more) => JSON.stringify({ prompt: [1, 2, 3], max_tokens: 3, ignore_eos: true, ...more });
const status = (answer) => Number((/^HTTP\/1\.[01] (\d+)/.exec(answer.text) ?? [0, 0])[1]);
const state = async () => (await fetch(new URL("/admin/state", url))).json();

const tests = {
  async "HTTP/1.0 is answered, and the connection closes"() {
    const body = completion({ stream: true });
    const answer = await raw(`POST /v1/completions HTTP/1.0\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    assert.equal(status(answer), 200);
    assert.ok(answer.closed && answer.text.includes("[DONE]"));
  },
  async "requests in one piece are answered one after the other"() {
    const one = post("/v1/completions", completion({}));
    const answer = await raw(one + one + post("/v1/completions", completion({}), "Connection: close\r\n"));
    assert.equal(answer.text.split("HTTP/1.1 200").length - 1, 3);
  },
  async "Expect: 100-continue is answered"() {
    const [head, body] = post("/v1/completions", completion({}), "Expect: 100-continue\r\nConnection: close\r\n")
      .split("\r\n\r\n");
    const answer = await raw([head + "\r\n\r\n", body]);
    assert.ok(answer.text.includes("100 Continue") && answer.text.includes("200 OK"));
  },
  async "bodies that are too long, broken or too deep are refused"() {
    const long = await raw("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n");
    assert.ok([400, 413].includes(status(long)), `status ${status(long)}`);
    for (const body of ["", "{", "[1]", '{"prompt":' + "[".repeat(100000), '{"prompt":"a","max_tokens":1e999}', "\u0000"])
      assert.equal(status(await raw(post("/v1/completions", body, "Connection: close\r\n"))), 400);
  },
  async "headers that are too long are refused"() {
    const answer = await raw(`GET /health HTTP/1.1\r\nA: ${"a".repeat(200000)}\r\n\r\n`);
    assert.notEqual(status(answer), 200);
  },
  async "other methods and paths have their status"() {
    for (const [first, wanted] of [["GET /v1/completions", 405], ["GET /nothing", 404], ["HEAD /health", 200],
      ["DELETE /v1/models", 501], ["POST /admin/nothing", 404], ["POST /admin/slow", 200]]) {
      const answer = await raw(`${first} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      assert.ok(status(answer) === wanted || (wanted === 501 && status(answer) === 405), `${first}: ${status(answer)}`);
    }
  },
  async "what /admin cannot do is refused, and the server goes on"() {
    for (const [path, body] of [["slow", '{"replica":99}'], ["fail", '{"replica":0}'], ["slow", '{"factor":"a"}'], ["set", "[]"],
      ["set", "{"], ["set", '{"a":1}'], ["slow", "{"], ["nothing", "{}"]]) {
      const answer = await raw(post("/admin/" + path, body, "Connection: close\r\n"));
      assert.ok([400, 404].includes(status(answer)), `${path} ${body}: ${status(answer)}`);
    }
  },
  async "a client that does not read is cut off, and nothing of it stays"() {
    const socket = net.connect(Number(url.port), url.hostname);
    socket.on("error", () => {});
    socket.pause();
    socket.write(post("/v1/completions", completion({ max_tokens: 100000, stream: true })));
    await wait(1000);
    socket.destroy();
    await wait(500);
    assert.equal((await state()).streams, 0);
  },
  async "half a request ends when its time is over"() {
    const slow = await Promise.all(Array.from({ length: 200 }, async () => {
      const answer = raw(["POST /v1/completions HTTP/1.1\r\n", "Host: localhost\r\n"], 8000);
      return answer;
    }));
    assert.ok(slow.every((each) => each.closed), "some half-open connections stay");
  },
  async "random bytes change nothing"() {
    const good = [post("/v1/completions", completion({ stream: true })), post("/v1/messages", completion({})),
      "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", post("/tokenize", '{"prompt":"a"}')];
    let seed = 1;
    const dice = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
    const one = async () => {
      const bytes = Buffer.from(good[dice(good.length)] + good[dice(good.length)]);
      for (let i = dice(8); i >= 0; i -= 1) bytes[dice(bytes.length)] = dice(256);
      await raw(bytes.subarray(0, dice(4) === 0 ? dice(bytes.length) : bytes.length), 60);
    };
    const start = Date.now();
    for (let i = 0; i < cases && Date.now() - start < 60000; i += 50)
      await Promise.all(Array.from({ length: Math.min(50, cases - i) }, one));
    assert.equal((await fetch(new URL("/health", url))).status, 200);
  },
  async "nothing is left"() {
    for (let i = 0; i < 50 && (await state()).streams > 0; i += 1) await wait(100);
    const now = await state();
    assert.equal(now.streams, 0);
    for (const replica of now.replicas) assert.equal(replica.running + replica.waiting + replica.used_blocks, 0);
  },
};

setTimeout(() => { console.error("rough.mjs: more than 150 s"); process.exit(3); }, 150000).unref();
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log("passed: " + name);
  } catch (error) {
    failed += 1;
    console.log("FAILED: " + name + "\n" + (error.stack ?? error));
  }
}
process.exit(failed > 0 ? 1 : 0);
