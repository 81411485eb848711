-- The scenario that `rooflua new --command` writes: a template with the model, the engine and its options.
local launch = require "rooflua.applied.launch"
local choice = require "rooflua.engines.choice"
local command = require "rooflua.applied.command"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local quoting = require "rooflua.text.quoting"
local spec = require "rooflua.spec"

local template = {}

local widest = 110

local function lua_value(value)
  if type(value) == "string" then return quoting.lua(value) end
  if type(value) ~= "table" then return type(value) == "number" and native.number_text(value) or tostring(value) end
  local out = {}
  for i, each in ipairs(value) do out[i] = lua_value(each) end
  return "{ " .. core.join(out, ", ") .. " }"
end

--- Parts one after the other on as many lines as they need.
local function wrapped(parts, separator, indent)
  local lines, line = {}, ""
  for i, part in ipairs(parts) do
    if i < #parts then part = part .. separator end
    if line ~= "" and #line + #part + 1 > widest then
      lines[#lines + 1], line = line, ""
    end
    line = line == "" and part or line .. " " .. part
  end
  lines[#lines + 1] = line
  return core.join(lines, "\n" .. indent)
end

--- The key `engine`: options that change nothing are left out.
local function engine_text(engine, keys)
  local parts = { quoting.lua(keys.engine[1]) }
  for name, value in core.sorted_pairs(keys.engine) do
    if name ~= 1 and not engine.option[name].no_effect then
      parts[#parts + 1] = quoting.lua_key(name) .. " = " .. lua_value(value)
    end
  end
  if #parts == 1 then return parts[1] end
  return "{ " .. wrapped(parts, ",", "    ") .. " }"
end

--- A policy as Lua: its name in quotes, or its class with what is given of its numbers and words.
local function policy_text(folder, given)
  if type(given) == "string" and folder == "drafters" then return quoting.lua(given) end
  local parts, name = {}, type(given) == "string" and given or policy.definition(given).name
  for key, value in core.sorted_pairs(type(given) == "string" and {} or policy.parameters(given)) do
    local is_text = policy.is_given(given, key) and type(value) ~= "table"
    if is_text then parts[#parts + 1] = key .. " = " .. lua_value(value) end
  end
  return ('require "%s.%s" {%s}'):format(folder, name, #parts > 0 and " " .. core.join(parts, ", ") .. " " or "")
end

template.value_text = lua_value

--- Lines of `replicas`: a number, or kinds of engines.
local function add_replicas(lines, engine, given)
  if type(given) == "number" then lines[#lines + 1] = ("  replicas = %d, -- engines of their own"):format(given) end
  if type(given) ~= "table" then return end
  lines[#lines + 1] = "  replicas = {"
  for _, each in ipairs(given) do
    local parts = { "count = " .. each.count }
    for _, key in ipairs { "role", "min", "max" } do
      if each[key] then parts[#parts + 1] = key .. " = " .. lua_value(each[key]) end
    end
    if each.autoscaler then parts[#parts + 1] = "autoscaler = " .. policy_text("autoscalers", each.autoscaler) end
    if each.engine then parts[#parts + 1] = "engine = " .. engine_text(engine, each) end
    lines[#lines + 1] = "    { " .. wrapped(parts, ",", "      ") .. " },"
  end
  lines[#lines + 1] = "  },"
end

--- Lines for what is no option of the engine.
local function more_text(engine, keys)
  local lines = {}
  add_replicas(lines, engine, keys.replicas)
  if keys.router then lines[#lines + 1] = ('  router = require "routers.%s" {},'):format(keys.router) end
  local own = keys.speculation
  if own then
    lines[#lines + 1] = ('  speculation = { speculator = require "speculators.fixed" { draft_tokens = %d },'):format(
      own.speculator.draft_tokens)
    lines[#lines + 1] = ("    drafter = %s,\n    acceptance = %s }, -- how many?"):format(
      policy_text("drafters", own.drafter), policy_text("acceptance", own.acceptance))
  end
  if keys.adapters then
    local parts = {}
    for name, value in core.sorted_pairs(keys.adapters) do parts[#parts + 1] = name .. " = " .. lua_value(value) end
    lines[#lines + 1] = "  adapters = { " .. core.join(parts, ", ") .. " },"
  end
  return #lines > 0 and core.join(lines, "\n") .. "\n" or ""
end

template.more_text = more_text

local margin = "---           "

--- A text as lines of a comment.
local function comment_text(text)
  local words = {}
  for word in quoting.line(text):gmatch "%S+" do words[#words + 1] = word end
  return wrapped(words, "", margin)
end

--- The command of a deployment, without what has no effect here.
local function command_text(deployment)
  local kept = {}
  for name, value in pairs(deployment.options) do
    if not deployment.engine.option[name].no_effect then kept[name] = value end
  end
  local text, file = command.write { engine = deployment.engine, release = deployment.release,
    model = deployment.model, options = kept }
  local out = { comment_text(text) }
  for line in (file or ""):gmatch "[^\n]+" do out[#out + 1] = margin .. quoting.line(line) end
  return core.join(out, "\n")
end

--- "max_num_seqs=64": an option of an engine as an example for --set; one that the keys state where there is one.
function template.example(engine, keys)
  local other
  for _, option in ipairs(engine.options) do
    if option.key and option.type == "integer" then
      local value = keys.engine[option.name]
      if value then return option.name .. "=" .. value end
      if option.parameter == "max_num_seqs" then other = option.name .. "=64" end
    end
  end
  return other
end

--- The text of a template with the marks of a command filled in.
--- @param text string
--- @param about table {text, engine, model} of the command
--- @param hardware string
function template.fill(text, about, hardware)
  local keys, told, deployment = launch.keys(about)
  local engine = deployment.engine
  hardware = launch.hardware(about, hardware)
  spec.hardware(hardware)
  for _, sentence in ipairs(choice.notes(engine, keys.engine)) do
    if sentence:find "^no effect here" then told[#told + 1] = sentence end
  end
  local limits = #told > 0 and comment_text(core.join(told, "; ")) or "What the answer does not cover."
  local marks = { COMMAND = command_text(deployment), TOLD = limits,
    OPTION = template.example(engine, keys), MODEL = quoting.lua(keys.model), HARDWARE = quoting.lua(hardware),
    ENGINE = engine.name, OPTIONS = engine_text(engine, keys), MORE = more_text(engine, keys) }
  text = text:gsub("  %-%- @MORE@\n", function() return marks.MORE end)
  return (text:gsub('"?@(%u+)@"?', function(name) return marks[name] end))
end

return template
