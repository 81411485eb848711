-- The deployment that files of a start describe, as the reader of launch commands gives it (applied/command.lua).
local cluster = require "rooflua.manifests.cluster"
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local json = require "rooflua.json"
local native = require "rooflua.native"
local reading = require "rooflua.engines.launch.reading"
local secrets = require "rooflua.text.secrets"
local seen = require "rooflua.startup.seen"
local spec = require "rooflua.spec"

local deployment = {}

--- Names under which an engine prints its model. vLLM's `model` may be the default beside its model_tag.
local model_names = { model = true, model_path = true, model_tag = true }

--- The repository of a folder in the cache of Hugging Face: ".../models--ORG--NAME/snapshots/..." and "ORG--NAME".
local function repository_of(name)
  local inside = name:match "models%-%-([^/]+)" or name:match "^([^/]+%-%-[^/]+)$"
  return inside and (inside:gsub("%-%-", "/", 1)) or name
end

--- The model that files name; nil where they name none.
local function model_of(found)
  local option, resolved, fact = found.option, found.resolved.model, found.facts.model
  local own = resolved or option.model_tag or option.model_path or option.model or fact
  return own and repository_of(tostring(own.value)) or nil
end

--- Whether options of a group, "kv_cache_config.dtype", have this name in front of a dot.
local function is_group(engine, name)
  for _, option in ipairs(engine.options) do
    if option.name:sub(1, #name + 1) == name .. "." then return true end
  end
  return false
end

--- Whether a list of all options, with their defaults, says something by an option: not where nothing here reads it,
--- as its default may stand there; a switch that is on is no default, nor is one that is off by a flag of its own and
--- that the engine else decides.
local function says_something(engine, name, value)
  local option = documents.option(engine, name)
  local is_decided = option and option.negates and option.parameter and not option.adapters
  if value == "false" and is_decided then return true end
  if value == "false" or value == "" or value == "null" or value == "{}" or value == "[]" then return false end
  if not option then return is_group(engine, name) end
  if option.key or option.read_by or option.drafts or option.adapters or option.memory then return true end
  return option.type == "switch" and not option.no_effect or is_group(engine, name)
end

--- Parameters, or keys, of options that facts resolve, where nothing states them: what the engine made of its
--- defaults. The longest request of a list of all options without one is the model's; the engine may have cut it to
--- what fits.
local of_facts = { max_model_len = "max_model_len", budget = "max_num_batched_tokens", seats = "max_num_seqs",
  share = "deployment.memory_utilization" }

--- A fraction as people write it: TensorRT-LLM keeps 0.7 in single precision, and its log says 0.699999988079071.
local function plain_fraction(value)
  local short = tonumber(("%.7g"):format(value))
  local is_single = value % 1 ~= 0 and math.abs(short / value - 1) < 2 ^ -24
  return is_single and short or value
end

local function add_resolved(found, engine, named)
  local has_options = #named > 0
  for name, each in core.sorted_pairs(found.resolved) do
    local value = each.value
    local is_said = name == "model" or name == "quantization" and has_options -- then it is the checkpoint's
    if not is_said and not found.option[name] and value ~= false and value ~= 1 then
      named[#named + 1] = { name, type(value) == "number" and native.number_text(value) or tostring(value) }
      found.option[name] = { value = tostring(value), line = each.line, file = each.file }
    end
  end
  for fact, parameter in core.sorted_pairs(of_facts) do
    local own = not (found.is_whole and fact == "max_model_len") and found.facts[fact]
    for _, option in ipairs(own and engine.options or {}) do
      local is_number = option.type == "integer" or option.type == "number"
      local is_alike = is_number and (option.parameter == parameter or option.key == parameter)
      local is_stated = found.option[option.name] or found.option[option.name:match "^[^.]+"]
      if is_alike and not is_stated and own then
        named[#named + 1] = { option.name, native.number_text(plain_fraction(own.value)) }
        own = nil
      end
    end
  end
end

--- Names and values that are read as flags. Of a list of all options those that say something.
local function named_of(found, engine)
  local out = {}
  for _, each in ipairs(found.named) do
    local name, value = each[1], each[2]
    local is_read = value ~= secrets.mask and not model_names[name]
    if found.resolved[name] and (value == "-1" or value == "auto") then -- the engine chose it
      is_read, found.option[name] = false, nil
    end
    if is_read and not (found.is_whole and not says_something(engine, name, value)) then
      out[#out + 1] = { name, value }
    end
  end
  return out
end

--- Whether an option of a manifest is one of those that a log lists.
local function is_listed(option) return not option.variable and not option.no_effect end

--- The engine of a manifest with the options of what ran, which hold; a sentence about each that differs.
---@param has_options boolean whether what ran lists its options, so that one which is missing has its default
local function joined(ran, main, has_options, source)
  local out, told, options = core.copy(main), {}, {}
  for name, value in core.sorted_pairs(core.copy(main.options, ran.options)) do
    local own, other = ran.options[name], main.options[name]
    local is_other = own ~= nil and other ~= nil and json.encode(own) ~= json.encode(other)
    local is_gone = own == nil and has_options and is_listed(main.engine.option[name])
    if is_other or is_gone then
      told[#told + 1] = ("%s: %s says %s, %s:%d says %s; the first holds"):format(name, source,
        own == nil and "nothing, so that its default holds" or json.encode(own), main.file, main.line or 0,
        json.encode(other))
    end
    if not is_gone then options[name] = value end
  end
  if ran.model and main.model and ran.model ~= main.model then
    told[#told + 1] = ("model: %s says %s, %s says %s; the first holds"):format(source, ran.model, main.file,
      main.model)
  end
  out.options, out.release, out.note, out.is_stated = options, ran.release, ran.note, ran.is_stated
  for _, list in ipairs { ran.told, told } do
    for _, each in ipairs(list) do out.told[#out.told + 1] = each end
  end
  out.model = ran.model or main.model
  return out
end

--- The deployment that manifests start, with what other files say of it.
local function started(found, chosen, ran, has_options)
  local release = found.facts.release
  local is_seen = release and release.form ~= "manifest" or not release and chosen.is_stated
  local own = cluster.of(found, is_seen and chosen.release or nil)
  local out = own.main
  if found.has_start then
    out = joined(ran, own.main, has_options, found.records[1].file)
    for i, each in ipairs(own.engines) do
      if each == own.main then own.engines[i] = out end
    end
    own.main = out
  end
  for _, each in ipairs(own.told) do out.told[#out.told + 1] = each end
  out.cluster = own
  return out
end

--- {engine, release, model, options, note, told, others, is_stated, found, cluster} of files.
---@param about table {from = paths, engine = "vllm 0.19" or nil}
function deployment.of(about)
  local found = seen.of(about.from)
  local chosen, remark = seen.chosen(found, about.engine)
  local named = named_of(found, chosen.engine)
  local has_options = #named > 0
  add_resolved(found, chosen.engine, named)
  local out = reading.named(chosen, named, {})
  out.model = model_of(found)
  if #found.parts > 0 then out = started(found, chosen, out, has_options) end
  out.found = found
  for _, list in ipairs { { remark }, found.told } do
    for _, sentence in ipairs(list) do out.told[#out.told + 1] = native.printable(sentence) end
  end
  return out
end

local function hardware_named(name)
  for _, form in ipairs { name, (name:gsub("_", " ")), (name:gsub("_", "-")) } do
    local ok, object = pcall(spec.hardware, form)
    if ok then return object.name end
  end
end

--- The GPU of files, and a sentence about what is given against it; an error where neither says one. A file that is
--- given describes the GPU better than a name, and holds.
---@param given string? of --hardware, or of a scenario
function deployment.hardware(found, given, what)
  local own = found.facts.gpu
  local name = own and hardware_named(own.value)
  if not name then
    if given ~= nil and given ~= "" then
      return given, own and ("%s: the GPU '%s' is not known; %s holds"):format(seen.place(own), own.value, what) or nil
    end
    core.fail("%s; say it: --hardware h100-sxm", own and ("%s: the GPU '%s' is not known here"):format(seen.place(own),
      own.value) or found.records[1].file .. ": no line names the GPU")
  end
  if type(given) == "string" and given ~= "" then
    local ok, object = pcall(spec.hardware, given)
    if not ok then return given end
    if object.name == name or native.file_exists(given) then return given end
    return name, ("%s %s: %s says %s, which holds%s"):format(what, given, seen.place(own), own.value,
      found.has_start and ": it is what ran" or "")
  end
  return given ~= nil and given ~= "" and given or name
end

return deployment
