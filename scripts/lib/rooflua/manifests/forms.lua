-- Files that start a deployment, told by their content: one module for each form, which reads and writes it.
--
-- A form is {name, title, extension, kind (of an object that it alone is), read(node, record), write(about),
-- is_one_node (an engine stays on one)}; that of scripts has read_text(text, record).
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local kserve = require "rooflua.manifests.forms.kserve"
local launches = require "rooflua.manifests.launches"
local native = require "rooflua.native"
local node = require "rooflua.manifests.node"
local secrets = require "rooflua.text.secrets"
local start = require "rooflua.engines.launch.start"

local forms = {}

local most_bytes, most_named, most_parts = 4 * 2 ^ 20, 6, 1000

local list = { require "rooflua.manifests.forms.kubernetes", require "rooflua.manifests.forms.lws",
  kserve, require "rooflua.manifests.forms.dynamo",
  require "rooflua.manifests.forms.helm", require "rooflua.manifests.forms.compose",
  require "rooflua.manifests.forms.slurm" }

local by_name = {}
forms.names = {}
for i, form in ipairs(list) do forms.names[i], by_name[form.name] = form.name, form end

function forms.of(name) return by_name[name] end

--- The form of a document; nil where it is of none.
local function form_of(root)
  local kind = root:at "kind"
  for _, form in ipairs(kind and list or {}) do
    if form.kind == kind.value or form.base_kind == kind.value then return form end
  end
  if root:at "apiVersion" and kind then return forms.of "kubernetes" end
  return root:at "services" and forms.of "compose" or root:at "modelArtifacts" and forms.of "helm" or nil
end

--- Whether a text is YAML of a form, by lines that such a file has.
local function is_yaml(text)
  local lines = "\n" .. text:sub(1, 262144)
  local function has(key) return lines:find("\n[ {\"']*" .. key .. "[\"']?:%s") ~= nil end
  return has "apiVersion" and has "kind" or lines:find "\nservices:%s" ~= nil or lines:find "\nmodelArtifacts:%s" ~= nil
end

--- A function that adds configurations of KServe, {node, is_used, is_other (of another file)} by name, of a root.
local function add_base(bases, root, is_other)
  local name = root:at("metadata", "name")
  bases[name and tostring(name.value) or ""] = { node = root, is_other = is_other }
end

--- Configurations that services of other files may name in baseRefs.
---@param texts table<string, string> by file
function forms.bases(texts)
  local out = {}
  for file, text in core.sorted_pairs(texts) do
    local has_some = #text <= most_bytes and text:find(kserve.base_kind, 1, true) and is_yaml(text)
    local ok, documents = pcall(native.yaml_documents, has_some and text or "", file) -- else told where it is read
    for _, document in ipairs(ok and documents or {}) do
      document.told, document.prefix = {}, file .. ": "
      local root = node.of(document)
      local kind = root:at "kind"
      if kind and kind.value == kserve.base_kind then add_base(out, root, true) end
    end
  end
  return out
end

local function fresh(file, means, counted)
  return { form = "manifest", means = means, file = file, facts = {}, named = {}, is_named = {}, warnings = {},
    told = {}, read = {}, unread = {}, count = 0, understood = 0, not_understood = 0, later = 0, empty = 0,
    counted = counted, parts = {}, config_maps = {}, routers = {}, autoscalers = {} }
end

--- A sentence about values of a record that nothing reads; nil where there are none.
local function unread_note(record)
  local names = {}
  for _, each in ipairs(record.unread) do
    local name = native.printable(each.name)
    if not core.is_among(name, names) and #names <= most_named then names[#names + 1] = name end
  end
  if #names == 0 then return nil end
  return ("not read, and taken to change nothing: %s%s (rooflua files FILE --unread)"):format(
    core.join(names, ", ", 1, math.min(#names, most_named)), #names > most_named and ", ..." or "")
end

--- Adds the engine, releases and GPUs of the parts.
local function finished(record)
  if #record.parts > most_parts then core.fail("%s: more than %d launch commands", record.file, most_parts) end
  for _, part in ipairs(record.parts) do
    local engine, of_image, version = start.of(part.words).engine, start.of_image(part.image or "")
    part.file, record.engine = record.file, record.engine or engine
    part.release = part.release or of_image == engine and version or nil
    if part.image and not part.release then
      local said = ("the image %s names no release of %s"):format(secrets.masked(holes.shown(part.image), 200),
        engine.title)
      if not core.is_among(said, record.told) then record.told[#record.told + 1] = said end
    end
    for fact, value in pairs { release = part.release, gpu = part.gpu } do
      record.facts[fact] = record.facts[fact] or { [""] = { value = value, line = part.line } }
    end
  end
  record.told[#record.told + 1] = unread_note(record)
  for i, each in ipairs(record.told) do record.told[i] = secrets.masked(each, 600) end
  record.count = record.understood + record.not_understood + record.later
  return record
end

--- Reads the objects of a document, or those of its kinds that others rest on.
local function read_document(root, record, i, titles)
  function record.read_object(each)
    local form = form_of(each)
    if not form then
      record.told[#record.told + 1] = ("document %d is of no form that is known"):format(i)
    else
      if not core.is_among(form.title, titles) then titles[#titles + 1] = form.title end
      each:text "kind"
      form.read(each, record)
    end
  end
  if type(root.value) == "table" and next(core.plain(root.value)) ~= nil then record.read_object(root) end
  record.read_object = nil
end

local function read_yaml(file, text, bases)
  if #text > most_bytes then core.fail("%s: more than 4 MiB of YAML", file) end
  local ok, documents = pcall(native.yaml_documents, text, file)
  if not ok then
    core.fail("%s%s", tostring(documents), text:find("{{", 1, true)
      and "; this is a template of Helm: give what `helm template` prints" or "")
  end
  local record, titles, roots = fresh(file, nil, "value"), {}, {}
  record.bases = bases or {}
  for i, document in ipairs(documents) do
    document.told, document.prefix = record.told, #documents > 1 and ("document %d: "):format(i) or ""
    roots[i] = node.of(document)
    local kind = roots[i]:at "kind"
    if kind and kind.value == kserve.base_kind and not bases then add_base(record.bases, roots[i], false) end
  end
  for i, root in ipairs(roots) do read_document(root, record, i, titles) end
  for name, base in core.sorted_pairs(record.bases) do
    if base.is_used_by == record and base.is_other then roots[#roots + 1] = base.node end
    if not base.is_used_by and not base.is_other then record.told[#record.told + 1] = kserve.unused_base(name) end
  end
  for _, root in ipairs(roots) do node.account(root, record) end
  record.means = core.join(titles, ", ")
  return #titles > 0 and finished(record) or nil
end

--- The record of a text, as startup/log.lua gives it, with `parts`; nil where it is of no such form.
---@param is_any boolean? any text that is no document and has a launch line is tried as a script; else those that
---  begin as one
---@param bases table? forms.bases of all files that are read together
function forms.record(file, text, is_any, bases)
  if is_yaml(text) and not text:find "^#!" then return read_yaml(file, text, bases) end
  local is_job = ("\n" .. text:sub(1, 65536)):find "\n#SBATCH" ~= nil
  local is_script = is_job or text:find "^#!" ~= nil
  local may_be = is_any and #text < 2 ^ 17 and not text:find "^%s*[{%[]" and launches.has_line(text)
  if not is_script and not may_be then return nil end
  local script = forms.of "slurm"
  local record = fresh(file, is_job and script.title or "a script of a shell", "command")
  local ok, is_one = pcall(script.read_text, text, record)
  if not ok and (is_script or file:find "%.sh$") then core.fail("%s: %s", file, is_one) end
  return ok and is_one and finished(record) or nil
end

return forms
