"""A router that reads KV events: what it believes is cached must be what the server hits.

    kv_events.py URL EVENTS REPLAY

It names blocks itself: hashlib's SHA-256 over CBOR that is put together here."""

import hashlib
import json
import random
import sys
import threading
import time
import urllib.request

import msgpack
import zmq

url, events, replay = sys.argv[1:4]
block = 16
problems = []


def check(right, what):
    if not right:
        problems.append(what)
        print("FAILED:", what)


# --- names of blocks


def head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    code, size = next((code, size) for code, size in ((24, 1), (25, 2), (26, 4), (27, 8)) if number < 1 << 8 * size)
    return bytes([major << 5 | code]) + number.to_bytes(size, "big")


def digest(cbor):
    return hashlib.sha256(cbor).digest()


def low(name):
    return int.from_bytes(name[-8:], "big")


def names_of(tokens, seed=b"7"):
    front, out = digest(head(3, len(seed)) + seed), []
    for at in range(0, len(tokens) // block * block, block):
        own = tokens[at : at + block]
        front = digest(head(4, 3) + head(2, 32) + front + head(4, block) + b"".join(head(0, t) for t in own) + b"\xf6")
        out.append(low(front))
    return out


# --- what is told

context = zmq.Context()
subscriber = context.socket(zmq.SUB)
subscriber.setsockopt(zmq.RCVTIMEO, 200)
subscriber.connect(events)
subscriber.setsockopt(zmq.SUBSCRIBE, b"kv@")
cached, last, counts = set(), -1, {"BlockStored": 0, "BlockRemoved": 0, "AllBlocksCleared": 0}


def apply(number, payload):
    global last
    check(number == last + 1, f"message {number} follows {last}")
    last = number
    time_s, told, rank = msgpack.unpackb(payload)
    check(abs(time_s - time.time()) < 300 and rank == 0, f"time {time_s} and rank {rank}")
    for event in told:
        counts[event["type"]] += 1
        if event["type"] == "AllBlocksCleared":
            cached.clear()
        elif event["type"] == "BlockRemoved":
            cached.difference_update(event["block_hashes"])
        else:
            check(len(event["token_ids"]) == block * len(event["block_hashes"]), "tokens of each block")
            cached.update(event["block_hashes"])


def ask_again(start):
    """Messages from this number on: of what was missed."""
    socket = context.socket(zmq.DEALER)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVTIMEO, 5000)
    socket.connect(replay)
    socket.send_multipart((b"", start.to_bytes(8, "big")))
    out = []
    while True:
        _, number, payload = socket.recv_multipart()
        if number == b"\xff" * 8:
            socket.close()
            return out
        out.append((int.from_bytes(number, "big"), payload))


def read_all():
    """Until nothing comes any more; a gap is filled by asking again."""
    while True:
        try:
            topic, number, payload = subscriber.recv_multipart()
        except zmq.Again:
            return
        check(topic == b"kv@pod-0@m", f"topic {topic}")
        number = int.from_bytes(number, "big")
        if number > last + 1:
            for missed in ask_again(last + 1):
                if missed[0] < number:
                    apply(*missed)
        if number == last + 1:
            apply(number, payload)


# --- what is asked


def complete(prompt, tokens):
    body = json.dumps({"prompt": prompt, "max_tokens": tokens, "ignore_eos": True}).encode()
    with urllib.request.urlopen(urllib.request.Request(url + "/v1/completions", body), timeout=60) as answer:
        return json.load(answer)["usage"]


dice = random.Random(5)
families = [[dice.randrange(150000) for _ in range(2000)] for _ in range(6)]


def prompt():
    family, own = dice.choice(families), dice.randrange(20, 400)
    return family[: dice.randrange(0, 1200)] + [dice.randrange(150000) for _ in range(own)]


prompts = [prompt() for _ in range(120)]
complete(prompts[0], 2)  # before any reader: it is missed, and sent again
read_all()
waiting = list(prompts)


def work():
    while True:
        try:
            mine = waiting.pop()
        except IndexError:
            return
        complete(mine, 20)


threads = [threading.Thread(target=work) for _ in range(6)]
for each in threads:
    each.start()
for each in threads:
    each.join()
complete("a text has no tokens to name its blocks by", 2)
read_all()
check(counts["BlockRemoved"] > 50, f"blocks are evicted: {counts}")

known = {name for each in prompts for name in names_of(each)}
check(cached <= known, f"{len(cached - known)} names are of no block that was sent")
hits = 0
for each in dice.sample(prompts, 40):
    expected = 0
    for name in names_of(each[: len(each) - 1]):  # the last token is always computed
        if name not in cached:
            break
        expected += block
    found = complete(each, 1)["prompt_tokens_details"]["cached_tokens"]
    check(found == expected, f"{found} tokens were cached and {expected} told")
    hits += found > 0
    read_all()
check(hits > 10, f"{hits} prompts were cached")
again = ask_again(0)
check([number for number, _ in again] == list(range(last + 1)), "all is told again")
check(len(ask_again(last)) == 1, "and the last one alone")
admin = urllib.request.Request(url + "/admin/fail", json.dumps({"replica": 1}).encode())
urllib.request.urlopen(admin, timeout=10).read()
time.sleep(0.5)
read_all()
check(counts["AllBlocksCleared"] == 1 and not cached, f"a replica that fails has nothing: {counts}")
print(f"{last + 1} messages, {counts}, {hits} of 40 prompts cached")
sys.exit(1 if problems else 0)
