-- Profiles of workloads: FOLDER/**/profiles/NAME.json, the part of a load that needs more than columns.
--
-- A profile has a `kind`: shared_prefix (groups of prompts, asked in turn), random (no prompt shares anything),
-- conversations (turns of sessions) or trace (a recording, which is not here). A key that none of these has is an error
-- of the rows that name the profile.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"
local sets = require "rooflua.validate.sets"

local profiles = {}

-- What profiles may state ---------------------------------------------------------------------------------------

--- Texts about a profile, which change nothing.
local about = { id = true, licence = true, kind = true, source = true, note = true, seed = true }

local known = {
  shared_prefix = { groups = true, prompts_per_group = true, shared_prefix_tokens = true, question_tokens = true,
    output_tokens = true, output_exact = true, order = true, load = true },
  random = { prompt_tokens = true, output_tokens = true, output_exact = true, reuse = true, load = true },
  conversations = { conversations = true, max_model_len = true, shared_system_tokens = true,
    private_system_tokens = true, turns = true, input_tokens_per_turn = true, output_tokens_per_turn = true,
    tool_delay_s = true, prompt_tokens_mean = true, output_tokens_mean = true, output_tokens_max = true, load = true },
  trace = { trace = true, lanes = true, measured_s = true, warmup_requests_per_lane = true,
    start_within_session = true, idle_gap_cap_s = true, cache_bust = true, output_exact = true, drain_s = true },
}

local of_load = { kind = true, gap_s = true, timeout_s = true, in_flight_cap = true, stages = true, concurrency = true,
  requests = true, rate_rps = true, barrier_between_rounds = true, pick = true, path_prompt_token_s = true }
local of_stage = { rate_rps = true, duration_s = true, requests = true, concurrency = true, warmup = true }
local of_distribution = { distribution = true, min = true, max = true, mean = true, std = true }

local function check_keys(given, allowed, also, path, where)
  for _, key in ipairs(core.sorted_keys(given)) do
    if not allowed[key] and not also[key] then
      local names = core.sorted_keys(allowed)
      core.fail("%s: %s%s", path, where, core.unknown_name("key", tostring(key), names))
    end
  end
end

local function check(profile, path)
  local allowed = known[profile.kind]
  if not allowed then
    core.fail("%s: kind: %s", path, core.unknown_name("kind", tostring(profile.kind), core.sorted_keys(known)))
  end
  check_keys(profile, allowed, about, path, "")
  for _, key in ipairs(core.sorted_keys(profile)) do
    local value = profile[key]
    if type(value) == "table" and value.distribution then check_keys(value, of_distribution, {}, path, key .. ": ") end
  end
  if profile.load == nil then return end
  check_keys(profile.load, of_load, {}, path, "load: ")
  local token_s = profile.load.path_prompt_token_s
  if token_s ~= nil and not (type(token_s) == "number" and token_s >= 0 and token_s <= 0.001) then
    core.fail("%s: load: path_prompt_token_s: expected seconds from 0 to 0.001, found %s", path, tostring(token_s))
  end
  if type(profile.load.stages) ~= "table" then return end
  for i, stage in ipairs(profile.load.stages) do
    check_keys(stage, of_stage, {}, path, ("load: stages[%d]: "):format(i))
  end
end

-- Finding -----------------------------------------------------------------------------------------------------------

--- The number of folders at the beginning that two paths have in common.
local function shared_folders(a, b)
  local count, rest = 0, b:gmatch "[^/]+"
  for part in a:gmatch "[^/]+" do
    if part ~= rest() then break end
    count = count + 1
  end
  return count
end

--- Profiles below a folder: {name = list of paths}.
local function below(folder)
  local out = {}
  for _, each in ipairs((native.files_below(folder, ".json"))) do
    local name = ("/" .. each):match "/profiles/([^/]+)%.json$"
    if name then
      out[name] = out[name] or {}
      table.insert(out[name], folder .. "/" .. each)
    end
  end
  return out
end

--- Profiles that the CSVs of a set may name. Those of single files are in profiles/ beside it or beside its folder.
--- @param root string the folder that is validated, or a file
function profiles.of(root)
  local found = {}
  if not native.file_exists(root) then
    found = below(root)
  else
    local folder = sets.split(root)
    for _, each in ipairs { folder, folder .. "/.." } do
      for _, name in ipairs(native.list_folder(each .. "/profiles", ".json")) do
        found[name] = found[name] or { each .. "/profiles/" .. name .. ".json" }
      end
    end
  end
  return { found = found, read = {}, root = root }
end

--- The path of a profile: the one whose folders are most like those of the CSV.
local function path_of(set, name, csv)
  local best, most, equal
  for _, path in ipairs(set.found[name] or {}) do
    local shared = shared_folders(path, csv)
    if not best or shared > most then
      best, most, equal = path, shared, nil
    elseif shared == most then
      equal = path
    end
  end
  if not best then
    local near = native.suggestions(name, core.sorted_keys(set.found))
    core.fail("workload: there is no profiles/%s.json below %s%s", name, set.root,
      #near > 0 and ("; did you mean '%s'?"):format(core.join(near, "', '")) or "")
  end
  if equal and native.read_user_text(equal) ~= native.read_user_text(best) then
    core.fail("workload: %s and %s are two profiles of one name", best, equal)
  end
  return best
end

--- Null says that it is not stated, which is the same as a key that is not there.
local function without_nulls(value)
  if type(value) ~= "table" then return value end
  local out = {}
  for key, each in pairs(value) do
    if each ~= json.null then out[key] = without_nulls(each) end
  end
  return out
end

--- Whether there is a profile of that name.
function profiles.has(set, name) return set.found[name] ~= nil end

--- The profile that a CSV names, checked.
--- @param set table of profiles.of
--- @param csv string path of the CSV
function profiles.read(set, name, csv)
  local path = path_of(set, name, csv)
  if not set.read[path] then
    local ok, given = pcall(json.decode, native.read_user_text(path))
    if not ok or type(given) ~= "table" then core.fail("%s: is no JSON: %s", path, tostring(given)) end
    local profile = without_nulls(given)
    check(profile, path)
    profile.path = path
    set.read[path] = profile
  end
  return set.read[path]
end

return profiles
