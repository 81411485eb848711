-- Reads the settings of a workload from its text: known words with their numbers, among prose.
--
--     closed loop c=N    static batch N    Poisson R rps D s    in=N or in=N+~M    out=N    (isl and osl as in and out)
--     max_num_seqs N    max_num_batched_tokens N or mbt N    kv_blocks N    shared_prefix N    ep N    dp N
--     memory_fraction F or gpu_memory_utilization F    length_spread F    async on|off or async_scheduling on|off
--
-- Capitals do not matter. Between a name and its number is a space, = or :. Text that looks like a setting but is
-- none is an error, so that no setting is ignored silently:
--     a known name must have a number after it, a whole one if it is a count;
--     name=value, or a name_with_underscore before a number, must have a known name;
--     a --flag, a name_with_underscore before on, off, true or false, and names of settings that cases cannot have
--     (pp, cp, qps) before a number or such a word are errors;
--     a word before a number, or a name_with_underscore before a word, must not be a misspelt known name.
-- Anything else is prose.
local core = require "rooflua.base.core"
local native = require "rooflua.native"

local words = {}

--- name = {setting, whole number}
local known = {
  max_num_seqs = { "max_num_seqs", true }, max_num_batched_tokens = { "max_num_batched_tokens", true },
  mbt = { "max_num_batched_tokens", true }, kv_blocks = { "kv_blocks", true },
  shared_prefix = { "shared_prefix_tokens", true }, c = { "clients", true },
  ep = { "ep", true }, dp = { "dp", true }, memory_fraction = { "memory_utilization" },
  gpu_memory_utilization = { "memory_utilization" }, length_spread = { "length_spread" },
  isl = { "prompt_tokens" }, ["in"] = { "prompt_tokens" }, osl = { "output_tokens" }, out = { "output_tokens" },
}
--- These are also English words or single letters, so they count only with = or ~ after them.
local needs_sign = { c = true, ["in"] = true, out = true }

--- Settings that are on or off, and their values.
local switched = { async = { "async_depth", on = 2, off = 1 }, async_scheduling = { "async_depth", on = 2, off = 1 } }

--- Settings that are shares: the largest value.
local largest = { memory_utilization = 1, length_spread = 1 }

--- Names that may stand before a sign, and names that a misspelt word before a number is compared with.
local signed = { "async", "closed loop c", "dp", "ep", "gpu_memory_utilization", "in", "isl", "kv_blocks",
  "length_spread", "max_num_batched_tokens", "max_num_seqs", "mbt", "memory_fraction", "osl", "out", "shared_prefix" }
local spellings = { "async_scheduling", "gpu_memory_utilization", "kv_blocks", "length_spread",
  "max_num_batched_tokens", "max_num_seqs", "mbt", "memory_fraction", "poisson", "shared_prefix" }

--- Settings of engines and loads that a case cannot have here, and that have no underscore.
local unsupported = { pp = true, cp = true, tp = true, qps = true, concurrency = true,
  clients = true, quantization = true, eager = true, speculative = true }

--- Words of switches, and whether they turn one on.
local switches = { on = true, ["true"] = true, yes = true, enabled = true, off = false, ["false"] = false,
  no = false, disabled = false }

local function put(out, where, name, setting, value)
  local before = out[setting]
  if before and before ~= value then
    core.fail("%s: %s: is stated twice, as %.14g and as %.14g", where, name, before, value)
  end
  out[setting] = value
end

--- "547+~28" is 575: the tokens of the prompt, and those that a template adds.
local function sum_of(text)
  local first, second = text:match "^([%d.]+)%+~?([%d.]+)$"
  if not first then return tonumber(text) end
  first, second = tonumber(first), tonumber(second)
  return first and second and first + second
end

local function number_of(where, name, text, whole)
  local value = not text and nil or whole and tonumber(text) or text and sum_of(text)
  if not value or not (value > 0 and value < math.huge) or whole and value % 1 ~= 0 then
    core.fail("%s: %s: expected a %snumber above 0, found %s", where, name, whole and "whole " or "",
      text and "'" .. text .. "'" or "none")
  end
  return value
end

--- "on" or "off" of a switch. Without such a word after it, or a sign, the name is prose.
local function read_switch(out, where, name, sign, value)
  local entry, on = switched[name], switches[value]
  if on ~= nil then
    put(out, where, name, entry[1], on and entry.on or entry.off)
  elseif sign or name:find "_" then
    core.fail("%s: %s: expected on or off, found %s", where, name, value and "'" .. value .. "'" or "nothing")
  end
end

local function unknown(where, name, list)
  core.fail("%s: %s; prose has no '=' and no name_with_underscore before a number", where,
    core.unknown_name("setting", name, list))
end

local function unknown_setting(where, name)
  if name == "tp" then core.fail("%s: unknown setting 'tp'; it is the column tp", where) end
  core.fail("%s: %s; a case cannot have it: take it out of `workload` (a remark belongs into `notes`)", where,
    core.unknown_name("setting", name, signed))
end

--- Whether a word is a misspelt known name. Short names become other words by a changed letter, so of them only a
--- missing or added letter counts.
local function almost(name)
  for _, each in ipairs(native.suggestions(name, spellings)) do
    local more = math.abs(#name - #each)
    if more <= 2 and (#each > 4 or more == 1) then return true end
  end
  return false
end

--- Reads "Poisson R rps D s"; other words after "Poisson" are prose.
local function poisson(text, from, where, out)
  local rest = text:sub(from)
  local rate, duration = rest:match "^%s+(%S+)%s+rps%s+(%S+)%s*s%f[^%w]"
  rate, duration = tonumber(rate), tonumber(duration)
  if rate and duration and rate > 0 and duration > 0 then
    out.rate_per_s, out.duration_s = rate, duration
  elseif rest:find "^%s*%d" or rest:find "^%s+%S+%s+rps" then
    core.fail("%s: poisson: expected 'Poisson R rps D s', found 'Poisson%s'", where, rest:sub(1, 24))
  end
end

--- The sign after a word, and the value after the sign: "=", "64".
local function sign_and_value(text, from)
  local sign, value = text:match("^%s*([=~:])%s*([^%s,;()]*)", from)
  value = value or text:match("^%s+([^%s,;:=()]+)", from)
  return sign, value and value ~= "" and (value:gsub("%.$", "")) or nil
end

--- Reads one word, if it is not prose.
local function read(out, where, text, word, from)
  local sign, value = sign_and_value(text, from)
  local name = word:gsub("^%-+", ""):gsub("%-", "_")
  if name == "poisson" then poisson(text, from, where, out) end
  if switched[name] then return read_switch(out, where, name, sign, value) end
  local entry = known[name]
  if entry then
    if sign and sign ~= ":" or not needs_sign[name] then
      local number = number_of(where, name, value, entry[2])
      if number > (largest[entry[1]] or number) then
        core.fail("%s: %s: expected a share of at most %g, found %.14g", where, name, largest[entry[1]], number)
      end
      put(out, where, name, entry[1], number)
    end
    return
  end
  local numeric, underscored = value and value:find "^[%d.]" ~= nil, word:find "_" ~= nil
  if sign == "=" then unknown(where, name, signed) end
  local switch = switches[value] ~= nil
  if word:find "^%-%-" or switch and name:find "_" or (numeric or switch) and unsupported[name] then
    unknown_setting(where, name)
  end
  if numeric and underscored then unknown(where, name, spellings) end
  if value and (numeric or underscored) and name ~= "poisson" and almost(name) then unknown(where, name, spellings) end
end

--- @param text string the column `workload` of a case
--- @param where string "cases.csv:3: workload"
--- @return table {clients, batch, prompt_tokens, output_tokens, rate_per_s, duration_s, max_num_seqs, ...}
function words.read(text, where)
  local out = {}
  text = text:lower()
  for at, word, from in text:gmatch "()(%-*[%a_][%w_%-]*)()" do
    if not text:sub(at - 1, at - 1):find "[%w>]" then read(out, where, text, word, from) end
  end
  if out.clients and not text:find "closed loop%s+c%s*=" then
    core.fail("%s: c: expected 'closed loop c=%d'", where, out.clients)
  end
  local batch = text:match "static batch%s+([^%s,;()]+)"
  if batch and batch:find "^[%d.-]" then out.batch = number_of(where, "static batch", batch, true) end
  return out
end

return words
