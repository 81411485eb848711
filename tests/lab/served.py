"""A laboratory for the tests here: it is started on a free port, and ended with its processes."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
import urllib.parse


class Laboratory:
    """`rooflua lab` of a scenario, as a program speaks to it."""

    def __init__(self, program, words, env=None, folder=None):
        self.process = subprocess.Popen([program, "lab", *words, "--no-open", "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=env, cwd=folder)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"FAILED: it does not listen: {self.process.stderr.read()}")
        self.address = line.strip()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)$", self.address)
        self.port, self.token = int(found.group(1)), found.group(2)

    def raw(self, path, method="GET", body=None, headers=None, token=True, host="127.0.0.1"):
        """(status, headers, bytes) of a request."""
        if token:
            path += ("&" if "?" in path else "?") + "token=" + self.token
        connection = http.client.HTTPConnection(host, self.port, timeout=120)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        out = answer.status, answer.headers, answer.read()
        connection.close()
        return out

    def ask(self, path, method="GET", body=None):
        """(status, JSON) of a request."""
        status, _, text = self.raw(path, method, None if body is None else json.dumps(body))
        return status, json.loads(text)

    def put(self, **state):
        status, told = self.ask("/api/state", "PUT", state)
        assert status == 200, told
        return told["version"]

    def answer(self, **query):
        return self.ask("/api/answer" + ("?" + urllib.parse.urlencode(query) if query else ""))

    def processes(self):
        """Those that it started and that still run, and what these started."""
        def below(parent):
            found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True).stdout.split()
            return [int(each) for each in found] + [each for one in found for each in below(one)]
        return below(self.process.pid)

    def memory_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as file:
            return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1)) / 1024

    def end(self, number=signal.SIGTERM):
        """Its status, and the processes that are left."""
        children = self.processes()
        self.process.send_signal(number)
        status = self.process.wait(timeout=30)
        time.sleep(0.1)
        return status, [each for each in children if os.path.exists(f"/proc/{each}") and not is_zombie(each)]


def is_zombie(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


class Checks:
    """Sentences that hold or do not."""

    def __init__(self):
        self.failed = 0

    def __call__(self, ok, sentence, found=""):
        if ok:
            print("passed:", sentence)
        else:
            self.failed += 1
            print("FAILED:", sentence, found)
