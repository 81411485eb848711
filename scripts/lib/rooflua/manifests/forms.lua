-- Files that start a deployment, told by their content: one module for each form, which reads and writes it.
--
-- A form is {name, title, extension, tells(node), read(node, about), write(about)}; of a script read_text(text, about).
local core = require "rooflua.base.core"
local node = require "rooflua.manifests.node"
local native = require "rooflua.native"
local secrets = require "rooflua.startup.secrets"
local start = require "rooflua.engines.launch.start"

local forms = {}

local most_bytes, most_named = 4 * 2 ^ 20, 6

--- In the order in which they are asked.
local list = {}
for i, name in ipairs { "lws", "kserve", "dynamo", "kubernetes", "helm", "compose" } do
  list[i] = require("rooflua.manifests.forms." .. name)
end
local script = require "rooflua.manifests.forms.slurm"

forms.names = { "kubernetes", "lws", "kserve", "dynamo", "helm", "compose", "slurm" }

function forms.of(name) return require("rooflua.manifests.forms." .. name) end

local function fresh(file, means)
  return { form = "manifest", means = means, file = file, facts = {}, named = {}, is_named = {}, warnings = {},
    told = {}, read = {}, unread = {}, count = 0, understood = 0, not_understood = 0, later = 0, empty = 0,
    counted = "value", parts = {}, config_maps = {}, routers = {}, autoscalers = {} }
end

--- Whether a text is YAML of a form, by lines that only such a file begins with.
local function is_yaml(text)
  local lines = "\n" .. text:sub(1, 262144)
  if lines:find "^%s*{" then return lines:find '"apiVersion"%s*:' ~= nil and lines:find '"kind"%s*:' ~= nil end
  return lines:find "\n['\"]?apiVersion['\"]?:%s" and lines:find "\n['\"]?kind['\"]?:%s" or lines:find "\nservices:%s"
    or lines:find "\nmodelArtifacts:%s"
end

local function form_of(root)
  for _, form in ipairs(list) do
    if form.tells(root) then return form end
  end
end

--- A sentence about values of a record that nothing reads; nil where there are none.
local function unread_note(record)
  if #record.unread == 0 then return nil end
  local names, is_known = {}, {}
  for _, each in ipairs(record.unread) do
    local name = native.printable(each.name)
    if not is_known[name] then names[#names + 1], is_known[name] = name, true end
  end
  return ("not read, and taken to change nothing: %s%s (rooflua files FILE --unread)"):format(
    core.join(names, ", ", 1, math.min(#names, most_named)),
    #names > most_named and (" and %d more"):format(#names - most_named) or "")
end

--- The release and GPU of the parts as facts, and the engine.
local function finish(record)
  for _, part in ipairs(record.parts) do
    part.file = record.file
    local engine = start.of(part.words).engine
    local of_image, version
    if part.image then of_image, version = start.of_image(part.image) end
    part.release = part.release or of_image == engine and version or nil
    if part.image and not part.release then
      record.told[#record.told + 1] = ("line %d: the image %s names no release of %s"):format(part.line or 0,
        secrets.masked(part.image, 200), engine.title)
    end
    record.engine = record.engine or engine
    if part.engine_name == nil then part.engine_name = engine.name end
    for fact, value in pairs { release = part.release, gpu = part.gpu } do
      record.facts[fact] = record.facts[fact] or { [""] = { value = value, line = part.line } }
    end
  end
  record.told[#record.told + 1] = unread_note(record)
  record.count = record.understood + record.not_understood + record.later
  return record
end

local function read_yaml(file, text)
  if #text > most_bytes then core.fail("%s: more than 4 MiB of YAML", file) end
  local ok, documents = pcall(native.yaml_documents, text, file)
  if not ok then
    core.fail("%s%s", tostring(documents), text:find("{{", 1, true)
      and "; this is a template of Helm: give what `helm template` prints" or "")
  end
  local record, titles, is_titled = fresh(file), {}, {}
  for i, document in ipairs(documents) do
    document.told = record.told
    document.prefix = #documents > 1 and ("document %d: "):format(i) or ""
    local root = node.of(document)
    local about = core.copy(record)
    local function read(each)
      local form = form_of(each)
      if form then
        form.read(each, about)
        if not is_titled[form] then titles[#titles + 1], is_titled[form] = form.title, true end
      else
        record.told[#record.told + 1] = ("document %d is of no form that is known"):format(i)
      end
    end
    about.read_object, about.record = read, record
    if type(document.value) == "table" and next(document.value) ~= nil then
      read(root)
      node.account(root, record)
    end
  end
  if #titles == 0 then return nil end
  record.means = core.join(titles, ", ")
  return finish(record)
end

local function read_script(file, text)
  local is_job = ("\n" .. text):find "\n#SBATCH" ~= nil
  local record = fresh(file, is_job and script.title or "a script of a shell")
  record.counted = "command"
  local about = core.copy(record, { record = record })
  if not script.read_text(text, about) then return nil end
  return finish(record)
end

--- The record of a text, as startup/log.lua gives it, with `parts`; nil where it is of no such form.
---@param is_any boolean? any text is tried as a script; else those that begin as one
function forms.record(file, text, is_any)
  if is_yaml(text) then return read_yaml(file, text) end
  local head = "\n" .. text:sub(1, 65536)
  if is_any or text:find "^#!" or head:find "\n#SBATCH" then
    if #text > most_bytes then return nil end
    return read_script(file, text)
  end
end

return forms
