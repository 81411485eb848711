-- Every line of steps/kernels that makes a price is needed: with the line changed, kernels_prices_test.lua
-- fails. Each row is what the line does, the line, and what stands there instead.
local test = dofile "tests/scripts/harness.lua"

local mutations = {
  ["steps.kernels"] = {
    { "absorbed projections", "time_s = time_s + self.decode_rows_time(decodes)", "time_s = time_s + 0" },
    { "recurrent layers", "if self.linear then time_s = time_s + self:linear_attention(batch) end", "" },
    { "recurrent layers of decodes", "if batch.decodes > 0 then", "if false then" },
    { "the sign of overlap", "- self.overlap * min(", "+ self.overlap * min(" },
    { "what the larger attention hides is the shorter", "min(prefill_s, beside_s)",
      "max(prefill_s, beside_s)" },
    { "the launch is not hidden twice", "decode_s - self.attention_layers * decode_paid_s", "decode_s" },
    { "rows that a chunk expands", "rows = rows + prefills[i].new_tokens + prefills[i].context_tokens",
      "rows = rows + prefills[i].new_tokens" },
    { "expanded rows are priced", "time_s = time_s + self:expanded_time(batch, chunks)", "" },
    { "a later chunk of latent attention", "max(0, estimate.latency_s - paid_s)", "estimate.latency_s" },
    { "a later chunk", "paid_s > 0 and paid_s or nil)", "nil)" },
    { "no negative launch", "max(0, estimate.latency_s - paid_s)", "estimate.latency_s + paid_s" },
    { "the launch is as long as its longest part", "min(self.attention_launch_s, paid_s + time_s / layers)",
      "self.attention_launch_s" },
    { "decodes pay no more launch than they take",
      "min(self.attention_launch_s, decode_s / self.attention_layers)",
      "self.attention_launch_s" },
    { "words of the vocabulary", "self.sorted_logit_s * model.vocab_size", "0" },
    { "sorted logits per request", "self.sampler_s + self.sorted_row_s * requests", "self.sampler_s" },
    { "the sampler", "time_s + attention_s + cost.record", "attention_s + 0 * time_s + cost.record" },
    { "kernels are counted", "self.kernel_count = self.kernel_count + op.count", "" },
    { "the eager floor", "max(time_s, self.kernel_count * self.small.eager_s)", "time_s" },
    { "a graph has no eager floor", "if tokens <= self.graph_tokens then return time_s end", "" },
    { "host time of requests", "self.host_step_s + self.host_request_s * batch.requests",
      "self.host_step_s - self.host_request_s * batch.requests" },
    { "host time per request", "self.host_request_s * batch.requests", "self.host_request_s" },
    { "host time is added", "return gpu_s + cost.record(\"host\", host_s, \"assumed\") end", "return gpu_s end" },
    { "only what the GPU does not hide", "gpu_s + cost.record(\"host\", host_s - gpu_s",
      "gpu_s + cost.record(\"host\", host_s" },
    { "the head sees requests", "self.head_time(requests)", "self.head_time(tokens)" },
    { "GEMMs are padded", "self.layers_time(graphs.padded(tokens, self.graph_tokens))", "self.layers_time(tokens)" },
    { "the new tokens are in the cache", "self.attention_layers, context + n", "self.attention_layers, context" },
    { "a block of keys at least", "max(tokens, n * attention_block)", "tokens" },
    { "KV bytes", "computed * self.kv_bytes_per_token", "computed" },
    { "each layer attends", "latency_s, evidence, layers, flop", "latency_s, evidence, 1, flop" },
  },
  ["steps.kernels.ops"] = {
    { "tokens of an expert rank", "math.max(1, rows / steps.tp)", "rows" },
    { "whole experts", "steps.expert_parallel and 1 or steps.tp", "steps.tp" },
    { "as many ranks", "ranks = steps.tp, tokens", "ranks = 1, tokens" },
    { "all-to-all for the all-reduce", 'if steps.expert_parallel and op.name == "mlp_all_reduce"', "if false" },
    { "there and back", "2 * op.count", "op.count" },
    { "tokens go to all their experts", "* steps.model.moe.experts_per_token / steps.tp", "/ steps.tp" },
    { "batched GEMMs", "if op.groups > 1 then return ops.batched_gemm(steps, op, rows) end", "" },
    { "MFU of batched GEMMs", "steps.batched_gemm_mfu,\n                                      steps", "1,\n steps" },
    { "launch of batched GEMMs", "time_s + steps.small_kernel_s", "time_s" },
    { "weights of batched GEMMs", "op.weight_bytes + op.bytes_per_row * rows\n  local time_s, bound",
      "0\n  local time_s, bound" },
    { "flop of a pair", "return 4 * op.heads * op.head_dim, 4 * op.heads * op.head_dim end",
      "return 2 * op.heads * op.head_dim, 2 * op.heads * op.head_dim end" },
    { "flop of an absorbed pair", "2 * mla.kv_lora_rank + mla.qk_rope_head_dim", "mla.kv_lora_rank" },
    { "flop of an expanded pair", "mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim)",
      "mla.qk_nope_head_dim)" },
    { "recurrent heads of a rank", "value_heads = hybrid.value_heads / tp", "value_heads = hybrid.value_heads" },
    { "the shape of recurrent decodes", 'op = "linear_attention", decode = decode',
      'op = "linear_attention", decode = false' },
    { "bytes of an all-reduce", "op.bytes_per_row * run, steps.tp, op.count", "run, steps.tp, op.count" },
  },
  ["steps.kernels.small"] = {
    { "the node of a small kernel", "* steps.small_kernel_bandwidth) + self.node_s",
      "* steps.small_kernel_bandwidth)" },
    { "the bandwidth small kernels reach", "memory_bytes_per_s * steps.small_kernel_bandwidth", "memory_bytes_per_s" },
    { "weights of norms", "op.bytes_per_row * rows + op.weight_bytes", "op.bytes_per_row * rows" },
  },
  ["steps.kernels.monotone"] = {
    { "fewer requests cost no more", "if after and after.times[j] < least_s then", "if false then" },
    { "shorter contexts cost no more", "if asked_s < least_s then", "if true then" },
    { "the way between tokens", "few[j] + (few[j + 1] - few[j]) * v", "few[j]" },
    { "the way between requests", "few_s + (many_s - few_s) * u", "few_s" },
    { "a short mean", "if computed >= n * usual_context then", "if true then" },
    { "tokens beyond the grid", "computed, beyond = most_tokens, computed / most_tokens", "computed = most_tokens" },
  },
}

--- Replaces the one place where `from` stands.
local function replaced(source, from, to)
  local first, last = source:find(from, 1, true)
  assert(first, "the line is not in the script: " .. from)
  assert(not source:find(from, last + 1, true), "stands twice in the script: " .. from)
  return source:sub(1, first - 1) .. to .. source:sub(last + 1)
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

--- The tests of prices, run with another script in its place. True if one failed.
local function fails_with(name, source)
  local chunk = assert(loadstring(source, "=mutated " .. name))
  local function forget()
    for loaded in pairs(package.loaded) do
      if loaded:find "^steps%.kernels" then package.loaded[loaded] = nil end
    end
  end
  forget()
  package.preload[name] = chunk
  local exit, print_line, status = os.exit, print, nil
  os.exit = function(code)
    status = code
    error({ message = "over" }, 0)
  end
  print = function(line)  -- the first failure is enough
    if line:find "^FAILED" then error({ message = "failed" }, 0) end
  end
  pcall(dofile, "tests/scripts/kernels_prices_test.lua")
  os.exit, print = exit, print_line
  package.preload[name] = nil
  forget()
  return status ~= 0
end

local names = {}
for name in pairs(mutations) do names[#names + 1] = name end
table.sort(names)
for _, name in ipairs(names) do
  local source = read("scripts/" .. name:gsub("%.", "/") .. ".lua")
  test("the prices of " .. name .. " pass with the script as it is", function()
    test.check(not fails_with(name, source), "they fail")
  end)
  for _, line in ipairs(mutations[name]) do
    test(("%s: without '%s' a price changes"):format(name, line[1]), function()
      test.check(fails_with(name, replaced(source, line[2], line[3])), "all pass")
    end)
  end
end

test.finish()
