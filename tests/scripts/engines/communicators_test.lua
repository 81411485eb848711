-- Memory of vLLM besides weights, activations and graphs: communicators, AITER's all-reduce, contexts; and what its
-- dummy run keeps for cached prefixes of latent attention.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.engines"

local gib = 2 ^ 30

--- GiB of a part of a model's memory.
local function part(name, model, hardware, release, deployment, options)
  local engine = { "vllm " .. release }
  for option, value in pairs(options or {}) do engine[option] = value end
  local of = engines.capacity { model = model, hardware = hardware, engine = engine, deployment = deployment }
  for _, each in ipairs(of.parts) do
    if each.name == name then return each.bytes / gib end
  end
end

local function beside(...) return part("non-torch", ...) end

local dense, experts = "llama-3.3-70b", "qwen3-235b-a22b"

test("experts have a communicator of their own", function()
  local tp = { tp = 4 }
  test.near(beside(dense, "b200", "0.15", tp), 1.2, 1e-9)
  test.near(beside(experts, "b200", "0.15", tp), 2.95, 1e-9)
  test.near(beside(dense, "h100-sxm", "0.15", tp), 0.65, 1e-9)
  test.near(beside(experts, "h100-sxm", "0.15", tp), 0.9, 1e-9)
  test.near(beside(dense, "l40s", "0.15", tp), 0.2, 1e-9)
  test.near(beside(experts, "l40s", "0.15", tp), 0.2, 1e-9)
  test.near(beside("llama-3.1-8b", "b200", "0.15"), 0.4, 1e-9)
end)

test("from 0.26 on the context of the process counts", function()
  for _, hardware in ipairs { "b200", "h100-sxm", "mi355x" } do
    local before, after = beside(dense, hardware, "0.25", { tp = 4 }), beside(dense, hardware, "0.26", { tp = 4 })
    test.near(after - before, 0.3, 1e-9)
  end
end)

test("buffers of AITER's all-reduce, by release and variable", function()
  local tp, off = { tp = 4 }, { VLLM_ROCM_USE_AITER = "0" }
  for release, bytes in pairs { ["0.20"] = 0, ["0.21"] = 4, ["0.24"] = 4, ["0.25"] = 0.5 } do
    test.near(beside(dense, "mi355x", release, tp), 1 + bytes, 1e-9)
    test.near(beside(experts, "mi355x", release, tp), 2 + bytes, 1e-9)
    test.near(beside(experts, "mi355x", release, tp, off), 2, 1e-9)
  end
  test.near(beside("llama-3.1-8b", "mi355x", "0.24"), 0.13, 1e-9)
  test.near(beside(dense, "b200", "0.24", tp, off), beside(dense, "b200", "0.24", tp), 1e-9)
end)

test("what the host takes of a shared memory counts", function()
  test.near(beside("llama-3.1-8b", "gb10", "0.29"), 10, 1e-9)
end)

--- Keys and values of 65,536 cached tokens in bf16, 256 numbers a head; hidden states of 2,048 tokens.
local function prefixes(heads) return (65536 * heads * 256 + 2048 * 3 * 7168) * 2 / gib end

test("cached prefixes of latent attention are projected up", function()
  local function activations(release, width)
    local deployment = { max_model_len = 16384, dp = width == 1 and 8 or nil, tp = width }
    return part("activations", "deepseek-r1", "h200-sxm", release, deployment,
      { max_num_seqs = 8, max_num_batched_tokens = 2048 })
  end
  test.near(activations("0.16", 1), prefixes(128), 1e-9)
  test.check(activations("0.16", 8) < 1, "16 heads on a rank")
  test.check(activations("0.10.2", 1) < prefixes(128), "not read before 0.11")
end)

test.finish()
