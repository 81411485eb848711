-- A range of servers that are emulated: clients ask them over HTTP, their /metrics is scraped meanwhile, and the
-- scrapes become a dump. What comes back is what was asked, and --url finds the KV cache of the emulated engine.
-- ROOFLUA_ATTACHED says how many servers are asked for a range; else none is, since it takes seconds of real time.
local test = dofile "tests/scripts/harness.lua"
local expressions = require "rooflua.ranges.expressions"
local json = require "rooflua.json"
local quoting = require "rooflua.text.quoting"
local range = require "rooflua.ranges.range"

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
local servers = tonumber(os.getenv "ROOFLUA_ATTACHED" or "0")

local function text_of(path)
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return text
end

local function output_of(command)
  local handle = io.popen(command)
  local text = handle:read "*a"
  handle:close()
  return text
end

--- A served scenario: its address and its process; nil where this program serves nothing.
local function served(engine, options)
  local path = test.file("served.lua", ([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm",
    engine = { %q }, seed = 3 }]]):format(engine))
  local out = test.file("served.txt", "")
  local process = output_of(("%s emulate %s --port 0 %s > %s 2>&1 & echo $!"):format(program, quoting.shell(path),
    options or "", quoting.shell(out))):match "%d+"
  for _ = 1, 200 do
    local url = text_of(out):match "listening on (http://%S+),"
    if url then return url, process end
    if text_of(out):find "built without libevent" then return nil end
    os.execute "sleep 0.1"
  end
  test.check(false, "the server does not start: %s", text_of(out))
end

test("--url finds the KV cache of each engine in /metrics, exactly what the ledger has of it", function()
  for _, each in ipairs { { "vllm 0.10.2", "kv_blocks" }, { "vllm 0.24.0", "kv_tokens" },
    { "sglang 0.5.9", "kv_blocks" }, { "sglang 0.5.12", "kv_tokens" } } do
    local url, process = served(each[1])
    if not url then test.skip "this program was built without libevent: no server answers" end
    local command = "%s attach --url %s --watch 0 --hardware h100-sxm --engine %q --json - --limit 2"
    local found = json.decode(output_of(command:format(program, url, each[1])))
    os.execute("kill " .. process)
    test.check(found.seen[each[2]] ~= nil, "%s: %s is not seen", each[1], each[2])
    test.equal(found.believed[each[2]], found.seen[each[2]], each[1])
  end
end)

--- The samples of a page of /metrics: name{labels} -> value.
local function samples_of(page)
  local out = {}
  for line in page:gmatch "[^\n]+" do
    local name, value = line:match "^([^#%s][^%s]*)%s+(%S+)$"
    if name then out[name] = tonumber(value) end
  end
  return out
end

--- The answer of Prometheus that scrapes at these times would give.
local function dump_of(scrapes)
  local result, known = {}, {}
  for _, scrape in ipairs(scrapes) do
    for key, value in pairs(samples_of(scrape.page)) do
      if not known[key] then
        local own = expressions.read(key)
        known[key] = { metric = own.labels, values = {} }
        own.labels.__name__ = own.name
        result[#result + 1] = known[key]
      end
      table.insert(known[key].values, { scrape.at, ("%.17g"):format(value) })
    end
  end
  return json.encode { status = "success", data = { resultType = "matrix", result = result } }
end

local function ask(url, prompt, tokens)
  local body = json.encode { model = "llama-3.1-8b", prompt = ("word "):rep(prompt), max_tokens = tokens,
    ignore_eos = true }
  return output_of(("curl -s -m 20 %s/v1/completions -H 'Content-Type: application/json' -d %s"):format(url,
    quoting.shell(body)))
end

for i = 1, servers do
  test(("server %d: what clients asked over HTTP is what its range says"):format(i), function()
    local engine = ({ "vllm 0.10.2", "sglang 0.5.9", "trtllm 1.3.0" })[1 + (i - 1) % 3]
    local url, process = served(engine, "--speed 20")
    if not url then test.skip "this program was built without libevent: no server answers" end
    local scrapes, prompts, outputs, asked = {}, 0, 0, 0
    local function scrape(n)
      scrapes[n] = { at = 1767225600 + 10 * n, page = output_of("curl -s " .. url .. "/metrics") }
    end
    scrape(1)
    for n = 2, 5 do
      for k = 1, n do
        local usage = json.decode(ask(url, 20 * n + i, 4 + k)).usage
        prompts, outputs, asked = prompts + usage.prompt_tokens, outputs + usage.completion_tokens, asked + 1
      end
      scrape(n)
    end
    os.execute("kill " .. process)
    local text = dump_of(scrapes)
    local of = range.of { { path = test.file("range.json", text), text = text } }
    test.equal(of.count, asked, engine)
    test.near(of.figures.prompt_tokens, prompts / asked, 1e-9, engine)
    test.near(of.figures.output_tokens, outputs / asked, 1e-9, engine)
    test.equal(#of.intervals, 4, engine)
    for n, each in ipairs(of.intervals) do test.equal(each.arrivals, n + 1, engine) end
    test.check(of.figures.ttft_s.mean > 0 and of.figures.e2e_s.mean > of.figures.ttft_s.mean, "%s: times", engine)
  end)
end

test.finish()
