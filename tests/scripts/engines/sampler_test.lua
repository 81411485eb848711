-- Which sampler vLLM's dummy run has, by release and where a command says it.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.engines"

--- The memory of a model with 201,088 words on an H100, whose server has 1,024 seats; whether a note names the sampler.
local function found(release, options, deployment)
  local engine = { release }
  for name, value in pairs(options or {}) do engine[name] = value end
  local of = engines.capacity { model = "gpt-oss-120b", hardware = "h100-sxm", engine = engine,
    deployment = deployment }
  return of, of.note ~= nil and of.note:find "FlashInfer's sampler" ~= nil
end

local function activations(of)
  for _, part in ipairs(of.parts) do
    if part.name == "activations" then return part.bytes end
  end
end

--- 8,192 tokens of 2,880 numbers, in 16 bits, and a row of logits for each seat.
local function expected(bytes) return bytes * 1024 * 201088 + 8192 * 2880 * 2 end

test("PyTorch's sampler takes 38.3 bytes of a seat and word, FlashInfer's 14", function()
  test.near(activations(found("vllm 0.11.2", nil, { tp = 2 })), expected(38.3), 1e-6)
  test.near(activations(found("vllm 0.16", nil, { tp = 2 })), expected(14), 1e-6)
  test.near(activations(found("vllm 0.11.2", { VLLM_USE_FLASHINFER_SAMPLER = "1" }, { tp = 2 })), expected(14), 1e-6)
  test.near(activations(found("vllm 0.16", { VLLM_USE_FLASHINFER_SAMPLER = "0" }, { tp = 2 })), expected(38.3), 1e-6)
end)

test("where a release has either, the smaller one is taken if nothing else starts; a note says so", function()
  local short = { max_model_len = 65536 }
  local of, note = found("vllm 0.10.2", nil, short)
  test.near(activations(of), expected(14), 1e-6)
  test.check(of.starts and note, "starts with a note")
  local roomy, quiet = found("vllm 0.10.2", nil, { tp = 2, max_model_len = 65536 })
  test.near(activations(roomy), expected(38.3), 1e-6)
  test.equal(quiet, false)
  of, note = found("vllm 0.10.2", { VLLM_USE_FLASHINFER_SAMPLER = "0" }, short)
  test.check(not of.starts and not note, "PyTorch's is asked for, and there is no room")
  of, note = found("vllm 0.11.0", nil, short)
  test.check(not of.starts and not note, "0.11.0 has PyTorch's")
end)

test("a run says it too", function()
  local run = require "rooflua.serve".run { model = "gpt-oss-120b", hardware = "h100-sxm", engine = "vllm 0.10.2",
    deployment = { max_model_len = 65536 },
    workload = require "workloads.closed_loop" { clients = 1, num_requests = 1, output_tokens = 4 } }
  test.has(table.concat(run.notes, " "), "FlashInfer's sampler")
end)

test.finish()
