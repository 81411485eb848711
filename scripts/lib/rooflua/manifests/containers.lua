-- Containers that a written manifest has: the command of an engine, its variables, its file of options, its GPUs.
--
-- A part of a cluster that is written is {engine, release, model, options, count, gpus (of a pod), nodes, role, gpu}.
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local quoting = require "rooflua.text.quoting"
local writing = require "rooflua.engines.launch.writing"
local yaml = require "rooflua.text.yaml"

local containers = {}

--- Words that start the engine of a part, and how many of them are the program.
---@param path string of the file of options, where it has one
---@param command string[]? in place of the engine's own, with the flag in front of the model
function containers.words(part, path, command, model_flag)
  local engine, out = part.engine, core.copy(command)
  for word in (command and "" or engine.command):gmatch "%S+" do out[#out + 1] = word end
  local program, flag = #out, model_flag or engine.model
  if flag ~= "" then out[#out + 1] = flag end
  out[#out + 1] = part.model
  for _, word in ipairs(writing.words(engine, part.release, part.options, path)) do out[#out + 1] = word end
  return out, program
end

--- {{name, value}} of the variables of a part.
function containers.variables(part)
  local out = {}
  for i, each in ipairs(writing.variables(part.engine, part.options)) do out[i] = { each:match "^([^=]*)=(.*)$" } end
  return out
end

--- The file of options of a part, nil where it needs none; and the line of a script that writes it.
function containers.file(part)
  local text = writing.file(part.engine, part.options)
  return text, text and "printf '%s' " .. quoting.shell(text) .. " > options.yaml\n"
end

function containers.image(part) return part.engine.image:format(part.release) end

--- Words as a text of a shell.
function containers.shell_text(words)
  local out = {}
  for i, word in ipairs(words) do out[i] = quoting.shell(word) end
  return core.join(out, " ")
end

--- Lists of the program and of its arguments, and variables as {{name, value}}. One with a file of options is a script
--- that writes it first.
---@param respelled (fun(words: string[]))?
function containers.launch(part, command, model_flag, respelled)
  local words, program = containers.words(part, "options.yaml", command, model_flag)
  if respelled then respelled(words) end
  local _, line = containers.file(part)
  if line then words, program = { "/bin/sh", "-c", line .. "exec " .. containers.shell_text(words) }, 2 end
  local front, args, env = yaml.list {}, yaml.list {}, containers.variables(part)
  for i, word in ipairs(words) do table.insert(i <= program and front or args, quoting.container(word)) end
  for _, each in ipairs(env) do each[2] = quoting.container(each[2]) end
  return front, args, env
end

--- Pairs of a container's map: command, args, env.
function containers.pairs(...)
  local command, args, env = containers.launch(...)
  for i, each in ipairs(env) do env[i] = { { "name", each[1] }, { "value", each[2] } } end
  return { "command", command }, { "args", args }, { "env", #env > 0 and yaml.list(env) or nil }
end

--- The list of one container.
function containers.list(part, name)
  local command, args, env = containers.pairs(part)
  return yaml.list { { { "name", name }, { "image", containers.image(part) }, command, args, env,
    { "resources", { { "limits", { { gpus.written(part.gpu).resource, part.gpus } } } } } } }
end

--- The pair `nodeSelector` of a part; an empty one where no GPU is named.
function containers.selector(part)
  local own = gpus.written(part.gpu)
  return own.value and { "nodeSelector", { { own.label, own.value } } } or {}
end

--- The name of a part in a cluster's name.
function containers.name(name, part) return quoting.name(name, "model", part.role and "-" .. part.role or "") end

--- A document of an object of Kubernetes.
function containers.object(version, kind, name, spec)
  return { { "apiVersion", version }, { "kind", kind }, { "metadata", { { "name", name } } }, { "spec", spec } }
end

return containers
