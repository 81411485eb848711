-- steps/roofline_v1 and steps/roofline_v2: recorded terms, laws, and the effect of every parameter.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost
local RooflineV1 = require "steps.roofline_v1"
local RooflineV2 = require "steps.roofline_v2"
local batches = require "steps.roofline.batches"
local gemms = require "steps.roofline.gemms"

local function v2(parameters, given) return bound.bind(RooflineV2(parameters or {}), given or {}) end
local function v1(parameters, given) return bound.bind(RooflineV1(parameters or {}), given or {}) end

local function varied()
  return cost.batch {
    prefills = { { new_tokens = 300, context_tokens = 900 }, { new_tokens = 700, context_tokens = 0 },
                 { new_tokens = 301, context_tokens = 100 } },
    decode_contexts = { 50, 400, 1000, 3000, 3001, 20000 },
  }
end

-- Recorded -------------------------------------------------------------------------------------------

local function read_model(name)
  local config = rooflua.json.read(test.shared("golden/blis487_model_configs/" .. name .. "/config.json"))
  local text = config.text_config or config
  local heads = text.num_attention_heads
  return { layers = text.num_hidden_layers, hidden_size = text.hidden_size, heads = heads,
           kv_heads = text.num_key_value_heads or heads, head_dim = math.floor(text.hidden_size / heads),
           intermediate_size = text.intermediate_size }
end

test("bytes of weights, KV cache and activations agree with inference-sim's", function()
  for _, row in ipairs(rooflua.json.read(test.shared "golden/blis487_memory_bytes.json")) do
    local traffic = batches.traffic(read_model(row.model), 2)
    local bytes = row.bytes
    test.near(traffic.weight_bytes, bytes.model_weights, 1e-15, row.model)
    local of_request = bytes.kv_cache_growth + bytes.kv_cache_access + bytes.activations_tokens
    local what = row.model .. " " .. row.seq .. "+" .. row.new
    test.near(traffic:request_bytes(row.seq, row.new), of_request, 1e-12, what)
  end
end)

test("times of single GEMMs agree with inference-sim's", function()
  local database = rooflua.mfu.open {
    path = test.shared "tables/blis_h100" .. "/bench_data", layout = "blis", gpu = "h100", lookup = "blis487",
  }
  local steps = RooflineV2:preset "blis487" {}
  steps:bind {
    model = { layers = 1, hidden_size = 1, heads = 1, kv_heads = 1, head_dim = 1, intermediate_size = 1,
              vocab_size = 1 },
    deployment = { tp = 1 }, mfu = database,
    hardware = { peak_flop_per_s = { bf16 = 989.5e12 }, memory_bytes_per_s = 3.35e12 },
  }
  for _, row in ipairs(rooflua.json.read(test.shared "golden/blis487_gemm_times.json")) do
    test.near(gemms.time(steps, "gemm", row.m, row.k, row.n, 1), row.time_s_h100_default, 1e-12,
              ("%d x %d x %d"):format(row.m, row.k, row.n))
  end
end)

-- The calibrated roofline --------------------------------------------------------------------------------

test("the calibrated roofline declares fourteen factors", function()
  local count = 0
  for _ in pairs(require("rooflua.policy").describe(RooflineV1).params) do count = count + 1 end
  test.equal(count, 14)
end)

test("a decode of the calibrated roofline that memory binds takes its bytes over the bandwidth", function()
  local steps = v1 { bw_eff_constant = 0.5 }
  local traffic = steps.traffic
  local bytes = traffic.weight_bytes + traffic:decode_bytes(4, 4000)
  local bandwidth = rooflua.spec.hardware("h100-sxm").memory_bytes_per_s
  test.near(steps:time(bound.decodes(4, 1000)), bytes / (bandwidth * 0.5), 1e-12)
end)

test("a prefill of the calibrated roofline speeds up by tp to its exponent", function()
  local batch = bound.prefill(8000)
  test.near(v1({}, { tp = 1 }):time(batch) / v1({}, { tp = 4 }):time(batch), 4 ^ 0.68, 1e-12)
end)

test("a mixed step of the calibrated roofline lies between its phases", function()
  local steps = v1()
  local prefill_s, decode_s = steps:time(bound.prefill(600)), steps:time(bound.decodes(30, 500))
  local mixed_s = steps:time(bound.mixed(600, 0, 30, 500))
  test.at_least(mixed_s, math.min(prefill_s, decode_s))
  test.at_least(math.max(prefill_s, decode_s), mixed_s)
end)

for _, name in ipairs { "step_overhead_s", "prefill_overhead_s", "mixed_prefill_overhead_s" } do
  test(name .. " of the calibrated roofline is added to a mixed step as it is", function()
    local batch = bound.mixed(100, 0, 4, 500)
    test.near(v1({ [name] = 0.5 }):time(batch) - v1():time(batch), 0.5, 1e-9)
  end)
end

test("the latency of all-reduces is paid twice per layer", function()
  local batch = bound.decodes(4, 500)
  local added_s = v1({ all_reduce_latency_s = 1e-3 }, { tp = 2 }):time(batch) - v1({}, { tp = 2 }):time(batch)
  test.near(added_s, 2 * 32 * 1e-3, 1e-9)
  test.equal(v1({ all_reduce_latency_s = 1e-3 }):time(batch), v1():time(batch))
end)

-- Every switch --------------------------------------------------------------------------------------------

--- Switch, value, and how the price of a varied mixed step on two ranks moves from the default: more, less.
local switches = {
  { "prefill_m", "requests", "less" }, { "bucketing", "exact", "more" }, { "bucketing", "fused", "less" },
  { "attention_flop", "dense", "more" }, { "softmax_flop", true, "more" }, { "prefill_divisor", 1.8, "less" },
  { "bucket_flop", "bucket", "more" }, { "decode_context", "max", "more" }, { "mixed", "sum", "more" },
  { "fused_gemm", true, "less" }, { "bandwidth_efficiency", 0.2, "more" }, { "overhead_divides_by_tp", false, "more" },
  { "overhead_per_layer_s", 0.0, "less" }, { "overhead_per_step_s", 0.005, "more" },
  { "overhead_per_prefill_step_s", 0.025, "more" }, { "lm_head", true, "more" }, { "all_reduce", true, "more" },
}
for _, switch in ipairs(switches) do
  local name, value, direction = switch[1], switch[2], switch[3]
  test(("%s = %s makes a mixed step cost %s"):format(name, tostring(value), direction), function()
    local base = { mixed = "sum" }
    if name == "mixed" then base.mixed = "max" end
    local before_s = v2(base, { tp = 2 }):time(varied())
    base[name] = value
    local after_s = v2(base, { tp = 2 }):time(varied())
    if direction == "more" then
      test.check(after_s > before_s, "%.9g is not more than %.9g", after_s, before_s)
    else
      test.check(after_s < before_s, "%.9g is not less than %.9g", after_s, before_s)
    end
  end)
end

test("a mixed step is at least its slower phase and at most their sum, whatever combines them", function()
  local parameters = { overhead_per_layer_s = 0.0 }
  local batch, prefill, decode = bound.mixed(600, 0, 30, 500), bound.prefill(600), bound.decodes(30, 500)
  local steps = v2(parameters)
  local longer_s = math.max(steps:time(prefill), steps:time(decode))
  local sum_s = steps:time(prefill) + steps:time(decode)
  for _, rule in ipairs { "max", "sum", "weighted" } do
    parameters.mixed = rule
    local time_s = v2(parameters):time(batch)
    test.at_least(sum_s * (1 + 1e-12), time_s, rule)
    if rule ~= "weighted" then test.at_least(time_s * (1 + 1e-12), longer_s, rule) end
  end
end)

test("decodes of one length cost the same whichever context is taken", function()
  local batch = cost.batch { decode_contexts = { 1024, 1024, 1024, 1024 } }
  local time_s = v2({ decode_context = "per_request" }):time(batch)
  for _, rule in ipairs { "max", "mean", "sum", "bucketed" } do
    test.near(v2({ decode_context = rule }):time(batch), time_s, 1e-12, rule)
  end
end)

test("the longest context bounds the others from above", function()
  local batch = cost.batch { decode_contexts = { 10, 1000, 9000, 30000 } }
  local most_s = v2({ decode_context = "max" }):time(batch)
  for _, rule in ipairs { "per_request", "mean", "sum" } do
    test.at_least(most_s, v2({ decode_context = rule }):time(batch), rule)
  end
end)

test("arithmetic and harmonic means of MFU differ by little, the harmonic being slower", function()
  local batch = cost.batch { decode_contexts = { 200, 1000, 4000, 16000 } }
  local arithmetic_s = v2({ decode_context = "per_request" }):time(batch)
  local harmonic_s = v2({ decode_context = "per_request", decode_mfu_mean = "harmonic" }):time(batch)
  test.at_least(harmonic_s, arithmetic_s)
  test.near(harmonic_s, arithmetic_s, 0.05)
end)

test("a bucket of requests with m = requests reads the weights once and computes almost nothing", function()
  local steps = v2 { prefill_m = "requests", overhead_per_layer_s = 0.0 }
  steps:time(bound.prefill(4000))
  local few_s = steps.terms.prefill_gemm_s
  test.equal(few_s, steps.layer_gemms(1))
end)

test("shapes looked up per rank are slower than whole ones divided, for few tokens", function()
  local batch = bound.decodes(4, 100)
  local whole_s = v2({}, { tp = 8 }):time(batch)
  test.at_least(v2({ shard_shapes = true }, { tp = 8 }):time(batch), whole_s)
end)

test("a step resolution rounds to whole steps, at least one", function()
  local time_s = v2({ step_resolution_s = 1e-3 }):time(bound.decodes(4, 100))
  test.near(time_s * 1e3, math.floor(time_s * 1e3 + 0.5), 1e-9)
  test.near(v2({ step_resolution_s = 1.0 }):time(bound.decodes(1, 1)), 1.0, 1e-12)
end)

test("presets are sets of declared parameters", function()
  for _, preset in ipairs { "plan", "reviewed", "blis487" } do
    local steps = RooflineV2:preset(preset) { lookup = "" }
    test.check(bound.bind(steps, {}):time(varied()) > 0, preset)
  end
  test.raises("did you mean", function() return RooflineV2:preset "blis478" end)
end)

test("a bucketing policy can stand in for a name", function()
  local exact = require "bucketing.exact" { key = "context_plus_new" }
  test.equal(v2({ bucketing = exact }):time(varied()), v2({ bucketing = "exact" }):time(varied()))
end)

-- Empty cells ------------------------------------------------------------------------------------------------

--- A database whose decode MFU is 0 below a context.
local function with_holes(first_context)
  local whole = rooflua.mfu.open "h100-sxm"
  local holes = { asked = {} }
  function holes:gemm(m, k, n, dtype) return whole:gemm(m, k, n, dtype) end
  function holes:prefill(...) return whole:prefill(...) end
  function holes:decode(heads, kv_heads, head_dim, batch, context, ...)
    self.asked[#self.asked + 1] = context
    if context < first_context then return 0, "measured" end
    return whole:decode(heads, kv_heads, head_dim, batch, context, ...)
  end
  return holes
end

local function decode_with(rule, first_context)
  local steps = RooflineV2 { zero_mfu = rule }
  local holes = with_holes(first_context)
  bound.bind(steps, { mfu = holes })
  local time_s = steps:time(bound.decodes(4, 100))
  return time_s, holes.asked[#holes.asked]
end

test("nearest takes the closest cell that is not empty, by doubling", function()
  local _, at = decode_with("nearest", 350)
  test.equal(at, 400)
end)

test("first_nonzero takes the first cell from one token on", function()
  local _, at = decode_with("first_nonzero", 350)
  test.equal(at, 512)
end)

test("v1 takes the MFU of the calibrated roofline", function()
  local steps = RooflineV2 { zero_mfu = "v1", overhead_per_layer_s = 0.0 }
  bound.bind(steps, { mfu = with_holes(1e9) })
  steps:time(bound.decodes(4, 100))
  local flop = 32 * 4 * 32 * 128 * (4 * 100 + 4)
  test.near(steps.terms.decode_attention_s, flop / (steps.peak_flop_per_s * 0.30), 1e-12)
end)

test("error names the empty cell", function()
  test.raises("MFU of 0", function() decode_with("error", 350) end)
end)

test("what explain lists has a shape, in every step model", function()
  local mixed = bound.mixed(700, 300, 20, 1000)
  local without = { host = true, overhead = true, sampler = true, overlap = true, not_itemised = true, eager = true }
  for _, name in ipairs { "infersim", "kernels", "roofline_v1", "roofline_v2" } do
    local steps = bound.bind(require("steps." .. name) {}, {})
    local rows, shaped = rooflua.cost.explain(function() return steps:time(mixed) end).rows, 0
    for _, row in ipairs(rows) do
      if not without[row.name] and row.kind ~= "floor" then
        shaped = shaped + 1
        test.check(row.shape and row.shape:find "=%d", "%s: %s has no shape", name, row.name)
      end
    end
    test.at_least(shaped, 2, name)
  end
end)

test.finish()
