-- An engine of the user's own: one file beside the scenario, with what differs from another engine.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"

local program = os.getenv "ROOFLUA_PROGRAM" or native.program or "build/release/bin/rooflua"
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir -p " .. folder .. "/engines")

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

local function said(arguments)
  local pipe = io.popen(("%s %s 2>&1"):format(program, arguments))
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local function mine(more, extends)
  write("engines/mine.lua", ('return { name = "mine", extends = %q, %s }'):format(extends or "vllm", more))
end

local function scenario(engine)
  write("s.lua", ([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm", engine = %s,
    workload = require "workloads.poisson" { rate_per_s = 50, num_requests = 60, prompt_tokens = 400,
      output_tokens = 40 } }]]):format(engine))
  return folder .. "/s.lua"
end

--- Requests in a step, the mean over steps; at most the seats.
local function mean_batch(path, more)
  local text = said(("run --quiet --json - %s %s"):format(path, more or ""))
  return tonumber(text:match '"decode_batch_mean": ([%d.e+-]+)') or text
end

local function seats(expected, path, more)
  local mean = mean_batch(path, more)
  test.check(type(mean) == "number" and mean <= expected and mean > expected - 1, "%s requests in a step", mean)
end

local has = test.has

test("a fork runs by its own rules, and by those of the release that it extends", function()
  mine('releases = { "1.0" }, rules = { { max_num_seqs = 3, source = "our fork" } }', "vllm 0.12")
  seats(3, scenario '"mine 1.0"')
  seats(5, scenario '{ "mine 1.0", max_num_seqs = 5 }')
  local values = said("check " .. scenario '"mine 1.0"')
  has(values, "ok (1 variant, kind serve)")
end)

test("a fork without releases has those of its parent", function()
  mine 'rules = { { since = "0.19", max_num_seqs = 2, source = "our fork" } }'
  seats(2, scenario '"mine 0.19"')
  test.at_least(mean_batch(scenario '"mine 0.18"'), 3)
  has(said("run --quiet " .. scenario '"mine 0.1"'), "rules are known from 0.5.0 on")
end)

test("a plan tries the fork, and writes the scenario that it was", function()
  mine('releases = { "1.0" }, rules = { { source = "our fork", scheduler = "sjf" } }', "vllm 0.19")
  write("p.lua", [[return { rooflua = 1, kind = "plan", model = "llama-3.1-8b", engine = "mine 1.0", seed = 1,
    workload = require "workloads.poisson" { prompt_tokens = 200, output_tokens = 20 },
    plan = { load = { rate_per_s = 2 }, slo = { ttft_s_p99 = 5 }, gpus = { { "h100-sxm", most = 2,
      price_per_hour = 3 } }, requests = 50, replicates = 0,
      candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 64 }, max_num_batched_tokens = { 2048 } },
    } }]])
  local text = said(("plan %s/p.lua --quiet --write %s/out"):format(folder, folder))
  has(text, "mine, 64 seats")
  local file = assert(io.open(folder .. "/out/1/scenario.lua"))
  local written = file:read "*a"
  file:close()
  has(written, 'engine = "mine 1.0"')
  has(written, "schedulers.sjf")
end)

test("an edited file of an engine gives its runs another name", function()
  local store = folder .. "/r.sqlite"
  mine('releases = { "1.0" }, rules = { { max_num_seqs = 3, source = "our fork" } }', "vllm 0.19")
  local path = scenario '"mine 1.0"'
  seats(3, path, "--results " .. store)
  mine('releases = { "1.0" }, rules = { { max_num_seqs = 4, source = "our fork" } }', "vllm 0.19")
  seats(4, path, "--results " .. store)
end)

test("what a file of an engine has wrong is named with the file", function()
  local function refused(expected, more, extends)
    mine(more, extends)
    local text = said("check " .. scenario '"mine 1.0"')
    has(text, expected)
    has(text, "mine.lua")
  end
  refused("unknown name 'max_num_seq'", 'releases = { "1.0" }, rules = { { max_num_seq = 3, source = "x" } }')
  refused("rules[1].since: 'new' is no release", 'releases = { "1.0" }, rules = { { since = "new", source = "x" } }')
  refused("releases[2]: 1.0 does not come after 2.0", 'releases = { "2.0", "1.0" }')
  refused("unknown key 'rule'", 'releases = { "1.0" }, rule = {}')
  refused("unknown condition of gpu 'memory'",
    'releases = { "1.0" }, rules = { { gpu = { memory = 3 }, max_num_seqs = 3, source = "x" } }')
  refused("is one release; say releases", "rules = {}", "vllm 0.19")
  local seats_option = '{ "max_num_seqs", type = "integer", key = "scheduler.max_num_seqs", doc = "seats" }'
  refused("options[2]: 'max_num_seqs' is options[1] already",
    ('releases = { "1.0" }, options = { %s, %s }'):format(seats_option, seats_option))
  refused("options[3]: 'max_num_seqs' is options[1] already", ('releases = { "1.0" }, options = { %s, { "more", '
    .. 'type = "integer", doc = "x", note = "y" }, %s }'):format(seats_option, seats_option), "vllm")
  refused("unknown engine 'vlm'", 'releases = { "1.0" }', "vlm")
end)

os.execute("rm -rf " .. folder)
test.finish()
