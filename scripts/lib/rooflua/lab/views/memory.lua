-- What the memory of a GPU holds, and what is left for KV.
local capacity = require "rooflua.serving.capacity"
local capacity_text = require "rooflua.serving.capacity_text"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"

local memory = { title = "Memory", kinds = { serve = true, price = true } }

local gib = 2 ^ 30

--- The ledger of the first variant; nil where there is none.
local function ledger_of(opened)
  local given, about = opening.variant(opened, 1), {}
  for _, key in ipairs(capacity.keys) do about[key] = given[key] end
  local ok, found = pcall(capacity.of, about, opened.reader)
  return ok and found or nil
end

function memory.plan(opened) return ledger_of(opened) and {} or nil end

function memory.described(opened)
  local found = ledger_of(opened)
  local document = capacity_text.document(found, not found.starts and capacity.fits(found) or nil)
  local names, values, sum = json.array {}, json.array {}, 0
  local function add(name, bytes)
    if type(bytes) ~= "number" or bytes <= 0 then return end
    names[#names + 1], values[#values + 1], sum = name, bytes / gib, sum + bytes
  end
  for _, part in ipairs(document.parts or {}) do add(part.name, part.bytes) end
  add("KV cache", document.kv_bytes)
  add("not used", (document.total_bytes or 0) - sum)
  return { { heading = capacity_text.title(found), text = capacity_text.answer(found), charts = json.array { {
    kind = "bar", title = "Memory of one GPU", x = { label = "memory", unit = "GiB" }, segments = names,
    bars = json.array { { name = "GPU", values = values } } } } } }
end

return memory
