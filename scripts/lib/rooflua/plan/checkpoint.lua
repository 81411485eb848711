-- The checkpoint that an engine is started with: the one that was asked for, in the format that was priced. The names
-- are the aliases of the model's file, which says in which formats they are published.
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local native = require "rooflua.native"

local checkpoint = {}

--- Words of names of checkpoints that tell a format.
local format_words = { "nvfp4", "mxfp4", "mxfp8", "fp4", "fp8", "int4", "w4a16", "awq", "gptq", "int8", "w8a8", "bf16",
  "fp16" }

--- Whether a text can be the name of a repository: ORGANISATION/NAME.
local function is_repository(text) return text:find "^%w[%w._-]*/%w[%w._-]*$" ~= nil end

local function without_organisation(name) return name:match "([^/]*)$" end

--- A name as the program compares names: letters and digits.
local function folded(name) return (name:lower():gsub("[^%w]", "")) end

--- The word of a name that tells its format, and the name in front of it.
local function word_of(name)
  local plain = without_organisation(name):lower()
  local best, at = nil, nil
  for _, word in ipairs(format_words) do
    local found = ("-" .. plain .. "-"):find("[-_.]" .. word .. "[-_.]")
    if found and (not at or found < at) then best, at = word, found end
  end
  return best, best and plain:sub(1, at - 2) or plain
end

--- What a checkpoint was made from: "llama-3.1-8b-instruct" of "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic".
local function variant_of(name)
  local _, stem = word_of(name)
  return folded((stem:gsub("^meta%-", "")))
end

--- Where a name stands in a text, as a whole word; nil where it does not.
local function place_in(text, name)
  local at, behind = text:find(name, 1, true)
  while at do
    local is_word = not text:sub(at - 1, at - 1):find "[%w._-]" and not text:find("^%.?[%w_-]", behind + 1)
    if is_word then return at end
    at, behind = text:find(name, behind, true)
  end
end

--- Where the source of a release names a checkpoint; nil where none does.
local function place_of(file, name)
  for _, release in core.sorted_pairs(file.releases or {}) do
    local source = type(release) == "table" and release.source or ""
    local at = place_in(source, name) or place_in(source, without_organisation(name))
    if at then return at end
  end
end

--- Whether a checkpoint has its weights in a format; `default` is the format of the model's own file.
local function is_in(file, name, format, default)
  local declared = file.alias_formats and file.alias_formats[name]
  return (declared or default) == format
end

--- The file of a model that has names of checkpoints; nil for others, as those of a config.json or a table.
local function file_of(model)
  if not tostring(model.origin):find "%.toml$" or not native.file_exists(model.origin) then return nil end
  return native.read_toml(model.origin)
end

local function default_of(question, file)
  return file and file.weights and file.weights.experts or question.model.weight_dtype
end

--- The format that was stated for a candidate; nil where it follows from the model.
local function stated_of(question, candidate)
  local stated = deploy.deployment(question, candidate).weights
  local engine = question.engine
  for _, option in ipairs(not stated and engine and engine.engine.name == candidate.engine and engine.engine.options
    or {}) do
    if option.key == "deployment.weights" then stated = engine.options[option[1]] end
  end
  return stated
end

--- The name that the user asked for, among names; nil where the question names the model in another way.
local function asked_of(question, names)
  local given = question.given_model
  if type(given) ~= "string" then return nil end
  for _, name in ipairs(names) do
    if folded(name) == folded(given) then return name end
  end
  for _, name in ipairs(names) do
    if folded(without_organisation(name)) == folded(without_organisation(given)) then return name end
  end
  for _, name in ipairs(names) do -- "llama3-8b" is Meta-Llama-3-8B
    if variant_of(name) == variant_of(given) and word_of(name) == word_of(given) then return name end
  end
end

--- The names of a model's file, those first that the source of a release names first.
local function in_format(file, names, format, default, variant)
  local best, best_at
  for _, name in ipairs(names) do
    if is_in(file, name, format, default) and (not variant or variant_of(name) == variant) then
      local at = place_of(file, name) or math.huge
      if not best or at < best_at then best, best_at = name, at end
    end
  end
  return best
end

--- The checkpoint of a candidate: {name, format, quantised}. `name` is nil where no file of the model names one;
--- the user then gives it. `quantised`: the engine quantises at start, so its command needs a flag.
---@param can_quantise fun(format: string): boolean whether the engine has a flag for a format
function checkpoint.of(question, candidate, can_quantise)
  local file, stated = file_of(question.model), stated_of(question, candidate)
  local default = default_of(question, file)
  local asked_format = question.model.asked_format
  local format = stated or asked_format ~= "" and asked_format or default
  local names = {}
  for _, alias in ipairs(file and file.aliases or {}) do
    if is_repository(alias) then names[#names + 1] = alias end
  end
  if #names == 0 then return { format = format, quantised = format ~= default and can_quantise(format) } end
  local asked = asked_of(question, names)
  if asked and is_in(file, asked, format, default) then return { name = asked, format = format } end
  local plain = asked or in_format(file, names, default, default) or names[1]
  local found = in_format(file, names, format, default, variant_of(plain))
  if found then return { name = found, format = format } end
  local base = in_format(file, names, default, default, variant_of(plain))
  if base and can_quantise(format) then return { name = base, format = format, quantised = true } end
  local known = {}
  for _, name in ipairs(names) do
    if is_in(file, name, format, default) then known[#known + 1] = name end
  end
  core.fail("%s: %s has no flag for weights in %s, and no checkpoint of %s in that format is known%s", candidate.name,
    candidate.engine, format, plain, #known > 0 and "; name one that is: " .. table.concat(known, ", ") or "")
end

return checkpoint
