--- The lines that InferSim prints of an evaluation, as "phase/label": the number and its unit.
--- The model itself computes in seconds, bytes and GFLOP; the units of the report appear here only. A number
--- that an evaluation did not compute is not printed.
---
--- Source: alibaba/InferSim f2293da.

local KiB, MiB, GiB = 1024, 1024 * 1024, 1024 * 1024 * 1024
local us, ms = 1e-6, 1e-3

local report = {}

local readers = {}  -- label -> function(run) -> value or nil

local function field(label, name, unit)
  readers[label] = function(run) return run[name] and run[name] / (unit or 1) end
end

--- A field that only hybrid models print (hybrid = true), or only the others.
local function field_of(hybrid, label, name, unit)
  readers[label] = function(run)
    if (run.shape.hybrid or false) == hybrid then return run[name] and run[name] / (unit or 1) end
  end
end

local function argument(label, name)
  readers["header/" .. label] = function(run) return run.args[name] end
end

-- header
argument("Device type", "device")
argument("World size", "world_size")
argument("TP size", "tp")
argument("Use FP8 GEMM", "fp8_gemm")
argument("Use FP8 KV", "fp8_kv")
readers["header/Attn type"] = function(run) return run.shape.mla and "MLA" or "MHA/GQA" end
readers["header/Model type"] = function(run) return run.shape.hybrid and "HybridModel" or nil end

-- weights
field_of(false, "weights/One attn params size (MB)", "attention_bytes", MiB)
field_of(true, "weights/One full attn params size (MB)", "attention_bytes", MiB)
field_of(true, "weights/One linear attn params size (MB)", "linear_attention_bytes", MiB)
field("weights/One expert params size (MB)", "expert_bytes", MiB)
field("weights/Per GPU params size (GB)", "weight_bytes", GiB)

-- kvcache; InferSim knows its space earlier and prints it here
readers["kvcache/KV cache space (GB)"] = function(run) return run.batch and run.kv_space_gib end
field("kvcache/Input seq len", "isl")
field("kvcache/Output seq len", "osl")
field("kvcache/Target decode batchsize", "batch")
field_of(false, "kvcache/Target per-token KV cache size (KB)", "kv_target_bytes", KiB)
field_of(false, "kvcache/Current per-token KV cache size (KB)", "kv_current_bytes", KiB)
field_of(true, "kvcache/Target per-req KV cache size (MB)", "kv_target_bytes", MiB)
field_of(true, "kvcache/Current per-req full attn KV cache size (MB)", "request_kv_bytes", MiB)
field_of(true, "kvcache/Current per-req states size (MB)", "printed_state_bytes", MiB)
field_of(true, "kvcache/Current per-req cache size (MB)", "kv_current_bytes", MiB)

-- flops, per token
local function flops(label, per_layer, layers)
  readers["flops/" .. label] = function(run)
    return run.token_gflop and run[per_layer] * (layers and run.shape[layers] or 1)
  end
end
readers["flops/Num hidden layers"] = function(run) return run.token_gflop and run.shape.layers end
field_of(false, "flops/Per-token per-layer attn core (GFLOPs)", "core_gflop")
field_of(false, "flops/Per-token attn core (GFLOPs)", "all_core_gflop")
field_of(true, "flops/Per-token per-layer full attn core (GFLOPs)", "core_gflop")
field_of(true, "flops/Per-token full attn core (GFLOPs)", "all_core_gflop")
flops("Per-token per-layer MoE/FFN (GFLOPs)", "moe_gflop")
flops("Per-token per-layer others (GFLOPs)", "other_gflop")
flops("Per-token MoE (GFLOPs)", "moe_gflop", "layers")
flops("Per-token others (GFLOPs)", "other_gflop", "layers")
field("flops/Per-token total (GFLOPs)", "token_gflop")

-- prefill, decode
local function of_phase(phase, label, group, name, unit)
  readers[phase .. "/" .. label] = function(run)
    local record = run[phase]
    if group then record = record[group] end
    return record and record[name] and record[name] / unit
  end
end

local function both_phases(phase, experts, linear)
  local function number(label, name, unit) of_phase(phase, label, nil, name, unit) end
  number("Attn core MFU", "core_mfu", 1)
  number("Attn core latency (us)", "core_arithmetic_s", us)
  number("KV loading latency (us)", "core_traffic_s", us)
  for label, name in pairs { QKV_proj = "qkv_s", O_proj = "o_s", Q_down_proj = "q_down_s", Q_up_proj = "q_up_s",
                             KV_down_proj = "kv_down_s", bmm_q_wk = "q_wk_s", bmm_o_wv = "o_wv_s" } do
    of_phase(phase, label .. " latency (us)", "projections", name, us)
  end
  number(linear .. " core latency (us)", "linear_latency_s", us)
  number("States loading latency (us)", "states_s", us)
  of_phase(phase, "qkvzba_proj latency (us)", "linear_projections", "qkvz_s", us)
  of_phase(phase, "O_proj latency (us)#2", "linear_projections", "linear_o_s", us)
  number(experts .. " MFU", "experts_mfu", 1)
  number(experts .. " latency (us)", "experts_arithmetic_s", us)
  number("Experts loading latency (us)", "experts_traffic_s", us)
  of_phase(phase, "Shared expert latency (us)", "shared", "total_s", us)
  number("Comm before MoE/FFN (us)", "before_s", us)
  number("Comm after MoE/FFN (us)", "after_s", us)
  readers[phase .. "/TP all_reduce (us)"] = function(run)
    return run.args.tp > 1 and run[phase].all_reduce_s and run[phase].all_reduce_s / us or nil
  end
  number("Throughput (TGS:tok/GPU/s)", "tokens_per_s", 1)
end
both_phases("prefill", "Routed experts", "Linear Attn")
both_phases("decode", "Routed experts/FFN", "Linear attn")
of_phase("prefill", "Max prefill tokens", nil, "tokens", 1)
of_phase("prefill", "TTFT (ms)", nil, "total_s", ms)
of_phase("decode", "TPOT (ms)", nil, "total_s", ms)

--- @param run infersim.Run after an evaluation
--- @return table values "phase/label" -> number, text or boolean
function report.values(run)
  local values = {}
  for label, read in pairs(readers) do values[label] = read(run) end
  return values
end

--- The same as a read-only view of the last evaluation: a value is computed when it is read.
function report.view(run)
  return setmetatable({}, {
    __index = function(_, label)
      local read = readers[label]
      return read and read(run)
    end,
    __newindex = function(_, label) error("a report is read-only (assigning '" .. tostring(label) .. "')", 2) end,
    __pairs = function() return pairs(report.values(run)) end,
  })
end

return report
