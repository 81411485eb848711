"""Drives the pages of every kind of answer in Chromium: changes every control, and looks that no script fails and that
what a page says twice agrees. pages.py PROGRAM [FOLDER]. Without Chromium it says so and ends well."""

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LLAMA = 'model = "llama-3.1-8b", seed = 1, '
SMALL = "num_requests = 40, prompt_tokens = 300, output_tokens = 20"
GPUS = ('gpus = { { "h100-sxm", most = 4, price_per_hour = 2.5 }, { "l40s", most = 8, price_per_hour = 1.9 }, '
        '{ "a100-sxm-80gb", most = 8, price_per_hour = 1.4 } }')
PLAN = ('slo = { ttft_s_p99 = 1, tpot_s_p99 = 0.05 }, replicates = 4, candidates = require "candidates.ladder" { '
        'tp = { 1 }, max_num_seqs = { 64 }, max_num_batched_tokens = { 2048 } }, ' + GPUS)
SCENARIOS = {
    "variants": 'hardware = "h100-sxm", workload = require "workloads.poisson" { %s }, '
                'vary = { ["workload.rate_per_s"] = { 1, 2, 4 } }' % SMALL,
    "grid": 'hardware = "h100-sxm", workload = require "workloads.poisson" { %s }, '
            'vary = { ["workload.rate_per_s"] = { 1, 4 }, ["scheduler.max_num_seqs"] = { 2, 8, 32 } }' % SMALL,
    "one": 'hardware = "h100-sxm", workload = require "workloads.poisson" { %s }' % SMALL,
    "price": 'kind = "price", hardware = "h100-sxm", price = { { name = "a", decodes = 8, '
             'decode_context_tokens = 8000 } }',
    "sensitivity": 'kind = "search", hardware = "h100-sxm", workload = require "workloads.poisson" { %s }, '
                   'search = { goal = "sensitivity", metrics = { "tpot_s_p50" }, params = { "workload.rate_per_s", '
                   '"scheduler.max_num_seqs" } }' % SMALL,
    "pareto": 'kind = "search", hardware = "h100-sxm", workload = require "workloads.poisson" { %s }, '
              'search = { goal = "pareto", vary = { ["workload.rate_per_s"] = { 1, 2, 4 } } }' % SMALL,
    "plan_rate": 'kind = "plan", workload = require "workloads.poisson" { prompt_tokens = 300, output_tokens = 30 }, '
                 'plan = { load = { rate_per_s = 30 }, requests = 300, %s }' % PLAN,
    "plan_users": 'kind = "plan", workload = require "workloads.closed_loop" { clients = 60, think_time_s = 5, '
                  'num_requests = 300, prompt_tokens = 1500, output_tokens = 100 }, '
                  'plan = { load = "recorded", %s }' % PLAN,
}

# Changes every control that is there, one after the other, and tells what a page says after each change.
DRIVER = """
<script>
(function () {
  var errors = [], said = [], changed = 0;
  window.addEventListener("error", (e) => { errors.push(String(e.message)); });
  function fire(e, name) { e.dispatchEvent(new Event(name, { bubbles: true })); }
  function tell() {
    document.querySelectorAll(".plan").forEach((part) => {
      var lead = part.querySelector('[data-key="lead"]'), first = null;
      part.querySelectorAll('[data-key^="rank "]').forEach((e) => { if (e.textContent === "1") first = first || e; });
      var row = first && first.closest("tr"), ones = [...part.querySelectorAll('[data-key^="rank "]')];
      said.push({ lead: lead ? lead.textContent : "", first: row ? row.textContent : "",
        winners: ones.filter((e) => e.textContent === "1").length,
        empty: [...part.querySelectorAll("dd")].filter((e) => !e.textContent.trim()).length });
    });
  }
  function drive() {
    document.querySelectorAll("details").forEach((e) => { e.open = true; });
    tell();
    document.querySelectorAll("input[type=number], input[type=text], input[type=search]").forEach((e) => {
      var before = e.value;
      ["6", "0.1", "0", "x", ""].concat([before]).forEach((v) => {
        e.value = v; fire(e, "input"); fire(e, "change"); changed++; tell();
      });
    });
    document.querySelectorAll("select").forEach((e) => {
      [...e.options].forEach((o, i) => {
        e.selectedIndex = i; fire(e, "input"); fire(e, "change"); changed++; tell();
      });
    });
    document.querySelectorAll("input[type=checkbox], input[type=radio], button, th, .legend *").forEach((e) => {
      e.dispatchEvent(new MouseEvent("click", { bubbles: true })); changed++;
    });
    document.querySelectorAll("svg, svg .mark, svg polyline, svg rect").forEach((e) => {
      ["pointerenter", "mousemove", "pointermove", "click", "pointerleave", "mouseleave"].forEach((name) => {
        e.dispatchEvent(new MouseEvent(name, { bubbles: true, clientX: 300, clientY: 200 }));
      });
      changed++;
    });
    var wide = document.documentElement.scrollWidth > window.innerWidth + 1;
    var cut = [...document.querySelectorAll(".scroll")].filter((e) => {
      return e.scrollWidth > e.clientWidth + 1 && e.scrollWidth < e.clientWidth + 40;
    }).length;
    var out = document.createElement("pre");
    out.id = "driven";
    out.textContent = JSON.stringify({ errors, said, changed, wide, cut });
    document.body.appendChild(out);
  }
  window.addEventListener("load", drive);
})();
</script>
"""


def driven(chromium, page, folder, width=1400):
    text = page.read_text().replace("<body>", "<body>" + DRIVER, 1)
    file = folder / ("driven_" + page.name)
    file.write_text(text)
    done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile",
                           f"--window-size={width},1000", "--virtual-time-budget=5000", "--dump-dom", file.as_uri()],
                          capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<pre id="driven">(.*?)</pre>', done.stdout, re.S)
    assert found, f"{page.name}: the page was not driven: {done.stderr[-400:]}"
    return json.loads(html.unescape(found.group(1)))


def problems(name, result):
    out = [f"{name}: {error}" for error in result["errors"]]
    if result["wide"]:
        out.append(f"{name}: the page is wider than the window")
    if result["cut"]:
        out.append(f"{name}: {result['cut']} tables are cut off by a few pixels")
    for each in result["said"]:
        if each["winners"] != 1:
            out.append(f"{name}: {each['winners']} deployments are first: {each['lead']}")
        if each["empty"]:
            out.append(f"{name}: {each['empty']} facts of the verdict are empty: {each['lead']}")
        where = re.search(r" on \d+ x ([^ ]+)", each["lead"])
        if where and where.group(1) not in each["first"]:
            out.append(f"{name}: the verdict says {where.group(1)}, the first row {each['first'][:60]}")
    return sorted(set(out))


def repeated(name, page):
    """Intervals that the section "How sure" of a run's page says more than once."""
    section = re.search(r"How sure</h2>(.*?)<h2", page.read_text(), re.S)
    found = re.findall(r"[\d.]+ (?:us|ms|s) \([\d.]+ to [\d.]+", section.group(1)) if section else []
    return [f"{name}: {each}) stands there {found.count(each)} times" for each in sorted(set(found))
            if found.count(each) > 1]


def main():
    program = sys.argv[1]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("SKIPPED: no chromium (apt install chromium)")
        return 0
    with tempfile.TemporaryDirectory(prefix="rooflua-pages-") as name:
        folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(name)
        failed = 0
        for kind, keys in SCENARIOS.items():
            scenario, page = folder / f"{kind}.lua", folder / f"{kind}.html"
            scenario.write_text("return { rooflua = 1, " + LLAMA + keys + " }\n")
            done = subprocess.run([program, "run", str(scenario), "--quiet", "--html", str(page)], capture_output=True,
                                  text=True, check=False)
            assert page.exists(), f"{kind}: {done.stderr}"
            result = driven(chromium, page, folder)
            found = problems(kind, result)
            found += repeated(kind, page) if kind == "one" else []
            if kind.startswith("plan") and not result["said"]:
                found.append(f"{kind}: nothing was told of the plan")
            for each in found:
                print("FAIL", each)
            failed += len(found)
            print(f"{kind}: {result['changed']} changes, {len(found)} problems")
    return 1 if failed else 0


sys.exit(main())
