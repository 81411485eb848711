-- How many tokens fit: the memory of a deployment as its engine divides it, as a table and as text in the words of the
-- engine's own log.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local application = require "rooflua.engines.application"
local ledger = require "rooflua.engines.ledger"
local Reader = require "rooflua.scenario.reader"
local spec = require "rooflua.spec"

local capacity = {}

local gib = 2 ^ 30
local keys = { "model", "hardware", "engine", "deployment", "scheduler", "speculation" }

--- {drafts, images} of what somebody says of the model.
local function more_of(about, applied)
  local options, out = applied.options or {}, {}
  out.images = not (options.language_model_only == true)
  local drafts = about.speculation
  if drafts ~= nil then
    drafts = core.plain(drafts)
    core.check_keys(drafts, { "drafts" }, "engines.capacity: speculation")
    out.drafts = drafts.drafts
  end
  return out
end

--- The ledger of a deployment that is described as in a scenario: {model, hardware, engine, deployment, scheduler}.
function capacity.of(about)
  about = core.plain(core.table(about or {}, "engines.capacity"))
  core.check_keys(about, keys, "engines.capacity")
  local reader = Reader.new "engines.capacity"
  local given = {}
  for key, value in pairs(about) do given[key] = value end
  given.speculation = nil
  given.model, given.hardware = spec.model(about.model), spec.hardware(about.hardware)
  local applied = application.of(reader, given, true)
  return capacity.of_applied(applied, given.model, given.hardware, more_of(about, applied))
end

--- The same of what application.of returned.
---@param more table {drafter?, drafts?, images?}
function capacity.of_applied(applied, model, hardware, more)
  local facts = ledger.facts(applied, model, hardware, more)
  local out = ledger.of(facts)
  out.facts, out.note = facts, applied.note
  return out
end

-- Text ------------------------------------------------------------------------------------------------------------

--- 37680 as "37,680".
function capacity.grouped(number)
  local text = ("%.0f"):format(number)
  local sign, digits = text:match "^(%-?)(%d+)$"
  return sign .. digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
end

local function gib_text(bytes) return ("%.2f"):format(bytes / gib) end

local function parts_text(found)
  local facts, words = found.facts, {}
  for i, each in ipairs(found.parts) do
    if each.bytes ~= 0 then
      words[#words + 1] = ("%s %s%s"):format(each.name, gib_text(each.bytes), i == 1 and " GiB" or "")
    end
  end
  local total = facts.hardware.usable_memory_bytes
  words[#words + 1] = ("KV cache %s GiB (%s = %s x %s)"):format(gib_text(found.kv_bytes),
    gib_text(facts.share * total), native.number_text(facts.share), gib_text(total))
  return table.concat(words, "   ")
end

local function tokens_text(found)
  local length = capacity.grouped(found.facts.max_model_len)
  return ("GPU KV cache size: %s tokens (%s blocks of %d)\nMaximum concurrency for %s tokens per request: %.2fx"):format(
    capacity.grouped(found.tokens), capacity.grouped(found.blocks), found.block_size, length, found.concurrency)
end

--- The head of an answer: "qwen3-32b on h100-sxm, vllm 0.19.0, tp 2".
function capacity.title(found)
  local facts = found.facts
  local text = ("%s on %s, %s %s, tp %d"):format(facts.model.name, facts.hardware.name, facts.engine.name,
    facts.release, facts.tp)
  for _, name in ipairs { "pp", "dp", "ep" } do
    if facts[name] > 1 then text = text .. (", %s %d"):format(name, facts[name]) end
  end
  return text
end

function capacity.text(found)
  local lines = { capacity.title(found) }
  if found.note then lines[#lines + 1] = found.note end
  lines[#lines + 1] = parts_text(found)
  lines[#lines + 1] = tokens_text(found)
  if not found.starts then
    lines[#lines + 1] = "would not start: " .. found.reason
  end
  return table.concat(lines, "\n")
end

return capacity
