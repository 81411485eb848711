-- Each shipped scenario has the results that its header expects.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"

local carried = {} -- name of a scenario -> shares of its variants' time that rows of tables carry, by label

--- Notes what the time of a variant rests on.
local function note_evidence(name, label, variant)
  local list = { variant.summary }
  for _, key in ipairs { "price", "runs" } do
    for _, each in ipairs(type(variant[key]) == "table" and variant[key] or {}) do list[#list + 1] = each end
  end
  list[#list + 1] = not list[1] and variant or nil
  local time_s, rows_s = 0, 0
  for _, each in ipairs(list) do
    local share = each.evidence
    if share then
      local own_s = each.time_s or 1
      time_s, rows_s = time_s + own_s, rows_s + own_s * ((share.measured or 0) + (share.interpolated or 0))
    end
  end
  if time_s > 0 then carried[name][label] = rows_s / time_s end
end

--- Variants of a scenario by label, each the document of one run.
local function run(name, arguments)
  local pipe = assert(io.popen(("%s run scenarios/%s.lua --quiet --json - %s"):format(program, name, arguments or "")))
  local text = pipe:read "*a"
  pipe:close()
  local variants = {}
  if not arguments then carried[name] = {} end
  for _, variant in ipairs(json.decode(text).variants) do
    local label = variant.name:match "^[%w_.]+=(.*)$" or variant.name
    variants[#variants + 1] = variant
    variants[label] = variant
    if not arguments then note_evidence(name, label, variant) end
  end
  return variants
end

local function times(variant)
  local out = {}
  for i, priced in ipairs(variant.price) do out[priced.name], out[i] = priced.time_s, priced.time_s end
  return out
end

--- Seconds of the operations of one kind in a priced step.
local function kind_s(priced, kind)
  local sum = 0
  for _, row in ipairs(priced.rows) do
    if row.kind == kind then sum = sum + row.time_s end
  end
  return sum
end

local function between(value, low, high, what)
  test.check(value >= low and value <= high, "%s: expected %g to %g, found %g", what or "value", low, high, value)
end

test("01: a decode is bound by memory and its floor, a prefill by compute and its GEMMs", function()
  local decode, prefill = unpack(run("01_hello")[1].price)
  local bytes, gemm_s = 0, 0
  for _, row in ipairs(decode.rows) do
    if row.kind == "gemm" or row.kind == "attention_decode" then test.equal(row.bound, "memory", row.name) end
    bytes = bytes + (row.bytes or 0) * row.count
  end
  test.at_least(decode.time_s, bytes / 4.8e12)
  for _, row in ipairs(prefill.rows) do
    if row.kind == "gemm" and row.name ~= "lm_head" then
      test.equal(row.bound, "compute", row.name)
      gemm_s = gemm_s + row.time_s
    end
  end
  test.at_least(gemm_s / prefill.time_s, 0.5)
end)

test("02: a smaller budget lowers the p99 of TPOT and raises the p50 of TTFT", function()
  local budgets = run "02_chunk_size"
  local small, large = budgets["512"].summary, budgets["8192"].summary
  test.check(small.tpot_s.p99 < budgets["2048"].summary.tpot_s.p99)
  test.check(budgets["2048"].summary.tpot_s.p99 < large.tpot_s.p99)
  test.check(small.ttft_s.p50 > large.ttft_s.p50)
end)

test("03: every scheduler is there, static batching is far behind, the others are alike", function()
  local schedulers = run "03_schedulers"
  local reference = schedulers.vllm_v1.summary
  test.equal(#schedulers, 9)
  for _, variant in ipairs(schedulers) do
    local s = variant.summary
    test.equal(s.completed, 500, variant.name)
    if variant ~= schedulers.static_batch then
      test.near(s.output_tokens_per_s, reference.output_tokens_per_s, 0.01, variant.name)
      test.near(s.tpot_s.p50, reference.tpot_s.p50, 0.15, variant.name)
      test.check(schedulers.static_batch.summary.ttft_s.p50 > 100 * s.ttft_s.p50)
      test.check(schedulers.static_batch.summary.output_tokens_per_s < 0.5 * s.output_tokens_per_s)
    end
  end
end)

test("04: m = requests understates a prefill by far; the full matrix over 1.8 is 11 % above half of it", function()
  local switches = run "04_switches"
  local function attention_s(label) return kind_s(switches[label].price[1], "attention_prefill") end
  test.check(times(switches["prefill_m = requests"]).mixed < 0.5 * times(switches.reviewed).mixed)
  test.near(attention_s "attention_flop = dense, / 1.8" / attention_s "reviewed", 2 / 1.8, 1e-9)
end)

test("25: an interface that carries less than what is computed has no end of waiting", function()
  local by_network = run "25_shared_links"
  local wide, half, narrow, own = by_network["400 Gb/s, shared"].summary, by_network["200 Gb/s, shared"].summary,
    by_network["100 Gb/s, shared"].summary, by_network["100 Gb/s, own"].summary
  between(wide.links[1].busiest_frac, 0.3, 0.45, "busy")
  between(half.links[1].busiest_frac, 0.65, 0.8, "busy")
  test.check(narrow.ttft_s.p50 > 20 * own.ttft_s.p50 and own.ttft_s.p50 < half.ttft_s.p50)
  test.check(narrow.links[1].stretch_mean > 50 and half.links[1].stretch_mean > wide.links[1].stretch_mean)
end)

test("26: a host pays where it holds more than the GPU", function()
  local by_memory = run "26_host_memory"
  local function computed(label)
    local s = by_memory[label].summary
    return 1 - s.cached_tokens / s.prompt_tokens
  end
  test.near(computed "50 GB", computed "0 GB", 0.05)
  between(computed "100 GB" / computed "0 GB", 0.55, 0.8, "computed with 100 GB")
  test.check(computed "200 GB" < 0.5 * computed "100 GB")
  test.check(by_memory["200 GB"].summary.ttft_s.p99 * 10 < by_memory["0 GB"].summary.ttft_s.p99)
end)

test("28: peers halve what is computed; a pool keeps nothing twice", function()
  local by_kv = run "28_peers"
  local function computed(label)
    local s = by_kv[label].summary
    return 1 - s.cached_tokens / s.prompt_tokens
  end
  between(computed "peers" / computed "own host", 0.4, 0.65, "computed with peers")
  test.check(computed "one pool" < computed "peers")
  test.check(by_kv["peers"].summary.tiers[1].peer_hit_tokens > 0 and by_kv["own host"].summary.tiers[1].hit_frac < 0.1)
end)

test("07: split, gaps are short; three prefill GPUs are enough for this load and two are not", function()
  local pools = run "07_disaggregation"
  local mixed, one, two, three = pools["4 mixed"].summary, pools["1 prefill + 3 decode"].summary,
    pools["2 prefill + 2 decode"].summary, pools["3 prefill + 1 decode"].summary
  for _, split in ipairs { one, two, three } do test.check(split.itl_s.p99 * 5 < mixed.itl_s.p99) end
  between(one.requests_per_s, 10, 12, "served by one prefill GPU")
  test.check(one.ttft_s.p50 > 1 and two.ttft_s.p50 > 1)
  test.near(three.ttft_s.p99, mixed.ttft_s.p99, 0.1)
  test.check(three.tpot_s.p99 < mixed.tpot_s.p99 / 2)
  test.check(three.goodput_per_s > mixed.goodput_per_s)
end)

test("08: nine tenths of the prompt tokens come from the cache, TTFT falls to a third, TPOT falls", function()
  local cache = run "08_prefix_caching"
  local on, off = cache.on.summary, cache.off.summary
  between(on.cached_tokens / on.prompt_tokens, 0.85, 0.95, "share from the cache")
  test.equal(off.cached_tokens, 0)
  test.check(on.ttft_s.mean < off.ttft_s.mean / 3)
  test.check(on.tpot_s.p50 < off.tpot_s.p50)
end)

test("09: a mixture gains the least where all experts are read and arithmetic is not yet the limit", function()
  local models = run "09_moe_against_dense"
  local dense, mixture = times(models["qwen3-32b"]), times(models["qwen3-30b-a3b"])
  local function gain(name) return dense[name] / mixture[name] end
  test.at_least(gain "decode 1", 3)
  test.check(gain "decode 1" > gain "decode 4" and gain "decode 4" > gain "decode 16")
  between(gain "decode 64", 1, 1.4, "gain at 64")
  test.check(gain "decode 256" > gain "decode 64")
  for _, name in ipairs { "prefill 4096", "prefill 16384" } do between(gain(name), 4, 10, name) end
end)

test("10: a decode is a line in the context, steeper with more KV heads; a prefill does not see them", function()
  local models = run "10_long_context"
  local few, many = times(models["llama-3.1-8b"]), times(models["llama-2-7b"])
  local function slope(list, from, to) return (list["decode " .. to] - list["decode " .. from]) / (to - from) end
  for _, list in ipairs { few, many } do
    test.near(slope(list, 16384, 32768), slope(list, 32768, 65536), 0.06, "a line")
  end
  test.near(slope(many, 16384, 65536) / slope(few, 16384, 65536), 4, 0.05)
  for _, variant in ipairs(models) do
    local decode, prefill = variant.price[5], variant.price[10]
    test.at_least(kind_s(decode, "attention_decode") / decode.time_s, 0.5, variant.name)
    test.near(kind_s(prefill, "attention_prefill") / kind_s(variant.price[9], "attention_prefill"), 4, 0.05)
  end
  test.near(few["prefill 65536"], many["prefill 65536"], 0.1)
end)

test("17: windows and states save their share of attention, an index less of it, and the most in prompts", function()
  local models = run "17_attention_kinds"
  local function share(variant)
    local sum_s = 0
    for _, kind in ipairs { "attention_decode", "mla_decode", "index", "dsa_module_decode", "linear_attention" } do
      sum_s = sum_s + kind_s(variant.price[1], kind)
    end
    return sum_s / variant.price[1].time_s
  end
  local function saved(name, step)
    local own, full = times(models[name]), times(models[name .. ", full"])
    return 1 - own[step] / full[step]
  end
  between(saved("gpt-oss-120b", "decode") / share(models["gpt-oss-120b, full"]), 0.4, 0.5, "of half of the layers")
  between(saved("qwen3-next-80b-a3b", "decode") / share(models["qwen3-next-80b-a3b, full"]), 0.65, 0.8, "of 3 of 4")
  between(saved("deepseek-v3.2", "decode") / share(models["deepseek-v3.2, full"]), 0.1, 0.5, "with an index")
  between(1 / (1 - saved("deepseek-v3.2", "prefill")), 2.5, 4, "prompts")
  for _, name in ipairs { "gpt-oss-120b", "qwen3-next-80b-a3b" } do
    test.check(saved(name, "prefill") < saved("deepseek-v3.2", "prefill"), name)
  end
end)

test("11: the H20 prefills slowest and pads its decodes; the H200's bandwidth shortens the H100's gaps", function()
  local gpus = run "11_gpus"
  local h100, h200, h20 = gpus["h100-sxm"].summary, gpus["h200-sxm"].summary, gpus.h20.summary
  test.near(h100.ttft_s.p50, h200.ttft_s.p50, 0.2)
  test.at_least(h20.ttft_s.p50, 4 * h200.ttft_s.p50)
  between(h200.itl_s.p50 / h100.itl_s.p50, 2 / 3, 0.9, "H200 to H100")
  test.check(h20.itl_s.p50 > h100.itl_s.p50)
end)

test("12: four times the traffic leaves the median TTFT alone, and a quarter of the requests late", function()
  local traffic = run "12_replay"
  local as_it_was, four = traffic["as recorded"].summary, traffic["4 times"].summary
  test.equal(four.completed, 600)
  test.check(four.ttft_s.p50 < 0.2)
  between(four.goodput_per_s / four.requests_per_s, 0.6, 0.85, "in time")
  test.near(as_it_was.goodput_per_s, as_it_was.requests_per_s, 1e-12)
end)

test("13: the longest gap falls with the slice of a scheduler written in the scenario", function()
  local schedulers = run "13_own_scheduler"
  local vllm, wide, narrow = schedulers.vllm_v1.summary, schedulers["polite, slice 2048"].summary,
    schedulers["polite, slice 512"].summary
  between(vllm.itl_s.max / wide.itl_s.max, 2.5, 4.5, "8,192 to 2,048")
  between(wide.itl_s.max / narrow.itl_s.max, 2, 4, "2,048 to 512")
  test.near(wide.ttft_s.p50, vllm.ttft_s.p50, 0.1)
  test.check(narrow.ttft_s.p50 > 1.15 * vllm.ttft_s.p50)
end)

test("14: a pass over the weights per prompt is wrong for short prompts; one for all is right", function()
  local policies = run "14_bucketing"
  local function reference_s(i)
    local fused = policies.fused.price[i]
    return fused.time_s - kind_s(fused, "attention_prefill") + kind_s(policies.exact.price[i], "attention_prefill")
  end
  local function off(policy, i) return policies[policy].price[i].time_s / reference_s(i) - 1 end
  for i = 1, 4 do between(off("fused", i), -0.05, 0.05, "fused, step " .. i) end
  between(off("exact", 1), -1e-9, 1e-9, "exact, equal prompts")
  test.at_least(off("exact", 2), 0.9, "exact, short prompts")
  between(off("pow2", 3), -0.05, 0.05, "pow2, mixed")
  between(off("pow2", 2), -0.15, -0.08, "pow2, short prompts")
end)

test("15: 1.8 overstates a fresh prompt by 11 % and understates its chunks", function()
  local counts = run "15_one_point_eight"
  local function ratio(label, i)
    local exact_s = kind_s(counts["exact pairs"].price[i], "attention_prefill")
    return kind_s(counts[label].price[i], "attention_prefill") / exact_s
  end
  test.near(ratio("full / 1.8", 1), 2 / 1.8, 1e-3)
  test.near(ratio("half", 1), 1, 1e-3)
  test.near(ratio("full / 1.8", 9), 0.59, 0.01)
  local exact, divided, half = 0, 0, 0
  for i = 2, 9 do
    exact = exact + kind_s(counts["exact pairs"].price[i], "attention_prefill")
    divided = divided + kind_s(counts["full / 1.8"].price[i], "attention_prefill")
    half = half + kind_s(counts.half.price[i], "attention_prefill")
  end
  test.near(divided / exact, 0.64, 0.01)
  test.check(half < divided)
end)

--- |b / a - 1| of every operation that a table has an answer for, by the evidence that `a` gives it.
local function apart(a, b, into)
  for i, priced in ipairs(a.price) do
    local other = {}
    for _, row in ipairs(b.price[i].rows) do other[row.name] = row end
    for _, row in ipairs(priced.rows) do
      if row.kind == "gemm" or row.kind:find "^attention" then
        local list = into[row.evidence] or {}
        into[row.evidence] = list
        list[#list + 1] = math.abs(other[row.name].time_s / row.time_s - 1)
      else
        test.equal(other[row.name].time_s, row.time_s, row.name)
      end
    end
  end
end

--- Tokens per GPU and second that InferSim's README says were measured.
local measured_by_infersim = { ["DeepSeek-V3 H800 prefill"] = 7839, ["DeepSeek-V3 H800 decode"] = 2324,
    ["Qwen3-30B-A3B H20 prefill"] = 16594, ["Qwen3-30B-A3B H20 decode"] = 2749, ["Qwen3-8B-FP8 H20 prefill"] = 15061,
    ["Qwen3-8B-FP8 H20 decode"] = 2682 }

test("05: two lookups differ where a shape lies between rows", function()
  local variants, by_evidence = run "05_two_tables", {}
  test.equal(#variants, 6)
  for i = 1, 5, 2 do apart(variants[i], variants[i + 1], by_evidence) end
  local median = require("rooflua.base.statistics").median
  test.at_least(#by_evidence.measured, 3)
  test.at_least(#by_evidence.interpolated, 10)
  test.at_least(#by_evidence.stand_in, 1)
  test.at_least(median(by_evidence.interpolated), 0.002)
end)

test("05: rows of the engine, and of no engine, answer as measured, those of another engine as stand-ins", function()
  for _, variant in ipairs(run "05_two_tables") do
    local engine = variant.parameters["deployment.engine"]
    for _, priced in ipairs(variant.price) do
      for _, row in ipairs(priced.rows) do
        local table_of = row.kind == "gemm" and row.note:match "gemm_[%w_]-_(%l+):"
        local good = row.evidence == "measured" or row.evidence == "interpolated"
        if good and table_of ~= "rooflua" then test.equal(table_of or engine, engine, row.name .. ": " .. row.note) end
      end
    end
  end
end)

test("06: with the shipped rows, the six figures are within 16 % of the measured", function()
  local variants = run "06_infersim_table"
  test.equal(#variants, 6)
  for _, variant in ipairs(variants) do
    local name = variant.parameters.point
    test.near(variant.static.prefill_tokens_per_s or variant.static.decode_tokens_per_s, measured_by_infersim[name],
              0.16, name)
  end
end)

test("06: on InferSim's own folder, by its own lookup, the six figures are its own, to the digit", function()
  test.shared "tables/infersim/LICENSE"
  local variants = run("06_infersim_table", "--set mfu.path=../shared/data/tables/infersim/bench_data "
    .. "--set mfu.layout=infersim --set mfu.lookup=infersim_head")
  local runs = json.read(test.shared "golden/infersim_runs.json")
  test.equal(runs.meta.commit:sub(1, 7), "f2293da")
  local expected = {} -- the examples that InferSim ships, by script
  for _, each in ipairs(runs.runs) do
    for _, stage in ipairs { "prefill", "decode" } do
      expected[each.group .. " " .. stage] = each.values and each.values[stage .. "/Throughput (TGS:tok/GPU/s)"]
    end
  end
  local scripts = {
    ["DeepSeek-V3 H800 prefill"] = "deepseek-v3/dsv3_prefill.sh prefill",
    ["DeepSeek-V3 H800 decode"] = "deepseek-v3/dsv3_decode.sh decode",
    ["Qwen3-30B-A3B H20 prefill"] = "qwen3-30B-A3B/prefill.sh prefill",
    ["Qwen3-30B-A3B H20 decode"] = "qwen3-30B-A3B/decode.sh decode",
    ["Qwen3-8B-FP8 H20 prefill"] = "qwen3-8B/sim.sh prefill", ["Qwen3-8B-FP8 H20 decode"] = "qwen3-8B/sim.sh decode" }
  test.equal(#variants, 6)
  for _, variant in ipairs(variants) do
    local name = variant.parameters.point
    local simulated = variant.static.prefill_tokens_per_s or variant.static.decode_tokens_per_s
    local theirs = expected["example:example/" .. scripts[name]]
    test.check(theirs, "%s: no such example in the golden file", name)
    test.near(simulated, theirs, 1e-14, name)
    test.near(simulated, measured_by_infersim[name], 0.16, name)
  end
end)

test("05, 06: tables that are not there are missed at both places", function()
  local pipe = io.popen(program .. " run scenarios/06_infersim_table.lua --set mfu.path=no/such 2>&1")
  local text = pipe:read "*a"
  pipe:close()
  test.check(text:find("scenarios/no/such beside the scenario and no/such in the working directory", 1, true), text)
end)

test("headers say how much of the time rows of tables carry", function()
  local said = 0
  for file in io.popen "ls scenarios/*.lua":lines() do
    local name = file:match "([^/]*)%.lua$"
    local header = {}
    for line in io.lines(file) do
      if not line:find "^%-%-%-" then break end
      header[#header + 1] = line:sub(4)
    end
    local text = table.concat(header, " "):gsub("%s+", " ")
    test.check(not text:find "[Kk]ernel times are modelled" and not text:find "MFUs are modelled", "%s", name)
    local least = tonumber(text:match "[Rr]ows of tables carry at least (%d+) %%%s?of the time")
    if least then
      said = said + 1
      if not carried[name] then run(name) end
      for label, share in pairs(carried[name]) do
        if not (name == "11_gpus" and label == "h20") then
          test.check(share >= least / 100, "%s, %s: %.1f %%, not %d", name, label, 100 * share, least)
        end
      end
      local lowest = 1
      for label, share in pairs(carried[name]) do
        if label ~= "h20" then lowest = math.min(lowest, share) end
      end
      test.check(lowest < least / 100 + 0.1, "%s: %.1f %%, the header says %d", name, 100 * lowest, least)
    end
  end
  test.at_least(said, 12, "headers")
end)

test.finish()
