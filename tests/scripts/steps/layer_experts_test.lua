-- Layers of experts: formats of their weights, and what is the same however ranks divide them.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local cost = rooflua.cost

local model, of, rows_of = bound.layered, bound.kernels, bound.rows_of

local full = { kind = "full", layers = 2 }
local moe = { kind = "moe", layers = 2, experts = 32, experts_per_token = 4, intermediate_size = 512,
              shared_intermediate_size = 512 }

test("classes of weights have formats of their own", function()
  local given = model({ full }, { moe }, { weights = { experts = "mxfp4", shared = "fp8" } })
  local formats = {}
  local deployment = rooflua.spec.deployment { model = given, hardware = "h100-sxm", kv_blocks = 100 }
  for _, op in ipairs(cost.layers(given, deployment)) do formats[op.name] = op.dtype end
  test.equal(formats.experts, "mxfp4")
  test.equal(formats.shared_down, "fp8")
  test.equal(formats.qkv, "bf16")
  test.equal(formats.lm_head, "bf16")
  test.equal(deployment.formats.experts, "mxfp4")
  deployment = rooflua.spec.deployment { model = given, hardware = "b200", kv_blocks = 100 }
  test.equal(deployment.formats.experts, "w4a8_mxfp4_mxfp8")  -- this GPU multiplies FP4
  deployment = rooflua.spec.deployment { model = given, hardware = "b200", weights = "fp8", kv_blocks = 100 }
  test.equal(deployment.formats.attention, "fp8")
  test.equal(deployment.formats.router, "bf16")
end)

test("a release is asked for by the name of its format", function()
  local given = model({ full }, { moe }, {
    weight_dtype = "fp8_block",
    releases = { nvfp4 = { source = "nobody", experts = "nvfp4", kv = "fp8" } },
  })
  local own = rooflua.spec.deployment { model = given, hardware = "b200", kv_blocks = 100 }
  test.equal(own.formats.attention, "fp8_block")
  test.equal(own.kv, "bf16")
  local other = rooflua.spec.deployment { model = given, hardware = "b200", weights = "nvfp4", kv_blocks = 100 }
  test.equal(other.formats.experts, "nvfp4")
  test.equal(other.formats.attention, "bf16")
  test.equal(other.kv, "fp8")
  test.near(own.weight_bytes - other.weight_bytes,
    2 * 32 * 3 * 1024 * 512 * (8 + 32 / 16384 - 4.5) / 8
    + 2 * (1024 * (8 + 4) * 128 + 8 * 128 * 1024 + 3 * 1024 * 512) * ((8 + 32 / 16384) / 8 - 2), 1e-6)
end)

local function sums(given, options)
  local deployment = rooflua.spec.deployment { model = given, hardware = "h100-sxm", kv_blocks = 100,
                                               tp = options.tp, dp = options.dp, ep = options.ep }
  local flop, weights = 0, 0
  for _, op in ipairs(cost.layers(given, deployment)) do
    if op.name == "experts" then
      flop = flop + op.count * op.flop_per_row * op.rows_per_token / (options.ep or 1)
      weights = weights + op.count * op.weight_bytes
    end
  end
  return flop * (options.tp or 1), weights * (options.tp or 1), deployment
end

test("flop and weights of experts are the same however they are divided over the ranks", function()
  local given = model({ full }, { moe })
  local flop, weights = sums(given, {})
  for _, options in ipairs { { tp = 2 }, { tp = 4, ep = 4 }, { tp = 8, ep = 2 }, { tp = 8, ep = 8 } } do
    local own_flop, own_weights, deployment = sums(given, options)
    test.equal(own_flop, flop)
    test.equal(own_weights, weights)
    test.equal(deployment.ep * deployment.moe_tp, options.tp)
  end
end)

test("data-parallel groups gather their tokens for the experts, and attend on their own", function()
  local given, database = model({ full }, { moe }), bound.modelled "h200-sxm"
  local row = rows_of(of(given, { hardware = "h200-sxm", deployment = { dp = 4, ep = 4 } }), bound.decodes(64, 1000))
  local _, experts = database:lookup { op = "grouped_gemm", dtype = "bf16", experts = 32, experts_per_token = 4,
    hidden_size = 1024, intermediate_size = 512, tp = 1, ranks = 4, tokens = 64 * 4 / 4, decode = true }
  test.near(row.experts.time_s, experts.latency_s, 1e-9)
  local _, exchange = database:lookup { op = "all_reduce", bytes = 4 * 64 * 1024 * 2, ranks = 4 }
  test.near(row.expert_exchange.time_s, exchange.latency_s, 1e-9)
  test.check(not row.attention_all_reduce and not row.mlp_all_reduce, "one rank attends")
  local apart = { hardware = "h200-sxm", parameters = { shared_beside = 0 } }
  local alone = rows_of(of(given, apart), bound.decodes(64, 1000))
  for _, name in ipairs { "qkv", "attention_decode", "o", "shared_down", "router", "lm_head" } do
    test.equal(row[name].time_s, alone[name].time_s, name)
  end
end)

test("imbalance of whole experts costs the rows of the fullest rank; divided experts have none", function()
  local given = model({ full }, { moe })
  local function experts(imbalance, deployment)
    local steps = bound.bind(require "steps.kernels" { expert_imbalance = imbalance }, { model = given,
      hardware = "h200-sxm", deployment = deployment })
    return rows_of(steps, bound.decodes(2000, 100)).experts.time_s
  end
  local whole, divided = { tp = 8, ep = 8 }, { tp = 8 }
  local _, estimate = bound.modelled "h200-sxm":lookup { op = "grouped_gemm", dtype = "bf16", experts = 32,
    experts_per_token = 4, hidden_size = 1024, intermediate_size = 512, tp = 1, ranks = 8, tokens = 2 * 2000 / 8,
    decode = true }
  test.near(experts(2, whole), estimate.latency_s, 1e-9) -- twice the rows of a rank
  test.check(experts(2, whole) > 1.3 * experts(1, whole), "the fullest rank")
  test.equal(experts(2, divided), experts(1, divided))
end)

test("widths that do not fit together are refused", function()
  local given = model({ full }, { moe })
  local function deploy(options)
    options.model, options.hardware, options.kv_blocks = given, "h100-sxm", 100
    return rooflua.spec.deployment(options)
  end
  test.raises("deployment.ep: 3 does not divide the 8 ranks", function() deploy { tp = 8, ep = 3 } end)
  test.raises("deployment.moe_tp: moe_tp * ep is 4, but tp * dp is 8", function()
    deploy { tp = 8, ep = 2, moe_tp = 2 }
  end)
  given = model { full }
  test.raises("has no experts to divide", function() deploy { tp = 2, ep = 2 } end)
  test.raises("its data-parallel ranks are replicas of their own", function() deploy { dp = 2 } end)
end)

test.finish()
