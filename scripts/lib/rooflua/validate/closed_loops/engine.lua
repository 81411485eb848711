-- The engine of a measured deployment as a scenario states it: its release, and the options that its row has. Widths
-- are those of the row.
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local command = require "rooflua.applied.command"
local release = require "rooflua.engines.release"
local values = require "rooflua.engines.values"

local engine = {}

--- Keys that a row states in columns of its own: options that stand for them say the same in other words.
local of_row = { ["deployment.tp"] = true, ["deployment.dp"] = true, ["deployment.pp"] = true,
  ["deployment.ep"] = true, ["deployment.weights"] = true }

--- The newest release of an engine on a day, and a word for it; where none is that old the first that is known.
local function on_day(about, day)
  local found
  for _, each in ipairs(about.releases) do
    if each.day and each.day <= day then found = each.name end
  end
  if found then return found, "the release of its date" end
  return about.releases[1].name, "the first that is known"
end

--- Whether a version names a release of the engine, and not a build or the release of a container around it.
local function is_release(about, version)
  local parsed = release.parse(version)
  return parsed and not parsed.is_build and parsed.dev == math.huge
    and not release.earlier(version, about.releases[1].name)
end

--- {engine, release} of a question, and a sentence where the release is not the one that the row has. Without a release
--- it is the one in force at its date; without a date the newest that is known.
--- @return table chosen
--- @return string? note
function engine.chosen(question)
  local about, version, day = catalogue.of(question.engine), question.version, question.date
  if is_release(about, version) then
    local chosen = choice.parse(question.engine .. " " .. version)
    return chosen, chosen.note
  end
  local parsed = release.parse(version)
  day = parsed and parsed.is_build and parsed.day or day
  local found, which = catalogue.newest(about), "the newest that is known"
  if day ~= "" then found, which = on_day(about, day) end
  local said = version == "" and "engine version not stated" or ("engine version '%s'"):format(version)
  return choice.parse(about.name .. " " .. found), ("%s: %s %s, %s"):format(said, about.title, found, which)
end

--- The deployment of a launch command; the engine that the row names must be the one that it starts.
local function of_command(question, chosen)
  return command.read(question.command, { engine = chosen.engine.name .. " " .. chosen.release,
    is_measured = true })
end

--- A run that printed how many tokens a round has did draft. Where its command does not say so, it gets the fewest
--- drafts that allow the number, in the words of the engine's own multi-token prediction.
--- @return string? sentence
local function add_drafts(question, about, options)
  local length, own = tonumber(question.accept_length), about.speculation and about.speculation.mtp
  if not (length and length > 1 and own and about.drafts) or about.drafts(options) then return nil end
  local drafts = math.ceil(length) - 1
  for name, value in pairs(own.options(drafts)) do options[name] = value end
  return ("the run printed accepted drafts and its command asks for none: %d drafts, the fewest that allow it"):format(
    drafts)
end

--- The engine of one part of a question.
--- @param part table of rows.read: options, environment, widths
--- @return table {engine = key of a scenario, speculation, replicas, release}
--- @return string[] sentences
function engine.of(question, part, chosen)
  local deployment = question.command ~= "" and of_command(question, chosen)
    or command.named(chosen, part.options, part.environment)
  local about = chosen.engine
  local copies = about.replicas and about.replicas(deployment.options) or 1
  for _, option in ipairs(about.options) do
    local reader = option.read_by and about.option[option.read_by]
    local is_of_row = of_row[option.key] or reader and of_row[reader.key] or part.role and option.parameter == "role"
    if is_of_row then deployment.options[option.name] = nil end
  end
  deployment.note = nil
  local drafted = add_drafts(question, about, deployment.options)
  local keys, told = command.keys(deployment, { speculation = { acceptance = "constant" } })
  keys.copies = copies
  told[#told + 1] = drafted
  return keys, told
end

--- The values of the rules of an engine where `question` runs, for what no key of a scenario has.
function engine.values(chosen, facts)
  return values.of(chosen.engine, chosen.release, facts).values
end

return engine
