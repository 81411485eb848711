-- The releases of weights that the measured deployments served, by model and format.
local core = require "rooflua.base.core"

local releases = {}

--- Weights of the release in each format: `weights` is the deployment's (nil: the shipped model's own), `kv` what the
--- release declares for keys and values. The first entry that fits holds.
local formats = {
  { family = "gpt-oss-120b", source = "openai/gpt-oss-120b is MXFP4; there is no other release" },
  { family = "kimi-k2.5", format = "int4", source = "moonshotai/Kimi-K2.5" },
  { family = "^llama", format = "fp8", weights = "fp8", kv = "fp8",
    source = "nvidia/Llama-3.*-FP8: static, per tensor" },
  { format = "fp8", weights = "fp8_block", source = "releases in FP8 blocks of 128 x 128" },
  { format = "fp4", weights = "nvfp4", kv = "fp8", source = "nvidia/*-NVFP4" },
  { format = "int4", weights = "int4", source = "W4A16" },
  { format = "bf16", weights = "bf16", source = "the model's release" },
}

--- The release of a question's weights: {weights, kv, source}.
function releases.of(question)
  for _, each in ipairs(formats) do
    local family = not each.family or question.family == each.family
      or each.family:sub(1, 1) == "^" and question.family:find(each.family)
    if family and (not each.format or each.format == question.format) then return each end
  end
  return core.fail("%s: format: %s", question.where,
    core.unknown_name("format", question.format, { "bf16", "fp4", "fp8", "int4" }))
end

return releases
