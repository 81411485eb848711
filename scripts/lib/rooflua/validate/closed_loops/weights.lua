-- The format of the weights that a measured deployment served, by the word of its row: fp8, fp4, int4, bf16. A model
-- that is published in such a format has that of its own file; else that of the first release which its file names.
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local weights = {}

--- Formats that a word may mean, and the one where the model's file names none.
local words = {
  fp8 = { any = { fp8 = true, fp8_block = true }, otherwise = "fp8" },
  fp4 = { any = { nvfp4 = true, mxfp4 = true }, otherwise = "nvfp4" },
  mxfp4 = { any = { mxfp4 = true }, otherwise = "mxfp4" },
  int4 = { any = { int4 = true, int4_group32 = true, int4_group128 = true }, otherwise = "int4" },
  bf16 = { any = { bf16 = true, fp16 = true }, otherwise = "bf16" },
}

--- The formats of a model's releases, in the order in which its file names them.
local function published(model)
  if not tostring(model.origin):find "%.toml$" or not native.file_exists(model.origin) then return {} end
  local file, out = native.read_toml(model.origin), {}
  for _, alias in ipairs(file.aliases or {}) do out[#out + 1] = file.alias_formats and file.alias_formats[alias] end
  for _, format in ipairs(core.sorted_keys(file.releases or {})) do out[#out + 1] = format end
  return out
end

--- The key deployment.weights of a word; nil where the model's own format is meant.
function weights.of(model, word)
  local about = words[word]
  if not about then core.fail("format: %s", core.unknown_name("format", word, core.sorted_keys(words))) end
  if about.any[native.rank_counts(model, {}).weights] then return nil end
  for _, format in ipairs(published(model)) do
    if about.any[format] then return format end
  end
  return about.otherwise
end

return weights
