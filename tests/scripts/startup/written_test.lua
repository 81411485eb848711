-- Logs that the emulated servers write (logs/log.lua) are read: whose words they are is another matter than who reads
-- them. Figures are those of the ledger, as exactly as the engine prints them.
local test = dofile "tests/scripts/harness.lua"
local deployment = require "rooflua.startup.deployment"
local engines = require "rooflua.engines"
local reading = require "rooflua.startup.reading"
local release = require "rooflua.engines.release"
local seen = require "rooflua.startup.seen"

local releases = { vllm = { "0.8.5", "0.10.0", "0.14.0", "0.19.0", "0.24.0", "0.28.0" },
  sglang = { "0.4.6", "0.5.2", "0.5.9", "0.5.14", "0.5.18" },
  trtllm = { "0.20.0", "1.0.0", "1.1.0", "1.2.0", "1.3.0" } }
local models, gpus = { "llama-3.1-8b", "qwen3-32b", "qwen3-30b-a3b", "deepseek-v3" }, { "h100-sxm", "h200-sxm", "b200" }
local widths, forms = { 1, 2, 8 }, { "plain", "compose", "kubectl", "json" }

--- Calls visit(about, capacity, text, engine, release) for deployments that start: every release with each form, other
--- things drawn.
local function each_log(visit)
  local state = 7
  local function one(list)
    state = (state * 1103515245 + 12345) % 2147483648
    return list[1 + math.floor(state / 65536) % #list]
  end
  local count = 0
  for _, name in ipairs { "vllm", "sglang", "trtllm" } do
    for _, number in ipairs(releases[name]) do
      for _, form in ipairs(forms) do
        for _ = 1, 2 do
          local about = { engine = name .. " " .. number, model = one(models), hardware = one(gpus),
            deployment = { tp = one(widths) } }
          local ok, capacity = pcall(engines.capacity, about)
          if ok and capacity.starts then
            about.form = form
            count = count + 1
            visit(about, capacity, engines.startup_log(about), name, number)
          end
        end
      end
    end
  end
  test.check(count >= 40, "only %d deployments start", count)
end

test("a fraction that a log has in single precision is the one that was written", function()
  local text = engines.startup_log { model = "llama-3.1-8b", hardware = "h200-sxm",
    engine = { "trtllm 1.0.0", ["kv_cache_config.free_gpu_memory_fraction"] = 0.7 } }
  test.has(text, "fraction is set 0.69999998")
  local found = deployment.of { from = { test.file("single.log", text) } }
  test.equal(found.options["kv_cache_config.free_gpu_memory_fraction"], 0.7)
end)

test("tokens and the model of every written log are those of its deployment", function()
  each_log(function(about, capacity, text, name, number)
    local what = ("%s, %s on %s, tp %d, %s"):format(about.engine, about.model, about.hardware, about.deployment.tp,
      about.form)
    local path = test.file("start.log", text)
    local found = seen.of { path }
    test.check(found.facts.kv_tokens, "%s: no tokens", what)
    test.near(found.facts.kv_tokens.value / capacity.kv_tokens, 1, 1e-3, what)
    local record = reading.record("start.log", text)
    test.check(record.understood >= 5, "%s: %d lines are understood", what, record.understood)
    local given = name == "sglang" and about.engine or nil -- its start prints no release
    local read = deployment.of { from = { path }, engine = given }
    test.equal(read.engine.name, name, what)
    test.check(release.same(read.release, number), "%s: read as %s", what, tostring(read.release))
  end)
end)

test.finish()
