// Connections that never send a whole request: node half_open.mjs URL COUNT AT_ONCE
// Meanwhile a client that behaves sends a request every 250 ms. Prints {connected, closed, failed, seconds, answered,
// refused, slowest_ms}: `closed` of the connections by the server, `failed` those that did not come about, `answered` and
// `refused` of the requests. Each connection comes from one of the addresses 127.0.0.2 to 127.0.0.9. At most 150 s.
import http from "node:http";
import net from "node:net";

const url = new URL(process.argv[2]);
const count = Math.min(Number(process.argv[3]), 200000), most = Math.min(Number(process.argv[4]), 18000);
const start = performance.now();
let begun = 0, open = 0, connected = 0, closed = 0, failed = 0, answered = 0, refused = 0, slowest = 0, over = false;

function halfOpen(number) {
  return new Promise((resolve) => {
    let up = false;
    open += 1;
    const socket = net.connect({ port: Number(url.port), host: url.hostname, localAddress: `127.0.0.${2 + (number % 8)}` });
    socket.setTimeout(60000, () => socket.destroy());
    socket.on("connect", () => { up = true; connected += 1; socket.write("POST /v1/completions HTTP/1.1\r\nHost: a\r\n"); });
    socket.on("error", () => {});
    socket.on("data", () => {});
    socket.on("close", () => { open -= 1; if (up) closed += 1; else failed += 1; resolve(); });
  });
}

function ask() {
  return new Promise((resolve) => {
    const body = JSON.stringify({ prompt: [1, 2, 3], max_tokens: 2, ignore_eos: true }), sent = performance.now();
    const request = http.request(new URL("/v1/completions", url), { method: "POST", agent: false, timeout: 20000,
      headers: { "content-length": body.length } }, (answer) => {
      answer.resume();
      answer.on("end", () => {
        if (answer.statusCode === 200) answered += 1; else refused += 1;
        slowest = Math.max(slowest, performance.now() - sent);
        resolve();
      });
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => { refused += 1; slowest = Math.max(slowest, performance.now() - sent); resolve(); });
    request.end(body);
  });
}

const asked = [];
const asking = setInterval(() => { if (!over) asked.push(ask()); }, 250);
setTimeout(() => { console.error(`half_open.mjs: more than 150 s: ${connected} connected, ${open} open`); process.exit(3); }, 150000).unref();
const all = [];
while (begun < count) {
  while (begun < count && open < most) all.push(halfOpen(begun++));
  await new Promise((resolve) => setTimeout(resolve, 2));
}
await Promise.all(all);
over = true;
clearInterval(asking);
await Promise.all(asked);
console.log(JSON.stringify({ connected, closed, failed, seconds: (performance.now() - start) / 1000, answered, refused,
  slowest_ms: slowest }));
process.exit(refused > 0 || connected + failed !== count ? 1 : 0);
