-- Containers that a written manifest has: the command of an engine, its variables, its file of options, its GPUs.
--
-- A part of a cluster that is written is {engine, release, model, options, count, gpus (of a pod), nodes, role, gpu}.
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local quoting = require "rooflua.text.quoting"
local writing = require "rooflua.engines.launch.writing"
local yaml = require "rooflua.handover.yaml"

local containers = {}

--- Words that start the engine of a part.
---@param path string of the file of options, where it has one
---@param command string[]? in place of the engine's own, with the word in front of the model
---@return string[] words, integer how many of them are the program, without what follows
function containers.words(part, path, command, model_flag)
  local engine, out = part.engine, core.copy(command)
  for word in (command and "" or engine.command):gmatch "%S+" do out[#out + 1] = word end
  local program = #out
  local flag = model_flag or engine.model
  if part.model then
    if flag ~= "" then out[#out + 1] = flag end
    out[#out + 1] = part.model
  end
  for _, word in ipairs(writing.words(engine, part.release, part.options, path)) do out[#out + 1] = word end
  return out, program
end

--- {{name, value}} of the variables of a part.
function containers.variables(part)
  local out = {}
  for i, each in ipairs(writing.variables(part.engine, part.options)) do out[i] = { each:match "^([^=]*)=(.*)$" } end
  return out
end

--- The file of options of a part; nil where it needs none.
function containers.file(part) return writing.file(part.engine, part.options) end

function containers.image(part) return part.engine.image:format(part.release) end

--- A text as words of a shell on one line.
local function shell_text(words)
  local out = {}
  for i, word in ipairs(words) do out[i] = quoting.shell(word) end
  return core.join(out, " ")
end

containers.shell_text = shell_text

--- A line that writes a file of options in front of a command.
function containers.file_line(text) return "printf '%s' " .. quoting.shell(text) .. " > options.yaml\n" end

--- {command, args} of a container: words of a program and its arguments, or a script that writes the options first.
local function launched(part, words, program)
  local text = containers.file(part)
  if text then
    words = { "/bin/sh", "-c", containers.file_line(text) .. "exec " .. shell_text(words) }
    program = 2
  end
  local command, args = yaml.list {}, yaml.list {}
  for i, word in ipairs(words) do
    local list = i <= program and command or args
    list[#list + 1] = quoting.container(word)
  end
  return command, args
end

--- The pairs {command, args, env} of a container's map.
function containers.pairs(part, command, model_flag, respelled)
  local words, program = containers.words(part, "options.yaml", command, model_flag)
  if respelled then respelled(words) end
  local program_words, args = launched(part, words, program)
  local env = yaml.list {}
  for i, each in ipairs(containers.variables(part)) do
    env[i] = { { "name", each[1] }, { "value", quoting.container(each[2]) } }
  end
  return { { "command", program_words }, { "args", args }, { "env", #env > 0 and env or nil } }
end

--- The map of one container.
---@param about table? {name, image}
function containers.map(part, about)
  about = about or {}
  local out = { { "name", about.name or "engine" }, { "image", about.image or containers.image(part) } }
  for _, pair in ipairs(containers.pairs(part)) do out[#out + 1] = pair end
  out[#out + 1] = { "resources", { { "limits", { { gpus.written(part.gpu).resource, part.gpus } } } } }
  return out
end

--- The pair `nodeSelector` of a part; nil where no GPU is named.
function containers.selector(part)
  local own = gpus.written(part.gpu)
  return own.value and { "nodeSelector", { { own.label, own.value } } } or nil
end

--- The spec of a pod: its selector and one container.
function containers.pod(part, about)
  return { containers.selector(part) or { "nodeSelector", nil }, { "containers", yaml.list { containers.map(part, about) } } }
end

--- The name of a part in a cluster's name.
function containers.name(name, part) return quoting.name(name, "model", part.role and "-" .. part.role or "") end

return containers
