-- Every device that ships: the memory that its engine leaves, a step with an interval, and a mark on each figure whose
-- vendor's page was not opened.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local engines = require "rooflua.engines"
local spec = require "rooflua.spec"

test("every device has a capacity below its memory, and a step that is no faster than reading the weights", function()
  local seen = 0
  for _, name in ipairs(spec.gpus()) do
    local hardware = spec.hardware(name)
    local found = engines.capacity { model = "qwen2.5-0.5b", hardware = name, engine = { "vllm 0.24" } }
    test.check(found.kv_tokens > 1000, "%s: %s tokens", name, tostring(found.kv_tokens))
    test.check(hardware.usable_memory_bytes <= 1.08 * hardware.memory_bytes, name) -- some GB are GiB
    local steps = bound.bind(require "steps.kernels" {}, { model = "qwen2.5-0.5b", hardware = name })
    local time_s = steps:time(bound.decodes(1, 1000))
    local least_s = 2 * 0.49e9 * 0.9 / hardware.memory_bytes_per_s
    test.check(time_s > least_s and time_s < 50 * least_s + 20e-3, "%s: %g s", name, time_s)
    seen = seen + 1
  end
  test.at_least(seen, 57)
end)

test("figures of devices whose vendor's page was not opened say so, and every figure has a source", function()
  for _, name in ipairs { "strix-halo", "ascend-950pr", "ascend-950dt", "rtx-5070", "rtx-5060-ti", "rtx-4060-ti",
    "rtx-3080" } do
    local handle = assert(io.open(require("rooflua.native").home .. "/bench_data/" .. name .. "/hardware.toml"))
    local text = handle:read "*a"
    handle:close()
    local sources = text:match "%[sources%]\n(.*)$"
    for key in text:match("^(.-)%[peak"):gmatch "\n([a-z_0-9]+) = [%d\"]" do
      local has_source = sources:find("\n" .. key .. " = \"", 1, true) or sources:find("^" .. key)
      test.check(key == "architecture" or has_source, "%s: %s", name, key)
    end
    for line in sources:gmatch "[^\n]+" do
      local is_marked = false
      for _, mark in ipairs { "not opened", "derived", "unverified", "^tables_from", "^peer_copies", "PCIe Gen",
        "^domain_gpus" } do
        is_marked = is_marked or line:find(mark) ~= nil
      end
      test.check(is_marked, "%s: %s", name, line)
    end
  end
end)

test.finish()
