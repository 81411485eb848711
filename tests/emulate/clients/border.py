"""What comes from outside, against an emulated server: border.py URL PID SECONDS [TOKEN]. Prints a line for each check.
With the TOKEN of a laboratory, against that one (tests/lab/api.py).

A list of RFC 9112's rules, requests of every kind cut into pieces, pipelined and mutated, and requests that want to
cost more than they weigh. Meanwhile another client asks for /health, and the memory of the server is looked at.
"""

import json
import random
import re
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

HOST, PORT = urlsplit(sys.argv[1]).hostname, urlsplit(sys.argv[1]).port
PID, SECONDS = int(sys.argv[2]), float(sys.argv[3])
TOKEN = sys.argv[4] if len(sys.argv) > 4 else ""
VERSION = f"/api/answer?now=1&brief=1&token={TOKEN}" if TOKEN else "/version"
HEALTH = VERSION if TOKEN else "/health"
FAILED = []


def check(sentence, holds, told=""):
    print("passed:" if holds else "FAILED:", sentence, "" if holds else told)
    if not holds:
        FAILED.append(sentence)


def raw(pieces, seconds=10.0, gap_s=0.0):
    """All that comes until the other side closes, or for so long."""
    client = socket.create_connection((HOST, PORT))
    client.settimeout(seconds)
    out = b""
    try:
        for piece in pieces:
            client.sendall(piece)
            if gap_s:
                time.sleep(gap_s)
        while True:
            part = client.recv(1 << 16)
            if not part:
                break
            out += part
    except OSError:
        pass
    client.close()
    return out


def message(first, headers="", body=b"", length=True):
    text = f"{first} HTTP/1.1\r\nHost: localhost\r\n{headers}"
    if length and (body or first.startswith(("POST", "PUT /api"))):
        text += f"Content-Length: {len(body)}\r\n"
    return text.encode() + b"\r\n" + body


def statuses(answer):
    return [int(each) for each in re.findall(rb"HTTP/1\.[01] (\d+) ", answer)]


def post(path, document, headers="Connection: close\r\n"):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    answer = raw([message(f"POST {path}", headers, body)], 60)
    head, _, rest = answer.partition(b"\r\n\r\n")
    status = (statuses(head) or [0])[-1]
    if b"chunked" in head.lower():
        return status, rest.decode()
    return status, json.loads(rest) if rest[:1] in (b"{", b"[") else rest.decode()


def rss_mb():
    with open(f"/proc/{PID}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) / 1024


SMALL = b'{"prompt":[1,2,3],"max_tokens":2,"ignore_eos":true}' if not TOKEN else b'{"set":["seed=3"]}'
CHUNKED = "Transfer-Encoding: chunked\r\n"
SHUT = "Connection: close\r\n"


def chunks(*sizes):
    out, at = b"", 0
    for size in sizes:
        out += f"{size:x}\r\n".encode() + SMALL[at:at + size] + b"\r\n"
        at += size
    return out + (f"{len(SMALL) - at:x}\r\n".encode() + SMALL[at:] + b"\r\n" if at < len(SMALL) else b"") + b"0\r\n\r\n"


def extended(text):
    """Two chunks, and the last one, with these extensions."""
    half = len(SMALL) // 2
    return re.sub(rb"(?m)^([0-9a-f]+)(?=\r\n)", lambda found: found[1] + text, chunks(half))


COMPLETE = "POST /v1/completions" if not TOKEN else f"PUT /api/state?token={TOKEN}"
UNTAKEN = ["PUT /v1/models", "DELETE /v1/completions"] if not TOKEN else [f"DELETE /api/state?token={TOKEN}"]
# section of RFC 9112, what is sent, the statuses that may come
RULES = [
    ("2.2 an empty line in front of a request", b"\r\n" + message("GET " + VERSION, SHUT), {200, 400}),
    ("2.3 a version that is not spoken", f"GET {VERSION} HTTP/3.0\r\nHost: localhost\r\n\r\n".encode(), {400, 505}),
    ("2.3 HTTP/1.0 needs no Host", f"GET {VERSION} HTTP/1.0\r\n\r\n".encode(), {200}),
    ("3 a request line of one word", b"GET\r\nHost: localhost\r\n\r\n", {400}),
    ("3 a method that is not known", message("BREW " + VERSION, SHUT), {405, 501}),
    *(("3 a method that the path does not take", message(first, SHUT), {405}) for first in UNTAKEN),
    ("3.2 no Host", f"GET {VERSION} HTTP/1.1\r\n\r\n".encode(), {400}),
    ("3.2 two Hosts", message("GET " + VERSION, "Host: b\r\n"), {400}),
    ("3.2.2 an absolute target", message("GET http://localhost" + VERSION, SHUT), {200}),
    ("3.2.4 OPTIONS *", message("OPTIONS *", SHUT), {200, 204, 403, 404, 405}),
    ("5.1 a space in front of the colon", message("GET " + VERSION, "A : b\r\n"), {400}),
    ("5.1 a header without a colon", message("GET " + VERSION, "abc\r\n"), {400}),
    ("5.2 a folded header", message("GET " + VERSION, "A: b\r\n c\r\n" + SHUT), {200, 400}),
    ("5.4 headers that are too long", message("GET " + VERSION, f"A: {'a' * 200000}\r\n"), {400, 413, 431}),
    ("6.1 both lengths", message(COMPLETE, CHUNKED + f"Content-Length: {len(SMALL)}\r\n", chunks(), False), {400}),
    ("6.1 a coding that is not known", message(COMPLETE, "Transfer-Encoding: gzip\r\n", b"", False), {400, 501}),
    ("6.1 a coding that is not known", message(COMPLETE, "Transfer-Encoding: gzip, chunked\r\n", chunks(), False),
     {400, 501}),
    ("6.3 two lengths", message(COMPLETE, "Content-Length: 3\r\n", SMALL), {400}),
    ("6.3 a negative length", message(COMPLETE, "Content-Length: -1\r\n", b"", False), {400}),
    ("6.3 a length that is no number", message(COMPLETE, "Content-Length: 5x\r\n", SMALL, False), {400}),
    ("6.3 a length with a sign", message(COMPLETE, f"Content-Length: +{len(SMALL)}\r\n", SMALL, False), {400}),
    ("6.3 a body that is too long", message(COMPLETE, "Content-Length: 99999999999\r\n", b"", False), {400, 413}),
    ("7.1 chunks", message(COMPLETE, CHUNKED + SHUT, chunks(), False), {200}),
    ("7.1 chunks of a byte", message(COMPLETE, CHUNKED + SHUT, chunks(*[1] * len(SMALL)), False), {200}),
    *((f"7.1 a malformed chunk {line!r}", message(COMPLETE, CHUNKED, line, False), {400}) for line in (
        b"zz\r\n", b"-5\r\nabc\r\n", b"+1\r\n{", b"0x1\r\n{", b" 1\r\n{", b"1 1\r\n{", b"1\n{", b"\r\n1\r\n{", b"1\r{",
        b";a=b\r\n", b"1;a\0\r\n{", b"1\r\n{\n", b"1\r\n{1\r\n", b"1;a\n{\r\n", chunks()[:-2] + b"A\r\n\r\n")),
    ("7.1 a chunk that is too long", message(COMPLETE, CHUNKED, b"fffffffffffffff\r\n", False), {413}),
    ("7.1 a chunk that is too long", message(COMPLETE, CHUNKED, b"f" * 40 + b"\r\n", False), {413}),
    *((f"7.1.1 extensions {text[:30]!r}", message(COMPLETE, CHUNKED + SHUT, extended(text), False), {200}) for text in (
        b";a", b";a=b", b' ; a = "b;c \\" d"', b";chunk-signature=" + b"0" * 64, b" ", b"\t;a", b";" + b"a" * 5000)),
    ("7.1.1 extensions that are too long", message(COMPLETE, CHUNKED, extended(b";" + b"a" * 17000), False), {413}),
    ("7.1.1 extensions without an end", message(COMPLETE, CHUNKED, b"1;" + b"a" * 17000, False), {413}),
    ("7.1.2 a trailer", message(COMPLETE, CHUNKED + SHUT, chunks()[:-2] + b"A: b\r\n\r\n", False), {200}),
    ("9.6 what expects another thing", message(COMPLETE, "Expect: tea\r\n", SMALL), {400, 417}),
    ("not HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}),
]


def paths_of_an_engine():
    answer = raw([message("HEAD /v1/models") + message("HEAD /none") + message("GET " + VERSION, SHUT)])
    head, found = answer.split(b"HTTP/1.1 200 OK")[1], statuses(answer)
    check("RFC 9112, 6.3 no body after HEAD", found == [200, 404, 200] and answer.count(b"{") == 1 and
          int(re.search(rb"Content-Length: (\d+)", head)[1]) > 50, answer)
    answer = raw([message("PUT /v1/models", SHUT)]) + raw([message("GET /v1/messages", SHUT)])
    check("RFC 9110, 15.5.6 what is allowed", b"Allow: GET, HEAD\r\n" in answer and b"Allow: POST\r\n" in answer,
          answer)
    for size in (1000, 60000, 900000):
        body = json.dumps({"prompt": "a" * 2000000}).encode()
        parts = [body[i:i + size] for i in range(0, len(body), size)]
        sent = b"".join(f"{len(each):x}\r\n".encode() + each + b"\r\n" for each in parts) + b"0\r\n\r\n"
        found = statuses(raw([message("POST /tokenize", CHUNKED + SHUT, sent, False)], 20))
        check(f"2 MB in chunks of {size}", found == [200], found)


def conformance():
    for rule, sent, wanted in RULES:
        answer = raw([sent])
        found = statuses(answer)
        is_json = not found or found[-1] < 400 or b"application/json" in answer and b"<HTML" not in answer
        check(f"RFC 9112, {rule}", len(found) == 1 and found[0] in wanted and is_json, f"{found} {answer[:300]}")
    if not TOKEN:
        paths_of_an_engine()
    smuggled = message("GET /nothing")
    answer = raw([message("GET " + VERSION, f"Content-Length: {len(smuggled)}\r\n") + smuggled])
    check("RFC 9112, 11.2 a body of a GET is no request", statuses(answer) == [200], answer)
    start = time.monotonic()
    for first in (b"", message(COMPLETE, "", SMALL)):
        answer = raw([first + message(COMPLETE, CHUNKED, b"", False)] + [b"1" * 100000] * 600, 20)
        check("the size of a chunk without an end is cut off", time.monotonic() - start < 8, answer[:200])
    whole = message(COMPLETE, "", SMALL)
    found = statuses(raw([whole * 5 + message("GET " + VERSION, SHUT)]))
    check("RFC 9112, 9.3.2 requests in one piece are answered in their order", found == [200] * 6, found)
    kept = message(COMPLETE, CHUNKED, extended(b";a=b"), False)
    found = statuses(raw([kept * 3 + message(COMPLETE, CHUNKED, b"zz\r\n", False)]))
    check("chunked requests in one piece, and a malformed one behind them", found == [200, 200, 200, 400], found)
    cut = message(COMPLETE, CHUNKED + SHUT, extended(b";a=b"), False)
    split = [statuses(raw([cut[:i], cut[i:]], gap_s=0.002)) for i in range(1, len(cut))]
    check("a chunked request in two pieces, cut at every byte", split == [[200]] * len(split), split)
    hint = message(COMPLETE, "Transfer-Encoding-Hint: chunked\r\n" + SHUT, SMALL)
    check("a header that begins like Transfer-Encoding is another one", statuses(raw([hint])) == [200])
    ends = message(COMPLETE, SHUT, SMALL)
    split = [statuses(raw([ends[:i], ends[i:]], gap_s=0.002)) for i in range(1, len(ends))]
    check("a request in two pieces, cut at every byte", split == [[200]] * len(split), split)
    check("a request byte by byte", statuses(raw([bytes([each]) for each in ends], gap_s=0.001)) == [200])


def costly():
    """Documents that want more work or memory than they weigh: all are answered."""
    def call(schema):
        return {"max_tokens": 5, "messages": [{"role": "user", "content": "hi"}], "tool_choice": {"type": "any"},
                "tools": [{"name": "f", "input_schema": schema}]}
    deep = None
    for _ in range(450):
        deep = [deep]
    names = [f"p{i}" for i in range(60000)]
    tree = {"type": "object", "properties": {"l": {"$ref": "#"}, "r": {"$ref": "#"}}, "required": ["l", "r"]}
    wide = {"type": "object", "properties": {each: {} for each in names}, "required": names}
    copied = {"$defs": {"t": {"default": "x" * 1000000}}, "type": "array", "minItems": 256,
              "items": {"type": "array", "minItems": 256, "items": {"$ref": "#/$defs/t"}}}
    for what, schema, wanted in (("a deep value", {"default": deep}, (400,)), ("a tree", tree, (200,)),
                                 ("many members", wide, (400,)), ("a value that is copied", copied, (400,))):
        start = time.monotonic()
        status, answer = post("/v1/messages", call(schema))
        check(f"a schema with {what} is answered: {status}",
              status in wanted and time.monotonic() - start < 10, str(answer)[:300])
    million = "word " * 800000
    for path, document in (("/v1/chat/completions", {"messages": [{"role": "user", "content": million}]}),
                           ("/tokenize", {"prompt": million}), ("/v1/completions", {"prompt": [5] * 2000000}),
                           ("/v1/messages/count_tokens", {"messages": [{"role": "user", "content": million}]})):
        status, answer = post(path, document)
        check(f"4 MB for {path} are answered: {status}", status in (200, 400), str(answer)[:300])
    tool = {"type": "function", "function": {"name": "f", "description": "x" * 2000, "parameters": {
        "type": "object", "properties": {f"a{i}": {"type": "string"} for i in range(20)}, "required": ["a1", "a2"]}}}
    tools = [{**tool, "function": {**tool["function"], "name": f"f{i}"}} for i in range(100)]
    status, answer = post("/v1/chat/completions", {"messages": [{"role": "user", "content": "hi"}], "tools": tools,
                                                   "max_tokens": 5, "tool_choice": "required"})
    check("an agent with 100 tools is served", status == 200, answer)


SAMPLES = [message(COMPLETE, "", SMALL), message("GET /metrics"), message("HEAD /health"),
           message("POST /v1/messages", "", json.dumps({"max_tokens": 3, "messages": [
               {"role": "user", "content": "a"}], "tools": [{"name": "f", "input_schema": {
                   "type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "required": ["a"],
                   "$defs": {"x": {"enum": [[], {}]}}}}], "tool_choice": {"type": "any"}}).encode()),
           message("POST /v1/responses", CHUNKED, b"1a\r\n" + b'{"input":"a","stream":true'
                   + b"\r\n1\r\n}\r\n0\r\n\r\n", False),
           message("POST /tokenize", "", b'{"prompt":"abc"}'), message("POST /admin/slow", "", b'{"factor":1}'),
           message("POST /admin/set", "", b'{"a":1}')]
if TOKEN:
    SAMPLES = [message(COMPLETE, "", SMALL), message("GET " + VERSION), message("HEAD /"), message("GET /api/state"),
               message(COMPLETE, CHUNKED, chunks(5), False),
               message(f"POST /api/save?token={TOKEN}", "", b'{"path":1}')]


def fuzz(dice, until):
    while time.monotonic() < until:
        data = bytearray(b"".join(dice.choice(SAMPLES) for _ in range(dice.randint(1, 4))))
        for _ in range(dice.randint(0, 8)):
            at = dice.randrange(len(data))
            if dice.random() < 0.5:
                data[at] = dice.randrange(256)
            elif dice.random() < 0.5:
                del data[at:at + dice.randint(1, 20)]
            else:
                data[at:at] = data[at:at + dice.randint(1, 40)]
            data = data or bytearray(b"x")
        cut = dice.randrange(len(data))
        raw([bytes(data[:cut]), bytes(data[cut:])], 0.2, dice.choice((0.0, 0.01)))


def slow_bodies(until):
    """Bodies that never become whole."""
    opened = []
    while time.monotonic() < until:
        client = socket.create_connection((HOST, PORT))
        client.settimeout(0.2)
        try:
            client.sendall(message(COMPLETE, "Content-Length: 16000000\r\n", b"", False) + b"x" * 15000000)
        except OSError:
            pass
        opened = [*opened[-30:], client]


def fuzzed():
    before_mb, most_mb, waits, until = rss_mb(), 0.0, [], time.monotonic() + SECONDS
    workers = [threading.Thread(target=fuzz, args=(random.Random(seed), until)) for seed in range(4)]
    workers.append(threading.Thread(target=slow_bodies, args=(until,)))
    for each in workers:
        each.start()
    client = socket.create_connection((HOST, PORT))
    while time.monotonic() < until:
        start = time.monotonic()
        client.sendall(message("GET " + HEALTH))
        answer = client.recv(1 << 20)
        waits.append(time.monotonic() - start)
        if not answer.startswith(b"HTTP/1.1 200"):
            check("/health is 200 while others misbehave", False, answer)
            break
        most_mb = max(most_mb, rss_mb())
        time.sleep(0.01)
    for each in workers:
        each.join()
    waits.sort()
    print(f"{len(waits)} answers of /health beside the fuzz: p50 {1e3 * waits[len(waits) // 2]:.1f} ms, "
          f"p99 {1e3 * waits[len(waits) * 99 // 100]:.1f} ms; memory {before_mb:.0f} MB, then at most {most_mb:.0f} MB")
    check("memory stays within the limit on requests that are not whole", most_mb < before_mb + 600, most_mb)


conformance()
if not TOKEN:
    costly()
fuzzed()
found = statuses(raw([message(COMPLETE, SHUT, SMALL)]))
check("and the server answers", found == [200], found)
sys.exit(1 if FAILED else 0)
