-- Commands of GPUs that only encode, as far as the engine's documentation states them (encode_pool of scripts/engines):
-- the words that start one, and those that the other engines have besides.
local quoting = require "rooflua.text.quoting"
local release = require "rooflua.engines.release"

local pools = {}

--- A word of a command: "${NAME}" in it is a variable of the shell, and "$*{NAME}" one that holds several words.
local function word_of(text)
  local several = text:match "^%$%*{(%u[%u_]*)}$"
  if several then return quoting.verbatim("$" .. several) end
  local before, name, behind = text:match "^(.-)%${(%u[%u_]*)}(.*)$"
  if not name then return text end
  return quoting.verbatim(("%s\"$%s\"%s"):format(quoting.shell(before), name, quoting.shell(behind)))
end

--- Why no command starts them; nil where one does, or where a candidate has none.
---@param engine table of scripts/engines
---@param version string its release
function pools.without_command(candidate, engine, version)
  if not candidate.encoders then return nil end
  local known = engine.encode_pool
  if not known then
    return ("no command is known that starts GPUs which only encode for %s, with replicas that take their embeddings")
      :format(engine.title)
  end
  if release.earlier(version, known.since) then
    return ("%s %s has no engines that only encode; %s and later have"):format(engine.title, version, known.since)
  end
end

--- Words behind the command of an engine of a role; none without encoders. Replicas that decode get no embeddings.
---@param role string? "encode", "prefill", "decode"; nil: an engine that does all but encode
function pools.words(candidate, engine, role)
  if not candidate.encoders or role == "decode" then return {} end
  local out = {}
  for i, text in ipairs(role == "encode" and engine.encode_pool.encode or engine.encode_pool.serve) do
    out[i] = word_of(text)
  end
  return out
end

--- Lines of a shell script that ask for what a command needs.
---@param text string the command
function pools.asked(candidate, engine, text)
  local out = {}
  for _, each in ipairs(candidate.encoders and engine.encode_pool.asks or {}) do
    if text:find("$" .. each[1], 1, true) then out[#out + 1] = ('  : "${%s:?%s}"\n'):format(each[1], each[2]) end
  end
  return table.concat(out)
end

--- Sentences for the files of a rank.
function pools.notes(candidate, engine)
  local known = candidate.encoders and engine.encode_pool
  if not known then return {} end
  local out = { "engines that encode: " .. known.source }
  if known.front then table.insert(out, 1, known.front) end
  return out
end

--- Entries of {role, label, count, gpus} with those that encode: `label` is the ROLE of a script.
function pools.added(candidate, list)
  if not candidate.encoders then return list end
  for _, each in ipairs(list) do each.label = each.label or each.role or "serve" end
  table.insert(list, 1, { role = "encode", label = "encode", count = candidate.encoders, gpus = 1 })
  return list
end

return pools
