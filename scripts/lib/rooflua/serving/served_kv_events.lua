--- The rows of scripts/engines/*/kv_events.lua as the emulated server takes them, and what it says of its KV events.
local core = require "rooflua.base.core"
local catalogue = require "rooflua.engines.catalogue"
local json = require "rooflua.json"
local release = require "rooflua.engines.release"

local served = {}

local keys = { "since", "before", "hash", "events", "stored", "removed", "kind", "seen_without", "seen_with",
  "seen_until", "source" }

--- The form of the messages of a release: {hash, events, stored, removed, kind}; hash is nil where none is known.
function served.form(rows, name)
  local out = { stored = json.array {}, removed = json.array {} }
  for _, row in ipairs(rows) do
    core.check_keys(row, keys, "kv_events")
    if release.holds(row, name) then
      for _, key in ipairs { "hash", "events", "kind" } do
        if row[key] ~= nil then out[key] = row[key] end
      end
      for _, key in ipairs { "stored", "removed" } do
        if row[key] ~= nil then out[key][#out[key] + 1] = row[key] end
      end
    end
  end
  return out
end

local function is_between(row, name)
  if row.before and not release.earlier(name, row.before) then return false end
  if row.seen_without and not release.earlier(row.seen_without, name) then return false end
  return not (row.seen_with and not release.earlier(name, row.seen_with))
end

--- What of the form of a release was not seen in its source or messages: a sentence, or nil.
function served.assumed(rows, name)
  local unseen, is_listed = {}, {}
  for _, row in ipairs(rows) do
    local what = row.hash and "names of blocks" or row.events and "events as " .. row.events .. "s" or row.stored
      or row.removed
    if row.seen_until and release.earlier(row.seen_until, name) then
      what = "everything after " .. row.seen_until
    elseif not (row.seen_without and is_between(row, name)) then
      what = nil
    end
    if what and not is_listed[what] then unseen[#unseen + 1], is_listed[what] = what, true end
  end
  return unseen[1] and ("the form of KV events of %s is assumed in part, because it was not seen: %s"):format(name,
    table.concat(unseen, ", "))
end

--- Options of the engine's server: {events, replay, topic, seed, block_tokens, form}, and what is assumed of the form.
---@param asked table events, replay, topic and seed, of the command
---@param chosen table {engine, release}
function served.options(reader, asked, chosen, replicas)
  local rows = catalogue.said(chosen.engine, "kv_events")
  if not rows then
    reader:fail("--kv-events", ("what %s tells of its KV cache is not known; what %s tells is"):format(
      chosen.engine.name, catalogue.default_name()))
  end
  local form = served.form(rows, chosen.release)
  if not form.hash then
    reader:fail("--kv-events", ("how %s %s names blocks cannot be computed outside of Python; 0.10.0 and later can")
      :format(chosen.engine.name, chosen.release))
  end
  local size = replicas[1].config.block_size
  for i, replica in ipairs(replicas) do
    if replica.config.prefix_caching == false then
      reader:fail("--kv-events", "prefix caching is off, so no block is kept that an event could name")
    end
    if replica.config.block_size ~= size then
      reader:fail("--kv-events", ("blocks of replica %d have %d tokens, and those of the first one %d"):format(i,
        replica.config.block_size, size))
    end
  end
  return { events = asked.events, replay = asked.replay, topic = asked.topic, seed = asked.seed, block_tokens = size,
    form = form }, served.assumed(rows, chosen.release)
end

--- Where it tells of them, as the command prints it.
function served.announce(options, addresses, quiet)
  for i, address in ipairs(addresses.events) do
    local replay = addresses.replay[i]
    io.stdout:write(("KV events of replica %d on %s%s, topic \"%s\", PYTHONHASHSEED %s\n"):format(i, address,
      replay and (", again on " .. replay) or "", (options.topic:gsub("%%replica", tostring(i - 1))), options.seed))
  end
  if not quiet then
    io.stdout:write "KV events tell of prompts that are lists of tokens, not of text or of generated tokens\n"
  end
  io.stdout:flush()
end

--- Sentences on what was sent.
function served.tell(found, told)
  told[#told + 1] = ("%d messages named blocks in KV caches, those of generated tokens not among them"):format(
    found.messages)
  if found.texts > 0 then
    told[#told + 1] = ("%d prompts were text: no KV event tells of their blocks, because no tokenizer is at hand")
      :format(found.texts)
  end
end

return served
