-- Servers whose truth is known come back: a scenario drawn at random is emulated in scaled time, a client asks it over
-- HTTP, and its start-up log, its /metrics, a manifest and the result of the client go to attach.
--   ROOFLUA_EMULATED=300        how many servers; each takes some ten seconds
--   ROOFLUA_EMULATED_LINES=F    a line for each server is added to F; servers that have one there are not asked again
local test = dofile "tests/scripts/harness.lua"
local asked_about = require "rooflua.advise.asked"
local core = require "rooflua.base.core"
local gains = require "rooflua.attach.gains"
local measured_runs = require "rooflua.formats.measured_runs"
local opening = require "rooflua.runs.opening"
local quoting = require "rooflua.text.quoting"
local random = require "rooflua.random"
local trials = require "rooflua.advise.trials"

local program = test.program()
local servers = tonumber(os.getenv "ROOFLUA_EMULATED" or "3")
local lines_path = os.getenv "ROOFLUA_EMULATED_LINES"
local speed, count = 20, 100 -- seconds of the scenario in one; requests
local shows = 0.05           -- of the time of a request, above which a hidden host time has to be found

--- What can be drawn for an engine: releases, and values of options; false leaves one out.
local engines = {
  { name = "vllm", releases = { "0.8.5", "0.9.2", "0.10.2", "0.11.0", "0.19.1", "0.24.0" },
    options = { max_num_seqs = { 16, 32, 64, 128 }, max_model_len = { 8192, 16384 },
      max_num_batched_tokens = { false, 2048, 4096 }, gpu_memory_utilization = { false, 0.8, 0.85 },
      kv_cache_dtype = { false, false, "fp8" }, block_size = { false, 32 }, enable_prefix_caching = { true, false } } },
  { name = "sglang", releases = { "0.4.8", "0.5.3", "0.5.9", "0.5.12" },
    options = { max_running_requests = { 16, 32, 64, 128 }, context_length = { 8192, 16384 },
      chunked_prefill_size = { false, 2048, 4096 }, mem_fraction_static = { false, 0.7, 0.75 },
      schedule_conservativeness = { false, 0.7 }, disable_radix_cache = { false, true } } },
  { name = "trtllm", releases = { "1.0.0", "1.2.0", "1.3.0" },
    options = { max_batch_size = { 16, 32, 64, 128 }, max_num_tokens = { false, 4096 }, max_seq_len = { 8192, 16384 },
      ["kv_cache_config.free_gpu_memory_fraction"] = { false, 0.7 } } },
}
local models = { { "llama-3.1-8b", 1 }, { "qwen3-8b", 1 }, { "qwen3-32b", 1 }, { "qwen3-30b-a3b", 1 },
  { "llama-3.3-70b", 4 } }

local function text_of(path)
  local handle = io.open(path)
  if not handle then return "" end
  local text = handle:read "*a"
  handle:close()
  return text
end

local function output_of(line)
  local handle = io.popen(line)
  local text = handle:read "*a"
  handle:close()
  return text
end

--- { "vllm 0.10.2", max_num_seqs = 64 }, as a scenario has it.
local function engine_text(engine)
  local parts = { quoting.lua(engine[1]) }
  for name, value in core.sorted_pairs(core.plain(engine)) do
    if name ~= 1 then
      parts[#parts + 1] = quoting.lua_key(name) .. " = " .. (type(value) == "string" and quoting.lua(value)
        or tostring(value))
    end
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

--- A server: what is known of it, and the text of its scenario.
local function drawn(number)
  local stream = random.streams(number):stream "server"
  local function one(list) return list[stream:integer(1, #list)] end
  local kind, model = one(engines), one(models)
  local own = { engine = { kind.name .. " " .. one(kind.releases) }, model = model[1], tp = model[2],
    hardware = one { "h100-sxm", "h200-sxm" }, host_s = 0.7e-3 * one { 2, 3, 5, 8, 14 }, rate = one { 2, 4, 6 } }
  for name, values in core.sorted_pairs(kind.options) do
    local value = one(values)
    if value or name == "enable_prefix_caching" then own.engine[name] = value end
  end
  local at_s, rows = 0, {}
  for i = 1, count do
    at_s = at_s - math.log(1 - stream:uniform()) / own.rate
    local function length(mean, most)
      local a, b = math.max(1e-12, stream:uniform()), stream:uniform()
      local normal = math.sqrt(-2 * math.log(a)) * math.cos(2 * math.pi * b)
      return math.max(2, math.min(most, math.floor(mean * math.exp(0.6 * normal))))
    end
    rows[i] = ("%.6f %d %d"):format(at_s / speed, length(600, 3000), length(80, 800))
  end
  own.requests = table.concat(rows, "\n") .. "\n"
  own.text = ([[return { rooflua = 1, seed = 5, model = %q, hardware = %q, deployment = { tp = %d },
  engine = %s, steps = require "steps.kernels" { host_step_s = %.17g },
  workload = require "workloads.poisson" { rate_per_s = %d, num_requests = 10, prompt_tokens = 600,
    output_tokens = 80 } }
]]):format(own.model, own.hardware, own.tp, engine_text(own.engine), own.host_s, own.rate)
  return own
end

--- Serves a scenario to a client until it has what it asked. Returns its log, the client's result and its /metrics.
local function served(own)
  local path, out = test.file("truth.lua", own.text), test.file("served.txt", "")
  local log, result, pages = test.file("server.log", ""), test.file("result.json", ""), test.file("metrics.txt", "")
  local client, away = test.file("requests.txt", own.requests), test.file("client.txt", "")
  os.remove(result)
  local process = output_of(("%s emulate %s --port 0 --speed %g --drain 20 --startup-log %s --requests %s > %s 2>&1 & "
    .. "echo $!"):format(program, path, speed, log, result, out)):match "%d+"
  local url
  for _ = 1, 300 do
    url = text_of(out):match "listening on (http://%S+),"
    if url or text_of(out):find "^rooflua: " then break end
    os.execute "sleep 0.1"
  end
  if not url then
    local why = text_of(out):gsub("%s+", " ")
    if why:find "built without libevent" then test.skip "this program was built without libevent: no server answers" end
    if why:find "does not fit" then test.skip "the model that was drawn does not fit" end
    test.check(false, "the server does not start: %s", why)
  end
  local status = os.execute(("node tests/emulate/clients/requests.mjs %s < %s > %s 2>&1"):format(url, client, away))
  os.execute(("curl -s -m 20 %s/metrics > %s"):format(url, pages))
  os.execute("kill " .. process)
  for _ = 1, 300 do
    if text_of(result):find "}%s*$" then break end
    os.execute "sleep 0.1"
  end
  test.equal(status, 0, "the client: " .. text_of(away) .. text_of(out))
  return { path = path, log = log, result = result, pages = pages }
end

--- The change that is best on the true server under the load that it had, by brute force.
local function best_of(of)
  local workload = measured_runs.read_all(of.result)[1].workload
  local given = dofile(of.path)
  given.workload = workload
  local opened = opening.table(given, {})
  local asked = { reader = opened.reader, given = trials.plain((opening.variant(opened, 1))), jobs = 1,
    is_late = asked_about.clock(1e6) }
  return gains.of(asked, false).list
end

--- What did not come back, as sentences; the share of the host in the time of a request; how far its time is off.
local function asked(own)
  local of, wrong = served(own), {}
  local form = own.tp == 1 and "kubernetes" or "lws"
  local manifest = test.folder() .. "/prod.yaml"
  os.remove(manifest)
  local said, status = test.run("new", (manifest:gsub("%.yaml$", "")), "--as", form, "--from", of.path)
  test.equal(status, 0, said)
  local written = test.file("written.lua", "")
  os.remove(written)
  local files = { of.log, of.result, manifest }
  if not own.engine[1]:find "^trtllm" then table.insert(files, 3, of.pages) end -- its pages say nothing of the KV cache
  for _, word in ipairs { "--hardware", own.hardware, "--engine", own.engine[1], "--limit", "600", "--write", written,
    "--json", "-" } do
    files[#files + 1] = word
  end
  local found = test.json_of("attach", unpack(files))
  local function differs(what, a, b) wrong[#wrong + 1] = ("%s: %s is %s"):format(what, tostring(a), tostring(b)) end
  for _, name in ipairs { "kv_tokens", "kv_blocks" } do
    if found.seen[name] and found.seen[name] ~= found.believed[name] then
      differs(name, found.believed[name], found.seen[name])
    end
  end
  if not (found.seen.kv_tokens or found.seen.kv_blocks) then differs("KV cache", "some", nil) end
  local given = dofile(written)
  for name, value in core.sorted_pairs(own.engine) do
    if given.engine[name] ~= value then differs(name, value, given.engine[name]) end
  end
  if given.model ~= own.model then differs("model", own.model, given.model) end
  if given.hardware ~= own.hardware then differs("hardware", own.hardware, given.hardware) end
  local tp = (given.deployment or {}).tp or given.engine.tensor_parallel_size or given.engine.tp_size or 1
  if tp ~= own.tp then differs("tp", own.tp, tp) end
  local share, host = found.seen.e2e_s_mean / found.believed.e2e_s_mean - 1, nil
  if share > shows then
    host = (given.steps and core.plain(given.steps).host_step_s or 0) / own.host_s - 1
    if math.abs(host) > 0.02 then differs("host_step_s", own.host_s, own.host_s * (1 + host)) end
  end
  local list = best_of(of)
  local best, first = list[1] or {}, found.changes[1] or {}
  if first.set ~= best.set or tostring(first.after) ~= tostring(best.after) then
    differs("best change", ("%s=%s %.4f"):format(best.set, tostring(best.after), best.gain or 0),
      ("%s=%s %.4f"):format(first.set, tostring(first.after), first.gain or 0))
  end
  return wrong, share, host
end

local known = {}
for line in (lines_path and text_of(lines_path) or ""):gmatch "[^\n]+" do
  local number, verdict = line:match "^(%d+)\t(%a+)\t"
  if number then known[tonumber(number)] = { verdict, line } end
end

for i = 1, servers do
  test(("server %d comes back"):format(i), function()
    if known[i] then
      test.equal(known[i][1], "equal", known[i][2])
      return
    end
    local own = drawn(i)
    local ok, wrong, share, host = pcall(asked, own)
    if not ok and type(wrong) == "table" and wrong.skip then error(wrong, 0) end
    if not ok then wrong = { "ended: " .. (type(wrong) == "table" and wrong.message or tostring(wrong)) } end
    local line = ("%d\t%s\t%s\thost %s off %s\t%s"):format(i, #wrong == 0 and "equal" or "differs",
      ("%s on %s x%d %s"):format(own.model, own.hardware, own.tp, engine_text(own.engine)),
      share and ("%.3f"):format(share) or "-", host and ("%.5f"):format(host) or "-",
      (table.concat(wrong, "; "):gsub("%s+", " ")))
    if lines_path then
      local handle = assert(io.open(lines_path, "a"))
      handle:write(line, "\n")
      handle:close()
    end
    test.equal(#wrong, 0, line)
  end)
end

test.finish()
