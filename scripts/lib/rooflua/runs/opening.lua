-- Opens a scenario: runs its file, applies what `--set` says, checks its shape and lists its variants.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local json = require "rooflua.json"
local changes = require "rooflua.applied.changes"
local Reader = require "rooflua.scenario.reader"
local shape = require "rooflua.scenario.shape"
local stated_policies = require "rooflua.applied.stated_policies"
local users = require "rooflua.applied.users"
local variants = require "rooflua.scenario.variants"

local opening = {}

--- "1.8" is a number, "true" a boolean, "[1,2]" a list, the rest text.
local function parse_value(text)
  local number = tonumber(text)
  if number then return number end
  if text == "true" then return true end
  if text == "false" then return false end
  if text:find "^[%[{\"]" then
    local ok, value = pcall(json.decode, text)
    if ok then return value end
  end
  return text
end

--- Options that come as a set and replace the whole workload.
local of_workload = {
  users = function(reader, given, value) return users.of(reader, given, tonumber(value)) end,
  bench = function(reader, given, value) return require("rooflua.applied.bench").of(reader, given, value) end,
}

--- The table with each of the sets, and a list of what each was: {what, path, before}.
---@param is_wanted (fun(path: string): boolean)? whether a set is applied; nil: all are
local function apply_sets(reader, given, sets, is_wanted)
  local done, seen = {}, {}
  for _, text in ipairs(sets or {}) do
    local path, value = text:match "^%s*([^=%s]+)%s*=(.*)$"
    if not path then reader:fail("--set " .. text, "expected key=value") end
    if seen[path] then
      reader:fail("--set " .. text, "%s is set already, by --set %s; give one of them", path, seen[path])
    end
    seen[path] = text
    if not is_wanted or is_wanted(path) then
      local replaces = of_workload[path]
      if replaces and seen.users and seen.bench then
        reader:fail("--bench", "has clients of its own; leave out --users")
      end
      done[#done + 1] = { what = replaces and ("--%s %s"):format(path, value) or "--set " .. text,
        path = replaces and "workload" or path, before = given }
      reader.shared.set = done
      given = replaces and replaces(reader, given, value)
        or changes.set(reader, given, path, stated_policies.of(reader, path, parse_value(value)))
    end
  end
  return given, done
end

--- Whether sets replace the whole load.
local function states_load(sets)
  for _, text in ipairs(sets or {}) do
    if text:match "^%s*bench%s*=" then return true end
  end
  return false
end

--- The table with a launch command and the sets, and a list of what was set. What is set of adapters is the scenario's,
--- to which the command adds.
local function changed_by(reader, given, options)
  if not options.command then return apply_sets(reader, given, options.set) end
  local function is_first(path) return path:match "^[^.]+" == "adapters" end
  local first, last, keys
  given, first = apply_sets(reader, given, options.set, is_first)
  local command = options.command
  if command.from and given.workload == nil and not states_load(options.set) then
    command = core.copy(command, { has_no_load = true })
  end
  given, keys = require("rooflua.applied.launch").scenario(reader, given, command)
  given, last = apply_sets(reader, given, options.set, function(path) return not is_first(path) end)
  local what = command.from and "--from" or "--command"
  for _, key in ipairs(keys) do last[#last + 1] = { what = what, path = key } end
  for _, one in ipairs(first) do last[#last + 1] = one end
  return given, last
end

--- A table with what `--set` says, for commands that build one.
function opening.with_sets(reader, given, sets) return (apply_sets(reader, given, sets)) end

--- Every combination of `vary`, for each point that `sweep` draws.
local function variants_of(reader, given)
  local grid = variants.grid(reader, given.vary)
  if given.sweep == nil then return grid end
  return variants.product(reader, require("rooflua.applied.sampling").points(reader, given), grid)
end

--- The variants of one shard {index, count}, in their order.
local function shard_of(all, shard)
  local out = {}
  for i, each in ipairs(native.dealt(#all, shard.count)) do
    if each == shard.index then out[#out + 1] = all[i] end
  end
  return out
end

--- Refuses what is set from outside and has no effect on any variant; on the only one that runs, where it is named.
local function check_sets(opened, set, number)
  local variant = number and opened.all[number]
  require("rooflua.applied.replaced").check(opened.reader, opened.given, opened.kind, set,
    variant and { number = number, name = variant.name, changes = variant.changes })
end

--- The seed of a variant: what the last change of `seed` states, as in vary = { seed = {1, 2, 3} } or in the `set` of a
--- case.
local function seed_of(variant, seed)
  for _, change in ipairs(variant.changes) do
    if change.path == "seed" and type(change.value) == "number" then seed = change.value end
  end
  return seed
end

--- A scenario's table, opened: {reader, given, kind, seed, variants, all, path, set}. `all` is of all shards. options:
--- file (what errors call it), path (of its file), command ({text or from, engine, model} of a launch command or of
--- files of a start, which replaces model, engine and deployment), set (list of "key=value"), seed, shard ({index,
--- count}), variant (the number of the only one that runs).
function opening.table(returned, options)
  options = options or {}
  local reader, given = Reader.new(options.file or "scenario"), {}
  if type(returned) ~= "table" then shape.check(reader, returned) end
  for key, value in pairs(core.plain(returned)) do given[key] = value end
  local changed, set = changed_by(reader, given, options)
  given, reader.shared.set = changed, set
  local kind = shape.check(reader, given)
  if options.seed then
    given.seed = options.seed
    set[#set + 1] = { what = ("--seed %d"):format(options.seed), path = "seed" }
  end
  local opened = { reader = reader, given = given, kind = kind, seed = given.seed or 0, title = given.title or "",
    variants = variants_of(reader, given), path = options.path, set = options.set }
  for i, variant in ipairs(opened.variants) do
    variant.seed, variant.position = seed_of(variant, opened.seed), i - 1
  end
  opened.all = opened.variants
  if #set > 0 then check_sets(opened, set, options.variant) end
  if options.shard then opened.variants = shard_of(opened.all, options.shard) end
  return opened
end

--- A scenario's file, opened.
function opening.file(path, options)
  local more = { path = path, file = path }
  for key, value in pairs(options or {}) do more[key] = value end
  return opening.table(chunks.load_scenario(path), more)
end

--- The scenario with a variant's changes applied.
function opening.changed(opened, variant) return changes.apply(opened.reader, opened.given, variant.changes) end

--- The table of one variant: the scenario with its changes applied. Returns the variant as well.
function opening.variant(opened, index)
  local variant = opened.variants[index]
  return opening.changed(opened, variant), variant
end

return opening
