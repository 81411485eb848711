-- Traces as the torch profiler writes them, made from the price of a step, with what is hidden in them.
local batch = require "rooflua.border.batch"
local expected = require "rooflua.profile.expected"
local opening = require "rooflua.runs.opening"
local prices = require "rooflua.machine.prices"
local pricer = require "rooflua.program.pricer"

local synthetic = {}

--- Kernels of a vLLM server by the class of their operation: what share of its time each has.
local kernels = {
  gemm = { { "nvjet_hsh_128x64_64x8_1x2_h_bz_coopA_TNT", 1 } },
  attention = { { "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<...> > >", 0.9 },
    { "void flash::FlashAttnFwdCombine_fwdcombine", 0.1 } },
  norm = { { "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>", 1 } },
  rope = { { "void vllm::rotary_embedding_kernel<c10::BFloat16, true>", 1 } },
  kv_write = { { "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>", 1 } },
  activation = { { "void vllm::act_and_mul_kernel<c10::BFloat16>", 1 } },
  experts = { { "void vllm::moe::topkGatingSoftmax<8, 128>", 0.03 },
    { "void vllm::moe::moe_align_block_size_kernel", 0.03 },
    { "fused_moe_kernel", 0.55 }, { "void vllm::act_and_mul_kernel<c10::BFloat16>", 0.04 }, { "fused_moe_kernel", 0.3 },
    { "void vllm::moe::moe_sum_kernel", 0.05 } },
  all_reduce = { { "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>", 1 } },
  all_gather = { { "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1 } },
  embed = { { "void at::native::vectorized_gather_kernel<16, long>", 1 } },
  sampler = { { "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::ArgMaxOps<float> > >",
    1 } },
  quantize = { { "void vllm::per_token_group_quant_8bit_kernel<c10::BFloat16>", 1 } },
  linear_attention = { { "fused_recurrent_gated_delta_rule_fwd_kernel", 1 } },
  elementwise = { { "triton_poi_fused_add_mul_0", 1 } },
}
local old_gemm = "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_ldg8>"

--- The price of a batch of a scenario of kind "price": {engine, priced, of, sequence}.
function synthetic.price(model, hardware, tp, given, sets)
  local opened = opening.table({ kind = "price", model = model, hardware = hardware, deployment = { tp = tp },
    price = { given } }, { file = "synthetic", set = sets })
  local prepared, bound = pricer.engine(opened.reader, "price", (opening.variant(opened, 1)))
  local priced = prices.price_batch(prepared, bound, batch.new(given))
  local of = expected.of(priced, prepared.hardware)
  return { prepared = prepared, bound = bound, priced = priced, of = of,
    sequence = expected.sequence(of, prepared.model.layers) }
end

--- The kernels of a step: {{name, us, operation}, ...}. Operations of some layers run in the first ones (a dense MLP)
--- or the last ones (experts).
local function kernels_of(priced, hidden)
  local out, layers, all, seen = {}, priced.prepared.model.layers, priced.of.by_name, {}
  local layer, is_moe = 0, all.experts ~= nil
  for _, entry in ipairs(priced.sequence) do
    local each = entry.operation
    if each.name == "attention_norm" then layer = layer + 1 end
    local inside = each.count > 1
    local runs = not inside or each.count >= layers
      or (each.name:find "^gate_up" or each.name:find "^down" or each.name == "activation"
        or each.name:find "^quantize_gate_up" or each.name:find "^quantize_down") and is_moe and layer <= each.count
      or layer > layers - each.count
    local mark = each.name .. (inside and layer or 0)
    if runs and not seen[mark] then
      seen[mark] = true
      local table_s, count = each.table_s, each.count
      local name = each.name
      if each.class == "attention" then
        table_s = (all.attention_decode and all.attention_decode.table_s or 0)
          + (all.attention_prefill and all.attention_prefill.table_s or 0)
        count = layers
        name = all.attention_decode and all.attention_prefill and "attention" or name
      end
      if table_s > 0 then
        local slow = hidden.slow == name and hidden.factor or hidden.factors and hidden.factors[name] or 1
        for _ = 1, hidden.twice == name and 2 or 1 do
          for _, kernel in ipairs(kernels[entry.class] or kernels.elementwise) do
            local kernel_name = hidden.old == name and old_gemm or kernel[1]
            out[#out + 1] = { kernel_name, 1e6 * table_s / count * kernel[2] * slow, name }
          end
        end
      end
    end
  end
  return out
end
synthetic.kernels_of = kernels_of

--- The text of a trace.
---@param priced table of synthetic.price
---@param given table {decodes, prompts, prompt_tokens}: what the ranges say
---@param hidden {steps: integer, slow, factor, factors, twice, old, gap_us, call, graphs: boolean, ranges: boolean?}
function synthetic.trace(priced, given, hidden)
  local out, correlation = {}, 0
  local function event(category, name, lane, ts, dur, more)
    out[#out + 1] = ('{"ph":"X","cat":"%s","name":"%s","pid":%d,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{%s}}'):format(
      category, name, category == "kernel" and 0 or 77, lane, ts, dur, more or "")
  end
  local list, now = kernels_of(priced, hidden), 5e6
  for step = 1, hidden.steps do
    local start = now
    local cpu = start - 30 - 0.01 * #list
    if hidden.graphs then
      correlation = correlation + 1
      event("cuda_runtime", "cudaGraphLaunch", 9, cpu + 1, 5, ('"correlation":%d'):format(correlation))
    end
    for i, kernel in ipairs(list) do
      if not hidden.graphs then
        correlation = correlation + 1
        event("cuda_runtime", "cudaLaunchKernel", 9, cpu + 0.01 * i, 0.009, ('"correlation":%d'):format(correlation))
      end
      event("kernel", kernel[1], 7, now, kernel[2], ('"stream":7,"device":0,"correlation":%d'):format(correlation))
      now = now + kernel[2]
    end
    if hidden.ranges ~= false then
      event("user_annotation", ("execute_context_%d(%d)_generation_%d(%d)"):format(given.prompts, given.prompt_tokens,
        given.decodes, given.decodes), 9, cpu, 5 + 0.01 * #list, "")
    end
    if hidden.gap_us and step < hidden.steps then
      event("python_function", hidden.call, 9, now - 5, hidden.gap_us, "")
      now = now + hidden.gap_us
    end
  end
  return '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":[\n'
    .. table.concat(out, ",\n") .. ']}\n', list
end

return synthetic
