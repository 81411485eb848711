-- Kernel shapes of every shipped model whose layers are alike on 1, 2, 4, 8 ranks, as the engine's forward pass
-- has them, one a line: model tp op k n groups heads kv_heads head_dim. tests/collect/shapes_test.py compares.
local cost = require "rooflua.cost"
local spec = require "rooflua.spec"

-- A GPU that everything fits on: this is about shapes.
local vast = {
  name = "vast", architecture = "hopper", memory_gb = 1e5, usable_memory_gib = 9e4, memory_gb_per_s = 4800,
  link_gb_per_s = 450, sms = 132, clock_mhz = 1980, l2_mib = 50,
  peak_tflop_per_s = { bf16 = 989, fp8 = 1979, fp16 = 989 },
}

for _, name in ipairs(spec.models()) do
  local model = spec.model(name)
  for _, tp in ipairs(model.uniform and { 1, 2, 4, 8 } or {}) do
    if model.heads % tp == 0 and (model.kv_heads % tp == 0 or tp % model.kv_heads == 0) then
      for _, op in ipairs(cost.layers(model, spec.deployment { model = name, hardware = vast, tp = tp })) do
        print(("%s %d %s %g %g %g %g %g %g"):format(name, tp, op.op, op.k, op.n, op.groups, op.heads, op.kv_heads,
          op.head_dim))
      end
    end
  end
end
