-- Which keys every variant, point or run of a search replaces. A value that is set there from outside has no effect.
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local paths = require "rooflua.scenario.paths"
local policy = require "rooflua.policy"
local variants = require "rooflua.scenario.variants"

local replaced = {}

--- The key paths that one value at `key` of `vary` replaces: `key`, or those of the `set` of a case.
local function paths_of(key, value)
  local out = {}
  for i, change in ipairs(variants.with(variants.base(), key, value).changes) do out[i] = change.path end
  return out
end

--- Adds one entry per key of a table as `vary`: {where, key, is_case, choices = one list of paths per value}.
local function add_grid(out, where, grid)
  for key, values in core.sorted_pairs(type(grid) == "table" and core.plain(grid) or {}) do
    local entry = { where = where, key = key, choices = {} }
    for i, value in ipairs(core.plain(values)) do
      entry.choices[i] = paths_of(key, value)
      entry.is_case = entry.is_case or entry.choices[i][1] ~= key
    end
    out[#out + 1] = entry
  end
end

local function add_search(out, reader, given)
  local search = core.plain(given.search)
  add_grid(out, "search.vary", search.vary)
  local deployments = { where = "search", key = "deployments", is_case = true, choices = {} }
  for i, each in ipairs(type(search.deployments) == "table" and core.plain(search.deployments) or {}) do
    local set = type(each) == "table" and core.plain(each).set
    deployments.choices[i] = core.sorted_keys(type(set) == "table" and core.plain(set) or {})
  end
  if #deployments.choices > 0 then out[#out + 1] = deployments end
  local is_bounded = search.min ~= nil or search.max ~= nil -- else the range follows from the value
  local load = is_bounded and declared.load(reader, given, search.parameter)
  if load then out[#out + 1] = { where = "search", key = load, choices = { { load } } } end
  if search.seeds ~= nil then out[#out + 1] = { where = "search.seeds", key = "seed", choices = { { "seed" } } } end
end

--- What replaces keys of a scenario: a list of {where, key, is_case, choices}.
local function all(reader, given, kind)
  local out = {}
  add_grid(out, "vary", given.vary)
  local params = type(given.sweep) == "table" and core.plain(given.sweep).params
  for key, value in core.sorted_pairs(type(params) == "table" and core.plain(params) or {}) do
    local path = type(key) == "string" and key or value
    out[#out + 1] = { where = "sweep", key = path, choices = { { path } } }
  end
  if kind == "search" then add_search(out, reader, given) end
  return out
end

--- A key path with positions in place of the names of a list's entries.
local function with_positions(given, path)
  local parts, value = paths.split(path), given
  for i, part in ipairs(parts) do
    local plain = type(value) == "table" and core.plain(value) or {}
    for j, each in ipairs(plain) do
      if each == part or type(each) == "table" and core.plain(each).name == part then parts[i] = j end
    end
    value = plain[tonumber(parts[i]) or part]
  end
  return table.concat(parts, ".")
end

--- The paths below which a value has no parts, of tables and lists; of other values the path itself.
local function add_leaves(out, path, value)
  local is_table = type(value) == "table" and not policy.is_instance(value) and not policy.is_class(value)
  if path == "mfu" and type(value) == "string" then path = "mfu.lookup" end -- the short form of it
  if not is_table or next(core.plain(value)) == nil then
    out[path] = true
    return
  end
  for _, key in ipairs(core.sorted_keys(core.plain(value))) do
    add_leaves(out, path .. "." .. tostring(key), core.plain(value)[key])
  end
end

local function covers(given, choice, leaf)
  for _, path in ipairs(choice) do
    local above = with_positions(given, path)
    if leaf == above or leaf:sub(1, #above + 1) == above .. "." then return true end
  end
  return false
end

--- The first of the entries all of whose choices replace a leaf; nil where there is none.
local function of_leaf(given, entries, leaf)
  for _, entry in ipairs(entries) do
    local count = 0
    for _, choice in ipairs(entry.choices) do
      if covers(given, choice, leaf) then count = count + 1 end
    end
    if count > 0 and count == #entry.choices then return entry end
  end
end

--- The leaves of what stands at a path before and after it is set: a table also takes away what it leaves out.
local function leaves_of(before, given, path)
  local leaves = {}
  add_leaves(leaves, with_positions(given, path), paths.value(given, path))
  local old = before and paths.value(before, path)
  if type(old) == "table" and next(core.plain(old)) ~= nil then add_leaves(leaves, with_positions(given, path), old) end
  return core.sorted_keys(leaves)
end

local advice = {
  vary = "change `vary`, as in --set 'vary={\"%s\": [...]}'",
  sweep = "change `sweep.params`",
  ["search.vary"] = "change `search.vary`",
  ["search.seeds"] = "change `search.seeds`",
  search = "change `search.min` and `search.max`",
}

local function told(entry, path)
  if entry.variant then return ("variant %d, %s, sets %s of its own"):format(entry.variant, entry.key, path) end
  if not entry.is_case then
    return ("`%s` gives values of its own to %s; "):format(entry.where, entry.key)
      .. advice[entry.where]:format(entry.key)
  end
  local away = entry.where == "vary" and ", or leave the cases out: --set 'vary={}'" or ""
  return ("every case of `%s.%s` sets %s of its own; change the cases in the file%s"):format(entry.where,
    tostring(entry.key), path, away)
end

--- Refuses what is set from outside where every run that follows replaces it.
---@param reader table
---@param given table the scenario, after it was set
---@param kind string of the scenario
---@param set table list of {what, path, before}: what errors call it, its key path, the scenario before it was set
---@param variant table? {number, name, changes}: the only one that runs; nil: all of them
function replaced.check(reader, given, kind, set, variant)
  if #set == 0 then return end
  local entries = all(reader, given, kind)
  if variant then
    local choice = {}
    for i, change in ipairs(variant.changes) do choice[i] = change.path end
    entries = { { variant = variant.number, key = variant.name, choices = { choice } } }
  end
  for _, one in ipairs(set) do
    local first, is_free = nil, false
    for _, leaf in ipairs(leaves_of(one.before, given, one.path)) do
      local entry = of_leaf(given, entries, leaf)
      first, is_free = first or entry, is_free or entry == nil
    end
    if first and not is_free then reader:fail(one.what, "has no effect: %s", told(first, one.path)) end
  end
end

return replaced
