--- How wrong is a step when its prefills are grouped before they are looked up?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; steps/roofline_v2 with each bucketing policy.
--- Method    Four steps with several prefills. What an engine runs: the GEMMs once over all tokens, attention of
---           each prompt at its own length. That sum, of `fused` GEMMs and `exact` attention, is the reference.
--- Measures  Time of each step under each policy, and its error against the reference.
--- Expect    A group is a pass over the weights of its own. `exact` makes one of every different length: right
---           for equal prompts, twice too slow for eight short ones. `fused` has the GEMMs right and looks
---           attention up at one length: within 5 % everywhere. `pow2` is as close on mixed steps, where its
---           extra passes and its coarse lengths cancel, and 11 % off on short ones, all looked up at 512.
--- Limits    MFUs are modelled: tables with steps between their rows make more of the length.
local RooflineV2 = require "steps.roofline_v2"

local function prompts(...)
  local list = {}
  for i, tokens in ipairs { ... } do list[i] = { new_tokens = tokens, context_tokens = 0 } end
  return list
end

--- Seconds of the operations that are attention, or of the GEMMs.
local function part_s(priced, attention)
  local sum = 0
  for _, row in ipairs(priced.rows) do
    if (row.kind == "attention_prefill") == attention and row.kind ~= "host" then sum = sum + row.time_s end
  end
  return sum
end

local policies = { "exact", "pow2", "quantile", "fused" }
local variants = {}
for i, name in ipairs(policies) do
  variants[i] = { label = name, value = RooflineV2 { bucketing = name, overhead_per_layer_s = 0 } }
end

return {
  rooflua = 1,
  title = "Bucketing against accuracy",
  kind = "price",
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  steps = RooflineV2 {},
  price = {
    { name = "4 equal", prefills = prompts(1000, 1000, 1000, 1000) },
    { name = "8 short", prefills = prompts(30, 55, 80, 100, 140, 190, 260, 400) },
    { name = "8 mixed", prefills = prompts(60, 150, 340, 700, 1100, 1900, 2600, 6000) },
    { name = "1 long, 7 short", prefills = prompts(7000, 40, 60, 80, 100, 120, 140, 160) },
  },
  vary = { steps = variants },
  report = function(results)
    local by_name = {}
    for _, result in ipairs(results) do by_name[result.parameters.steps] = result.price end
    local rows = { { "step", "reference ms" } }
    for _, name in ipairs(policies) do table.insert(rows[1], name .. " %") end
    for i, priced in ipairs(results[1].price) do
      local reference_s = part_s(by_name.fused[i], false) + part_s(by_name.exact[i], true)
      local row = { priced.name, reference_s * 1000 }
      for _, name in ipairs(policies) do row[#row + 1] = 100 * (by_name[name][i].time_s / reference_s - 1) end
      rows[#rows + 1] = row
    end
    return rows
  end,
}
