-- The column `command` of a measured upgrade where it is no launch command: flags alone, options by their names,
-- variables of a start script, and words for some of them: "TP8 EP1", "gpu_memory_utilization 0.85, fp8 KV",
-- "start.sh, GPU_UTIL=0.90, SPEC=mtp", "MTP 3 drafts".
--
-- A phrase that says no option is named in a sentence: what it sets is not known.
local core = require "rooflua.base.core"

local prose = {}

--- Names that start scripts and people give to options that all engines have, by the option's `parameter`.
local parameters = { tp = "tp", dp = "dp", pp = "pp", tensor_parallel = "tp", data_parallel = "dp",
  gpu_util = "memory_utilization", gpu_mem_util = "memory_utilization", gpu_memory_util = "memory_utilization",
  mem_util = "memory_utilization", gpu_utilization = "memory_utilization", max_len = "max_model_len",
  context_length = "max_model_len", ctx = "max_model_len", seats = "max_num_seqs", max_seqs = "max_num_seqs",
  prefix_cache = "prefix_caching", prefix_caching = "prefix_caching", kv = "kv", kv_dtype = "kv" }

--- The option of an engine that a name means; nil where it means none.
local function option_of(engine, name)
  local plain = name:lower():gsub("^%-+", ""):gsub("%-", "_")
  local found = engine.option[plain] or engine.option[name]
  if found or not parameters[plain] then return found end
  for _, option in ipairs(engine.options) do
    if option.parameter == parameters[plain] then return option end
  end
end

--- A text as a value of an option; nil where it cannot be one.
local function value_of(option, text)
  if option.type == "integer" or option.type == "number" then return tonumber(text) end
  if option.type == "switch" then
    local said = text:lower()
    if said == "1" or said == "true" or said == "on" or said == "yes" then return true end
    if said == "0" or said == "false" or said == "off" or said == "no" then return false end
    return nil
  end
  return text
end

local function put(out, option, text)
  local value = option and text and value_of(option, text)
  if value == nil then return false end
  out.options[option.name] = value
  return true
end

-- Readers of a phrase: (out, phrase) -> whether it says something --------------------------------------------------

local function assigned(out, phrase)
  local name, value = phrase:match "^(%-*[%a][%w_.%-]*)%s*[=:]%s*(%S+)$"
  if not name then name, value = phrase:match "^(%-*[%a][%w_%-]*)%s+(%S+)$" end
  if name and name:lower() == "spec" and value then
    out.method = value:lower()
    return true
  end
  return name ~= nil and put(out, option_of(out.engine, name), value)
end

--- "TP8 EP1", "tp 2", "ep 2": experts on all ranks where ep is more than one.
local function widths(out, phrase)
  local rest, found = phrase:lower(), false
  rest = rest:gsub("%f[%a]([tdep]p)%s*(%d+)%f[%W]", function(name, number)
    found = true
    if name == "ep" then out.ep = tonumber(number) else put(out, option_of(out.engine, name), number) end
    return ""
  end)
  return found and not rest:find "%w"
end

local function kv_format(out, phrase)
  local format = phrase:lower():match "^(%w+)%s+kv$" or phrase:lower():match "^kv%s+(%w+)$"
  local option = format and option_of(out.engine, "kv")
  if not option or option.values and not core.is_among(format, option.values) then return false end
  return put(out, option, format)
end

local methods = { mtp = "mtp", eagle = "eagle", eagle3 = "eagle3", ngram = "ngram" }

--- "MTP 3 drafts", "EAGLE3, 3 drafts", with remarks in brackets on what is accepted.
local function drafts(out, phrase)
  local bare = phrase:lower():gsub("%s*%b()", "")
  local method, count = bare:match "^(%w*)%s*(%d+) drafts$"
  if not count then return false end
  out.method, out.drafts = methods[method] or out.method, tonumber(count)
  return true
end

--- "prefix cache", "enforce eager": a switch that is on.
local function switched(out, phrase)
  local option = option_of(out.engine, (phrase:lower():gsub("%s+", "_")))
  return option ~= nil and option.type == "switch" and put(out, option, "on")
end

local readers = { assigned, widths, kv_format, drafts, switched }

--- The phrases of a text; brackets keep their commas.
local function phrases_of(text)
  local hidden = text:gsub("%b()", function(part) return (part:gsub("[,;]", "\1")) end)
  local out = {}
  for phrase in hidden:gmatch "[^,;]+" do
    out[#out + 1] = phrase:gsub("\1", ","):match "^%s*(.-)%s*$"
  end
  return out
end

--- Adds the words of a text, each of which is NAME=VALUE, as phrases; another text as one phrase.
local function add_words(out, text)
  local words, is_all = {}, true
  for word in text:gmatch "%S+" do
    words[#words + 1] = word
    is_all = is_all and word:find "^[%w_]+=." ~= nil
  end
  for _, each in ipairs(is_all and words or { text }) do out[#out + 1] = each end
end

--- "--gpu-memory-utilization 0.92 --max-model-len 8192" as one phrase for each flag, "SPEC=mtp CTX=long" for each word.
local function split_flags(phrases)
  local out = {}
  for _, phrase in ipairs(phrases) do
    local first = phrase:find "%-%-%a"
    local front = first and phrase:sub(1, first - 1):match "^(.-)%s*$" or phrase
    add_words(out, front)
    for flag in (first and phrase:sub(first) or ""):gmatch "%-%-[^%-]%S*%s*[^%-%s]*%S*" do
      out[#out + 1] = flag:match "^(.-)%s*$"
    end
  end
  return out
end

--- Options of what a column says, and sentences about phrases that say none.
--- @param engine table of catalogue.of
--- @return table {options, method, drafts, ep}
--- @return string[] told
function prose.read(engine, text)
  local out, told = { engine = engine, options = {} }, {}
  for _, phrase in ipairs(split_flags(phrases_of(text))) do
    local is_read = phrase == "" or phrase:lower() == engine.name
    for _, reader in ipairs(readers) do is_read = is_read or reader(out, phrase) end
    if not is_read then told[#told + 1] = ("not read: %s"):format(phrase) end
  end
  local own = engine.speculation and engine.speculation.mtp
  if out.drafts and own and engine.drafts then
    for name, value in pairs(own.options(out.drafts)) do out.options[name] = value end
    if out.method and engine.option["speculative_config.method"] then
      out.options["speculative_config.method"] = out.method
    end
  elseif out.method == "mtp" and engine.option["speculative_config.method"] then
    out.options["speculative_config.method"] = "mtp" -- as many drafts as the model has layers for them
  elseif out.method then
    told[#told + 1] = ("drafts by %s without their number: taken without drafts"):format(out.method)
  end
  return out, told
end

return prose
