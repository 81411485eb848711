"""What a laboratory answers to programs: api.py PROGRAM HOME FOLDER [TURNS]. HOME has scripts/ and scenarios/.

With TURNS (or ROOFLUA_LAB_TURNS), so many random changes are made, and every answer is that of `rooflua run --json`.
"""

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from served import Checks, Laboratory

program, home, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve(), Path(sys.argv[3])
turns = int(sys.argv[4] if len(sys.argv) > 4 else os.environ.get("ROOFLUA_LAB_TURNS", "6"))
check = Checks()
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
folder = folder.resolve()

SCENARIO = """return { rooflua = 1, title = "small", seed = 7, model = "llama-3.1-8b", hardware = "h100-sxm",
  engine = "vllm 0.19", metrics = { waits = require "metrics.waits" {} },
  workload = require "workloads.poisson" { rate_per_s = 8, num_requests = 120,
    prompt_tokens = { distribution = "uniform", min = 100, max = 900 }, output_tokens = 30 } }
"""
METRIC = """local policy = require "rooflua.policy"
local Waits = policy.define { name = "waits", doc = "Requests that waited long.", unit = "requests",
  params = { patience_s = { default = 0.01, unit = "s", min = 0, max = 9, doc = "What long is." } } }
function Waits:on_done(request)
  if (request.queue_s or 0) > self.patience_s then self.count = (self.count or 0) + 1 end
end
function Waits:value() return self.count or 0 end
return Waits
"""
SCHEDULER = """local policy = require "rooflua.policy"
local vllm = require "schedulers.vllm_v1"
local Zealous = policy.define { name = "zealous", doc = "As vLLM.", extends = vllm,
  params = { zeal = { default = 3, unit = "1", min = 1, max = 5, integer = true, doc = "How much zeal it has." } } }
return Zealous
"""


def fits(name, documents):
    """Whether documents are as their schema in docs/schema says."""
    paths = []
    for i, document in enumerate(documents):
        paths.append(str(folder / f"{name}.{i}.json"))
        Path(paths[-1]).write_text(json.dumps(document))
    done = subprocess.run([sys.executable, str(home / "tests/app/schema.py"), str(home / f"docs/schema/{name}.json"),
                           *paths], capture_output=True, text=True)
    if done.returncode == 77:
        return print("SKIPPED: no jsonschema for", name)
    return check(done.returncode == 0, f"{name} has its schema", done.stdout + done.stderr)


def run(scenario, sets=(), seed=None, extra=()):
    """The bytes of `rooflua run --json`; what it says where it writes none."""
    (folder / "run.json").unlink(missing_ok=True)
    words = [program, "run", str(scenario), "--quiet", "--json", str(folder / "run.json"), *extra]
    for text in sets:
        words += ["--set", text]
    if seed is not None:
        words += ["--seed", str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    return (folder / "run.json").read_bytes() if (folder / "run.json").exists() else done.stderr


def guards(lab):
    """Who may ask."""
    check(lab.raw("/api/state", token=False)[0] == 403, "without the token: 403")
    check(lab.raw("/api/state?token=" + "0" * 48, token=False)[0] == 403, "with another token: 403")
    evil = {"Host": "evil.example", "Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    for name, value in evil.items():
        check(lab.raw("/api/state", headers={name: value})[0] == 403, f"with {name}: {value}: 403")
    own = {"Origin": f"http://127.0.0.1:{lab.port}", "Sec-Fetch-Site": "same-origin"}
    check(lab.raw("/api/answer?now=1", headers=own)[0] == 200, "its own page may ask")
    status, headers, page = lab.raw("/")
    policy = headers["Content-Security-Policy"]
    check(status == 200 and "script-src 'self'" in policy and "unsafe" not in policy and b"<script>" not in page,
          "the page has no script of its own, and says that none may be there", policy)
    for path in ("/main.js", "/lab.css", "/charts.css"):
        check(lab.raw(path, token=False)[0] == 200, f"{path} is served")
    check(lab.raw("/api/nothing")[0] == 404 and lab.raw("/api/state", "DELETE")[0] == 405,
          "other paths 404, methods 405")
    for body in ("[1]", "{\"sets\": []}", "{\"set\": [1]}", "{\"pins\": [{}]}", "{"):
        check(lab.raw("/api/state", "PUT", body)[0] == 400, f"a state {body} is refused")
    try:
        check(lab.raw("/api/answer?now=1", host="::1")[0] == 200, "it answers at ::1 as well")
    except OSError:
        print("SKIPPED: no IPv6")


def what_is_there(lab):
    """A parameter, a metric and a policy that no code of the laboratory knows."""
    status, state = lab.ask("/api/state")
    check("problem" not in state, "a fresh laboratory has no problem", state.get("problem"))
    knobs = {knob["path"]: knob for knob in state["knobs"]}
    check(status == 200 and state["title"] == "small", "the state is told")
    own = knobs.get("metrics.waits.patience_s") or {}
    check(knobs["scheduler"]["kind"] == "policy" and "zealous" in knobs["scheduler"]["values"],
          "a policy beside the scenario is a choice")
    check(own.get("unit") in ("s", None), "parameters of metrics are told or not at all", own)
    lab.put(set=["scheduler=zealous"])
    knob = {each["path"]: each for each in lab.ask("/api/state")[1]["knobs"]}.get("scheduler.zeal", {})
    check((knob.get("unit"), knob.get("least"), knob.get("most"), knob.get("doc")) ==
          ("1", 1, 5, "How much zeal it has."), "its parameter is a setting, with unit, bounds and help", knob)
    columns = {each["name"]: each for each in lab.answer()[1]["columns"]}
    check("waits" in columns, "the scenario's own metric is a column", sorted(columns))
    lab.put(set=["scheduler=zealous", "scheduler.zeal=9"])
    status, told = lab.answer()
    check(status == 422 and "zeal" in told["problem"] and told["keys"] == ["scheduler.zeal"],
          "a value that is refused names its key", told)
    state = lab.ask("/api/state")[1]
    fits("lab_state", [state])
    fits("lab_answer", [told])
    check(state["problem"] == told["problem"] and any(each["path"] == "scheduler.zeal" for each in state["knobs"]),
          "the settings are those of the last state that was good")


def added_key():
    """A key of the scenario that is added to the declarations is a setting, without another line."""
    other = folder / "home"
    other.mkdir()
    for each in home.iterdir():
        if each.name in ("bench_data", "scenarios", "docs"):
            (other / each.name).symlink_to(each)
    shutil.copytree(home / "scripts", other / "scripts", ignore=shutil.ignore_patterns("collect", "python", "__*"))
    keys = other / "scripts/lib/rooflua/scenario/keys.lua"
    text = keys.read_text(encoding="utf-8").replace('  { name = "seed", type', '  { name = "shed", type = "choice", '
        'values = { "green", "red" }, default = "red", kinds = every, read_by = "serving.pieces", doc = "a shed" },\n'
        '  { name = "seed", type', 1)
    keys.write_text(text, encoding="utf-8")
    lab = Laboratory(program, ["small.lua"], env={**os.environ, "ROOFLUA_HOME": str(other)}, folder=folder)
    found = [knob for knob in lab.ask("/api/state")[1]["knobs"] if knob["path"] == "shed"]
    check(found and found[0]["values"] == ["green", "red"] and found[0]["doc"] == "a shed",
          "a key that is added is found", found)
    lab.end()


def same_answers():
    """What is whole is what the command gives, to the last byte."""
    cases = [("02_chunk_size.lua", ["workload.rate_per_s=3"]), ("01_hello.lua", []),
             ("37_gates.lua", ["workload.num_requests=300"]), ("41_losing_one.lua", []),
             ("08_prefix_caching.lua", ["workload.num_requests=200"])]
    for name, sets in cases:
        path = home / "scenarios" / name
        lab = Laboratory(program, [str(path)], folder=folder)
        lab.put(set=sets)
        status, told = lab.answer()
        expected = run(path, sets)
        if isinstance(expected, str):
            check(status == 422, f"{name} {sets} is refused by both", told)
        else:
            check(lab.raw("/api/export/json")[2] == expected, f"{name} {sets}: the bytes of run --json",
                  told.get("problem"))
            check(told["document"] == json.loads(expected), f"{name}: the answer has this document")
        lab.end()
    lab = Laboratory(program, ["small.lua"], folder=folder)
    lab.put(set=["workload.rate_per_s=20"], seed=3)
    lab.answer()
    page = lab.raw("/api/export/html")[2]
    run("small.lua", ["workload.rate_per_s=20"], 3, ["--html", str(folder / "run.html")])
    check(page == (folder / "run.html").read_bytes(), "the page is that of run --html")
    return lab


def pictures(lab):
    """Every picture that is listed is drawn."""
    state, told = lab.ask("/api/state")[1], lab.answer()[1]
    lab.raw("/api/export/html")
    names = [each["name"] for each in state["views"]] + [each["name"] for each in lab.answer()[1]["pictures"]]
    check(len(names) > 6, "there are pictures", names)
    drawn = []
    for name in names:
        status, picture = lab.ask("/api/picture/" + name)
        drawn.append(picture)
        html = "".join(each["html"] for each in picture.get("sections", []))
        check(status == 200 and picture["whole"] and "problem" not in picture and html, f"picture {name}",
              picture.get("problem", picture))
    opened = {re.search(f'data-open="({kind}/[^"]+)"', json.dumps(drawn).replace('\\"', '"')).group(1)
              for kind in ("step", "request")}
    for name in sorted(opened):
        picture = lab.ask("/api/picture/" + name)[1]
        check(picture["whole"] and "problem" not in picture and "<svg" in picture["sections"][0]["html"],
              f"a click opens {name}", picture.get("problem"))
        drawn.append(picture)
    for name in ("step/1@9e9", "request/x", "memory/1", "request/999999"):
        check("problem" in lab.ask("/api/picture/" + name)[1], f"there is no picture {name}")
    check(lab.ask("/api/picture/nothing")[0] == 404, "another one is not there")
    fits("lab_picture", drawn)
    fits("lab_state", [state])
    fits("lab_answer", [told])


def exported_scenario(lab):
    """The file that is exported has what was changed, and gives the same answer."""
    def summaries(document):
        return [each["summary"] for each in json.loads(document)["variants"]]
    for sets, seed in ([], None), (["workload.rate_per_s=20", "deployment.tp=2", "scheduler=sjf"], 3):
        state = {"set": sets} if seed is None else {"set": sets, "seed": seed}
        lab.put(**state)
        lab.answer()
        (folder / "exported.lua").write_bytes(lab.raw("/api/export/lua")[2])
        given, own = lab.raw("/api/export/json")[2], run("exported.lua", [])
        same = not isinstance(own, str) and summaries(own) == summaries(given)
        check(same, f"the exported scenario with {sets} gives the same answer", own)
    for sets, seed in ([], None), (["workload.rate_per_s=20", "scheduler=sjf", "deployment={\"tp\": 2}"], 3):
        lab.put(set=sets, seed=seed)
        lab.answer()
        given = lab.raw("/api/export/json")[2]
        words = shlex.split(lab.ask("/api/state")[1]["command"])
        subprocess.run([program, *words[1:], "--quiet", "--json", "command.json"], cwd=folder, check=True,
                       capture_output=True)
        check((folder / "command.json").read_bytes() == given, f"the command with {sets} gives the bytes", words)
    lab.put(set=["scheduler.max_num_seqs=-1"])
    check(lab.raw("/api/export/lua")[0] == 422, "a state that is refused is not exported")
    lab.put(set=[])


def pinned_pictures(lab):
    """The answer over those of the pins, in one picture."""
    pins = [{"name": "a <slow> one", "state": {"set": ["workload.rate_per_s=2"], "seed": 1}}]
    lab.put(set=["workload.rate_per_s=30"], pins=pins)
    names = [each["name"] for each in lab.ask("/api/state")[1]["views"]]
    check("pins" in names, "pins are a picture", names)
    status, picture = lab.ask("/api/picture/pins")
    html = "".join(each["html"] for each in picture.get("sections", []))
    check(status == 200 and "a &lt;slow&gt; one" in html and "<svg" in html and ">now<" in html,
          "it has both answers", picture.get("problem"))
    fits("lab_picture", [picture])
    lab.put(set=[])


def early_and_cancelled(lab):
    """A long run is answered early; a newer question ends it."""
    began = time.time()
    lab.put(set=["workload.num_requests=400000", "workload.rate_per_s=30"])
    told = lab.answer(after=0)[1]  # waits for numbers, and no longer
    check(told.get("columns") and not told["whole"] and 0 < told["finished"] < 400000,
          f"first numbers of {told.get('finished')} requests after {time.time() - began:.2f} s", told.get("problem"))
    version = lab.put(set=["workload.num_requests=50"])
    status, told = lab.answer()
    check(status == 200 and told["version"] == version and told["finished"] == 50, "a newer question is answered")
    lab.raw("/api/export/html")
    deadline = time.time() + 20
    while lab.processes() and time.time() < deadline:
        time.sleep(0.1)
    check(lab.processes() == [], "no process of the older one is left")


def edits(lab):
    """Policies are edited as copies; saving overwrites nothing silently."""
    files = {each["path"]: each for each in lab.ask("/api/state")[1]["policies"]}
    check("small.lua" in files and "schedulers/vllm_v1.lua" in files, "files of policies are listed", sorted(files))
    text = lab.ask("/api/text?path=schedulers/vllm_v1.lua")[1]["text"]
    check(lab.ask("/api/text?path=/etc/passwd")[0] == 404, "no other file is read")
    lab.put(texts={"schedulers/vllm_v1.lua": text + "\nthis is wrong"})
    status, told = lab.answer()
    line = len(text.split("\n")) + 1
    check(status == 422 and f"vllm_v1.lua:{line}" in told.get("problem", ""), "an error stands at its line",
          told.get("problem"))
    lab.put(texts={"small.lua": SCENARIO.replace("num_requests = 120", "num_requests = 11")})
    check(lab.answer()[1].get("finished") == 11, "an edited scenario is asked")
    metric = METRIC.replace("return self.count or 0", "return 41")
    lab.put(texts={"metrics/waits.lua": metric})
    columns = {each["name"]: each["values"] for each in lab.answer()[1].get("columns", [])}
    check(columns.get("waits") == [41], "an edited policy is in force", columns.get("waits"))
    check((folder / "metrics/waits.lua").read_text() == METRIC, "and its file is what it was")
    for path in ("../out.lua", "/tmp/out.lua", "a.txt", ".hidden.lua", "a/../../b.lua"):
        check(lab.ask("/api/save", "POST", {"path": path, "text": "x"})[0] == 400, f"nothing is saved as {path}")
    check(lab.ask("/api/save", "POST", {"path": "schedulers/new.lua", "text": "return 1"})[0] == 200, "a file is saved")
    check(lab.ask("/api/save", "POST", {"path": "metrics/waits.lua", "text": metric})[0] == 409, "none is overwritten")
    told = lab.ask("/api/save", "POST", {"path": "metrics/waits.lua", "text": metric, "replace": True})
    check(told[0] == 200 and (folder / "metrics/waits.lua").read_text() == metric, "but where it is asked for")
    (folder / "metrics/waits.lua").write_text(METRIC)


def changed_file(lab):
    """A scenario that changes on disk is asked about again."""
    version = lab.put(set=[])
    lab.answer()
    lab.ask("/api/state")
    (folder / "small.lua").write_text(SCENARIO.replace("num_requests = 120", "num_requests = 33"))
    told, deadline = {"version": version}, time.time() + 30
    while time.time() < deadline and told.get("finished") != 33:
        time.sleep(0.1)
        told = lab.answer(now=1)[1]
    check(told["version"] > version and told.get("finished") == 33, "a changed file is seen", told.get("finished"))
    (folder / "small.lua").write_text(SCENARIO)


def pinned(lab):
    """Differences from states that are pinned."""
    lab.put(set=["workload.rate_per_s=30"], pins=[{"name": "base", "state": {"set": []}},
                                                  {"name": "same", "state": {"set": ["workload.rate_per_s=30"]}}])
    told = lab.answer()[1]
    deadline = time.time() + 20
    while len(told["pins"]) < 2 and time.time() < deadline:
        told = lab.answer(after=told["sequence"])[1]
    both = told["pins"]
    check(len(both) == 2 and both[0]["columns"] and "no difference" in both[1]["compared"]["text"],
          "pins are compared, and the same is no difference", both)
    while not all("changes" in each for each in told["pins"]) and time.time() < deadline:
        told = lab.answer(after=told["sequence"])[1]
    changes = [{each["name"]: each for each in pin.get("changes", [])} for pin in told["pins"]]
    rate = changes[0].get("requests_per_s", {})
    check(told["pins"][0].get("seeds") == 5 and rate.get("low", 0) > 1 and not rate["none"],
          "a change has an interval over the seeds", rate)
    check(changes[1] and all(each["none"] for each in changes[1].values()), "and the same is noise with every seed")
    fits("lab_answer", [told])
    column = {each["name"]: each for each in told["columns"]}.get("dollars_per_million_output_tokens", {})
    speed = told["document"]["variants"][0]["summary"]["output_tokens_per_s"]
    price = re.search(r"\$(\d+\.\d+) per hour", column.get("help", "$0.00 per hour")).group(1)
    check(column and abs(column["values"][0] * speed * 3600 / 1e6 - float(price)) < 0.01, "an answer has its cost",
          column)
    check(any("would start" in line for line in told["facts"]), "and says that the engine would start", told["facts"])


def border(lab):
    """Rules of HTTP, requests that never become whole, and fuzz, as the emulated server has them."""
    script = Path(__file__).resolve().parent.parent / "emulate/clients/border.py"
    seconds = "2" if turns < 100 else "20"
    done = subprocess.run([sys.executable, str(script), f"http://127.0.0.1:{lab.port}", str(lab.process.pid), seconds,
                           lab.token], capture_output=True, text=True, timeout=200)
    lines = done.stdout.splitlines()
    check(done.returncode == 0, f"what comes from outside: {len(lines)} checks",
          done.stderr + "\n".join(line for line in lines if line.startswith("FAILED")))


def random_turns(lab):
    """Every answer after random changes is that of the command."""
    knobs = [knob for knob in lab.ask("/api/state")[1]["knobs"] if knob["kind"] in ("number", "choice", "boolean")]
    dice, memory = random.Random(5), lab.memory_mb()
    wrong = refused = 0
    for _ in range(turns):
        sets = ["workload.num_requests=60"]
        for knob in dice.sample(knobs, dice.randint(1, 3)):
            value = knob.get("value", knob.get("default"))
            if knob["path"] == "workload.num_requests" or knob["path"] == "seed":
                continue
            if knob["kind"] == "number":
                value = (value or 1) * dice.choice([0.5, 0.9, 1.1, 2, 3])
                value = max(1, round(value)) if knob.get("whole") else float(f"{value:.3g}")
            else:
                value = dice.choice(knob.get("values") or ["true", "false"])
            sets.append(f"{knob['path']}={value}")
        lab.put(set=sets)
        status, told = lab.answer()
        expected = run("small.lua", sets)
        refused += status != 200
        given = lab.raw("/api/export/json")[2] if status == 200 else None
        if given != (expected if isinstance(expected, bytes) else None):
            wrong += 1
            print("differs:", sets, told.get("problem"), expected if isinstance(expected, str) else "")
    check(wrong == 0, f"{turns} random states, {refused} of them refused: the answers are those of run --json")
    grown = lab.memory_mb() - memory
    check(grown < 40, f"memory grew by {grown:.1f} MB")


(folder / "small.lua").write_text(SCENARIO)
for name, text in {"metrics/waits.lua": METRIC, "schedulers/zealous.lua": SCHEDULER}.items():
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)
first = Laboratory(program, ["small.lua"], folder=folder)
guards(first)
what_is_there(first)
check(first.end()[0] == 0, "TERM ends it with status 0")
added_key()
second = same_answers()
pictures(second)
exported_scenario(second)
pinned_pictures(second)
early_and_cancelled(second)
edits(second)
changed_file(second)
pinned(second)
border(second)
random_turns(second)
status, left = second.end()
check(status == 0 and left == [], "no process is left", left)
missing = subprocess.run([program, "lab", str(folder / "none.lua"), "--no-open"], capture_output=True, text=True)
check(missing.returncode == 1 and "none.lua" in missing.stderr, "a file that is not there is said at once",
      missing.stderr)
sys.exit(1 if check.failed else 0)
