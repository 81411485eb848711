--- How wrong is a step when its prefills are grouped before they are looked up?
---
--- Setup     Llama-3.1-8B, bf16, on one H100; steps/roofline_v2 with each bucketing policy.
--- Method    Four steps with several prefills. An engine runs the GEMMs once over all tokens, and attention of each
---           prompt at its own length. The sum of `fused` GEMMs and `exact` attention is therefore the reference.
--- Measures  Time of each step under each policy, and its error against the reference.
--- Expect    Each group is priced as a pass of its own over the weights. `exact` makes a group of every different
---           length: right for equal prompts, twice the time for eight short ones. `fused` has the right GEMMs
---           and looks attention up at one length: within 5 % everywhere. `pow2` is as close on mixed steps,
---           where errors of its extra passes and its coarse lengths cancel, and 13 % off on short prompts, all
---           looked up at 512.
--- Limits    One model on one GPU. Rows of tables carry at least 95 % of the time.
local RooflineV2 = require "steps.roofline_v2"

local function prompts(...)
  local list = {}
  for i, tokens in ipairs { ... } do list[i] = { new_tokens = tokens, context_tokens = 0 } end
  return list
end

--- Time of the attention operations of a step, or of its GEMMs, in seconds.
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
