-- The number formats of a case: its column `precision`.
--
--     bf16            weights and activations of linear layers; keys and values stay in the model's 16 bit
--     fp8, kv fp8     the KV cache too; no engine does that by default
--     fp16 (dummy)    remarks in parentheses are ignored
--
-- An empty column means the model's own format. docs/MODELS.md says what a format means for an engine (fp8 quantises
-- activations, int4 only weights).
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local precision = {}

local sixteen = { bf16 = true, fp16 = true }

local function dtype_of(text, where)
  local ok, found, name = pcall(native.dtype_code, text)
  if ok then return name end
  return core.fail("%s: precision: %s", where, tostring(found):match "unknown dtype.*" or tostring(found))
end

--- @return string? weights
--- @return string? kv
function precision.read(text, where)
  if text == nil or text == "" then return nil end
  local weights, kv
  local list = tostring(text):lower():gsub("%b()", " "):gsub("kv[_%a]*[%s=:]+", "kv=")
  for word in list:gmatch "[^%s,;/+]+" do
    local of_kv = word:match "^kv=(.*)$"
    if of_kv and kv or not of_kv and weights then
      core.fail("%s: precision: expected one format, and 'kv FORMAT' after it where keys and values have another, "
        .. "found '%s'", where, tostring(text))
    end
    if of_kv then kv = dtype_of(of_kv, where) else weights = dtype_of(word, where) end
  end
  return weights, kv
end

--- "16 bit", "fp8", "fp8 kv fp8": the name of a format in the names of groups.
--- @param weights string
function precision.label(weights, kv)
  local label = sixteen[weights] and "16 bit" or weights
  return kv and not sixteen[kv] and ("%s kv %s"):format(label, kv) or label
end

return precision
