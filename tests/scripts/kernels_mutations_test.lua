-- Every line of steps/kernels that computes a price is tested: with the line changed, kernels_prices_test.lua
-- or layer_kinds_test.lua fails, or a further test of that file (below). A row holds the purpose of the line, the line,
-- and its replacement.
local test = dofile "tests/scripts/harness.lua"

local mutations = {
  ["steps.kernels"] = {
    { "absorbed projections", "time_s = time_s + self.decode_rows_time(decodes)", "time_s = time_s + 0" },
    { "recurrent layers", "if self.has_more then time_s = time_s + self:more_time(batch, chunks, decodes) end", "" },
    { "the sign of overlap", "- self.overlap * min(", "+ self.overlap * min(" },
    { "what the larger attention hides is the shorter", "min(prefill_s, beside_s)",
      "max(prefill_s, beside_s)" },
    { "the launch is not hidden twice", "decode_s - kind.layers * decode_paid_s", "decode_s" },
    { "rows that a chunk expands", "rows = rows + prefills[i].new_tokens + prefills[i].context_tokens",
      "rows = rows + prefills[i].new_tokens" },
    { "expanded rows are priced", "time_s = time_s + self:expanded_time(batch, chunks)", "" },
    { "decodes pay no more launch than they take",
      "min(self.attention_launch_s, decode_s / kind.layers)",
      "self.attention_launch_s" },
    { "words of the vocabulary", "self.sorted_logit_s * model.vocab_size", "0" },
    { "sorted logits per request", "self.sampler_s + self.sorted_row_s * requests", "self.sampler_s" },
    { "the sampler", "time_s + attention_s + cost.record", "attention_s + 0 * time_s + cost.record" },
    { "kernels are counted", "self.kernel_count = self.kernel_count + op.count", "" },
    { "the eager floor", "max(time_s, self.kernel_count * self.elementwise.eager_s)", "time_s" },
    { "a graph has no eager floor", "if tokens <= self.graph_tokens then return time_s end", "" },
    { "host time of requests", "self.host_step_s + self.host_request_s * batch.requests",
      "self.host_step_s - self.host_request_s * batch.requests" },
    { "host time per request", "self.host_request_s * batch.requests", "self.host_request_s" },
    { "host time is added", "return gpu_s + cost.record(\"host\", host_s, \"assumed\") end", "return gpu_s end" },
    { "only what the GPU does not hide", "gpu_s + cost.record(\"host\", host_s - gpu_s",
      "gpu_s + cost.record(\"host\", host_s" },
    { "the head sees requests", "self.head_time(requests)", "self.head_time(batch.tokens)" },
    { "GEMMs are padded", "self.layers_time(graphs.padded(tokens, self.graph_tokens))", "self.layers_time(tokens)" },
    { "experts of all ranks", "self.layers_time(own) + self.experts_time(all)", "self.layers_time(own)" },
  },
  ["steps.kernels.ops"] = {
    { "tokens of an expert rank", "math.max(1, most / steps.ep)", "most" },
    { "the fullest rank", "local most = rows * steps.fullest", "local most = rows" },
    { "whole experts", "tp = steps.moe_tp, ranks", "tp = steps.tp, ranks" },
    { "as many ranks", "ranks = steps.moe_tp * steps.ep, tokens", "ranks = steps.moe_tp, tokens" },
    { "the exchange", "op.rows == \"group_tokens\" and steps.ranks or steps.tp", "steps.tp" },
    { "batched GEMMs", "if op.groups > 1 then return ops.batched_gemm(steps, op, rows) end", "" },
    { "MFU of batched GEMMs", "steps.batched_gemm_mfu,\n                                      steps", "1,\n steps" },
    { "launch of batched GEMMs", "time_s + steps.small_kernel_s", "time_s" },
    { "weights of batched GEMMs", "op.weight_bytes + op.bytes_per_row * rows\n  local time_s, bound",
      "0\n  local time_s, bound" },
    { "flop of a pair", "2 * op.heads * (kind.head_dim + kind.v_head_dim)", "2 * op.heads * kind.head_dim" },
    { "flop of an absorbed pair", "2 * mla.kv_lora_rank + mla.qk_rope_head_dim", "mla.kv_lora_rank" },
    { "flop of an expanded pair", "mla.qk_nope_head_dim + mla.qk_rope_head_dim + mla.v_head_dim)",
      "mla.qk_nope_head_dim)" },
    { "bytes of an all-reduce", "op.bytes_per_row * run, ranks, op.count", "run, ranks, op.count" },
  },
  ["steps.kernels.attention"] = {
    { "a later chunk of latent attention", "max(0, estimate.latency_s - paid_s)", "estimate.latency_s" },
    { "a later chunk", "paid_s > 0 and paid_s or nil)", "nil)" },
    { "no negative launch", "max(0, estimate.latency_s - paid_s)", "estimate.latency_s + paid_s" },
    { "the launch is as long as its longest part", "min(self.steps.attention_launch_s, paid_s + time_s / layers)",
      "self.steps.attention_launch_s" },
    { "the new tokens are in the cache", "self.layers, context + n", "self.layers, context" },
    { "a block of keys at least", "local computed = max(tokens, n * attention_block)", "local computed = tokens" },
    { "KV bytes", "counted * self.kv_bytes_per_token", "counted" },
    { "work of a window with rows of its own", "counted = max(tokens, n * attention_block)", "" },
    { "each layer attends", "latency_s, evidence, layers, flop", "latency_s, evidence, 1, flop" },
    { "bounded contexts of decodes", "if self.tokens then tokens, exact = self.tokens(batch) end", "" },
    { "as many pairs with less context", "self:full_latency(t, (pairs - triangle) / t)", "self:full_latency(t, p)" },
    { "a part of a call without context", "part = part * pairs / triangle", "" },
    { "the launch is no part of it", "launch_s + (latency_s - launch_s)", "(latency_s - launch_s)" },
    { "pairs of another kind", "self.prefill_pair_flop / self.flop_of_rows", "1" },
    { "scores of decodes", "if self.index then time_s = time_s + self.index:decode(batch, all) end", "" },
    { "rows of whole modules", "if self.module then time_s = time_s + self.module:decode(n, all) end", "" },
    { "scores of prompts", "if self.index then time_s = time_s + self.index:prefill(t, p) end", "" },
  },
  ["steps.kernels.pairs"] = {
    { "the ramp of a window", "a * p + a * (a + 1) / 2", "a * p" },
    { "a full window", "(t - a) * w", "0" },
    { "a chunk begins anew", "chunk_sum(p + t, c) - chunk_sum(p, c)", "chunk_sum(p + t, c)" },
    { "entries of a compressed cache", "recent + selected / ratio", "recent" },
  },
  ["steps.kernels.index"] = {
    { "everything is selected", "if exact and selected >= all then return 0 end", "" },
    { "every token is scored", "return self:price(all, all)", "return self:price(selected, all)" },
    { "every entry is read", "return self:price(all, all)", "return self:price(all, selected)" },
    { "entries of blocks are 16 bit", "blocks and 2 * own.head_dim or", "blocks and own.head_dim or" },
    { "scores are written and read", "+ pairs * self.bytes_per_pair", "" },
    { "the bandwidth of an index", "* steps.hardware.constants.memory_efficiency", "" },
    { "short prompts", "if t + p <= self.topk then return 0 end", "" },
  },
  ["steps.kernels.recurrent"] = {
    { "recurrent heads of a rank", "value_heads = delta.value_heads / tp", "value_heads = delta.value_heads" },
    { "the shape of recurrent decodes", "query.decode = decode", "query.decode = false" },
    { "recurrent layers of decodes", "if batch.decodes > 0 then\n    query", "if false then\n    query" },
    { "states of a delta rule",
      "bytes = 2 * requests * state + tokens * op.bytes_per_row + op.weight_bytes\n  local shape",
      "bytes = 0\n  local shape" },
    { "states are read and written",
      "bytes = 2 * requests * state + tokens * op.bytes_per_row + op.weight_bytes\n  local bandwidth",
      "bytes = tokens * op.bytes_per_row + op.weight_bytes\n  local bandwidth" },
    { "pairs within a chunk of the scan", "tokens * math.min(tokens, chunk) * pair_flop", "0" },
    { "state-space decodes", "if batch.decodes > 0 then\n    time_s", "if false then\n    time_s" },
  },
  ["steps.kernels.modules"] = {
    { "eager kernels of the rows", "- self.steps.module_eager_s - parts_s", "- parts_s" },
    { "parts are not paid twice", "- self.steps.module_eager_s - parts_s", "- self.steps.module_eager_s" },
    { "projections are parts", "self.projections[monotone.place(n)] + attention", "attention" },
    { "the index is a part", "parts_s = parts_s + index:time(tokens, tokens)", "parts_s = parts_s + 0" },
    { "a layer of the module", "evidence, self.layers, 0, 0, 0", "evidence, 1, 0, 0, 0" },
    { "no index, no module", "or not kind.index.own then return nil end", "then return nil end" },
  },
  ["steps.kernels.elementwise"] = {
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
  ["steps.kernels.monotone_prefill"] = {
    { "fewer new tokens cost no more", "if after and after[j] < least_s then", "if false then" },
    { "fewer tokens before them cost no more", "if j < last and times[j + 1] < least_s then", "if false then" },
    { "the way between contexts", "few[j] + (few[j + 1] - few[j]) * v", "few[j]" },
    { "the way between new tokens", "(few_s + (many_s - few_s) * part)", "few_s" },
    { "by the work", "if part > 0 then", "if false then" },
    { "no context", "if p >= 1 then j, v = place(p) end\n  local few", "j, v = place(math.max(p, 1))\n  local few" },
    { "work beyond the grid", "beyond = t * (p + t / 2) / (near_t * (near_p + near_t / 2))", "beyond = 1" },
  },
}

dofile("tests/scripts/mutations.lua").check {
  test = test, rules = mutations, forget = "^steps%.kernels",
  module = function(name) return name end,
  tests = function(name)
    if name == "steps.kernels.modules" then return { "tests/scripts/modules_test.lua" } end
    local out = { "tests/scripts/kernels_prices_test.lua", "tests/scripts/layer_kinds_test.lua" }
    if name == "steps.kernels.recurrent" then out[3] = "tests/scripts/decode_bytes_test.lua" end
    if name == "steps.kernels.attention" then
      out[3], out[4] = "tests/scripts/modules_test.lua", "tests/scripts/kinds_law_test.lua"
    end
    return out
  end,
}

test.finish()
