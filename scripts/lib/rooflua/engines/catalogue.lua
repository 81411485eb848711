-- The engines that are known: one file each in scripts/engines, or beside a scenario. A file returns
--
--     name, title   as scenarios and as people spell it
--     aliases       other names of it; unsupported: {word of a name = why it is refused}
--     extends       another engine, "vllm" or "vllm 0.19", whose rules and options hold where this file has none
--     releases      those whose rules were read, in their order; an entry is a text or {text, day}
--     tables        {name, libraries, lends}: whose measured kernels run; engines of one word take most of them from
--                   the same libraries; the order in which they stand in for those of others
--     options       what its command takes: {name, flag, type, key, read, ...}, docs/ENGINES.md
--     tiers         where KV is kept outside of the GPU: fun(options, about) -> tiers, sentences (applied/tiers.lua)
--     host_memory   the options that keep KV in so many bytes of the host: fun(bytes, ranks) -> {name = value}
--     offload_blocks_before  the first release that does not count the host's memory in blocks any more
--     memory        how it divides the memory of a GPU: fun(facts) -> parts (applied/ledger.lua)
--     metrics       the series that its emulated server shows, rows by release (scripts/engines/vllm/metrics.lua)
--     startup       what it prints when it starts, rows by release (startup/rows.lua)
--     kv_events     how it tells of its KV cache, rows by release (scripts/engines/vllm/kv_events.lua)
--     log           what it logs when it starts (logs/log.lua)
--     profile       names of its steps and kernels in a profiler's trace (profile/rows.lua)
--     encode_pool   words of engines that only encode: {since, encode, serve = words, asks, front, source}
--                   (plan/pools.lua)
--     variants      {words, options}: words behind a release that are switches of it (engines/builds.lua)
--     prometheus    what it calls its load in Prometheus: {waiting, running, kv_used_frac, source}
--     rules         rows {since, before, gpu, architecture, family, format, when, where, NAME = value..., source, seen,
--                   code, fitted}, and lists of rows, which may say the last three for all of theirs (engines/ages.lua)
--     seen          the newest release at which rows were read that do not say it
--     implies       options that follow from others that are stated: rows of engines/implications.lua
--
-- and what writes its command (applied/command.lua). options, metrics, startup, kv_events, log, profile, rules and
-- implies may be functions that return them, asked when they are used: most runs ask for one engine's rules, and for no
-- words of logs.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local ages = require "rooflua.engines.ages"
local chunks = require "rooflua.sandbox.chunks"
local conditions = require "rooflua.engines.conditions"
local implications = require "rooflua.engines.implications"
local release = require "rooflua.engines.release"
local settings = require "rooflua.engines.settings"

local catalogue = {}

local folder = "engines"
local fields = { "name", "title", "aliases", "unsupported", "extends", "releases", "tables", "options", "rules",
  "source", "command", "oldest_command", "image", "port", "model", "host", "kv_names", "weight_options",
  "counts_all_ranks", "no_split", "whole_ep", "speculation", "starts", "positional", "abbreviates",
  "respelled", "model_flags", "variable_prefixes", "drafts", "adapters", "replicas", "nulls", "memory", "tiers",
  "host_memory", "offload_blocks_before", "variants", "implies", "prometheus", "metrics", "startup", "kv_events", "log",
  "profile", "encode_pool", "seen" }

local setting_by_name = {}
for _, each in ipairs(settings) do setting_by_name[each.name] = each end

--- Names of engines: shipped ones and those in a folder `engines` beside the scenario, sorted.
function catalogue.names()
  local seen = core.set(chunks.names_in(folder))
  return core.sorted_keys(seen)
end

--- What a file says as itself, or as a function that returns it.
local function now(said)
  if type(said) == "function" then return said() end
  return said
end

--- The options of a parent, replaced and followed by an engine's own. A file has each once.
local function options_of(given, parent, where)
  local out, place, own, listed = {}, {}, {}, now(given.options) or {}
  for i, each in ipairs(listed) do
    local name = each.name or each[1]
    if own[name] then core.fail("%s: options[%d]: '%s' is options[%d] already", where, i, tostring(name), own[name]) end
    own[name or i] = i
  end
  for _, list in ipairs { parent and parent.options or {}, listed } do
    for _, each in ipairs(list) do
      local name = each.name or each[1]
      local option = core.copy(each)
      option.name = name
      place[name] = place[name] or #out + 1
      out[place[name]] = option
    end
  end
  return out
end

local function releases_of(given, parent)
  local out = {}
  for i, each in ipairs(given.releases or parent and parent.releases or {}) do
    out[i] = type(each) == "table" and { name = each.name or each[1], day = each.day or each[2] } or { name = each }
  end
  return out
end

--- The first name of a row that is none of an engine's, in the order of names; nil where there is none.
local function unknown_in(engine, rule)
  local first
  for name in next, rule do
    local known = conditions.has(name) or engine.option[name] or setting_by_name[name]
    if not known and (not first or tostring(name) < tostring(first)) then first = name end
  end
  return first
end

--- A row in messages: its file, the list and its place in it. Few rows have one, so that the text is made where it is
--- asked for.
local function place(where, list, i) return ("%s: %s[%d]"):format(where, list, i) end

--- Refuses a row that is no table, and one that asks for what is no option.
local function check_asked(engine, row, ...)
  if type(row) ~= "table" then core.table(row, place(...)) end
  if row.where == nil then return end
  local where = place(...) .. ".where"
  for key, wanted in pairs(core.table(row.where, where)) do
    local name = type(key) == "number" and wanted or key
    if not engine.option[name] then
      core.fail("%s: %s", where, core.unknown_name("option", tostring(name), core.sorted_keys(engine.option)))
    end
  end
end

local function check_rule(engine, rule, ...)
  check_asked(engine, rule, ...)
  local name = unknown_in(engine, rule)
  if name ~= nil then
    local known = core.sorted_keys(engine.option)
    for _, each in ipairs(settings) do known[#known + 1] = each.name end
    for _, each in ipairs(conditions.names) do known[#known + 1] = each end
    core.fail("%s: %s", place(...), core.unknown_name("name", name, known))
  end
  conditions.check(rule, place, ...)
end

--- Refuses a row of `implies` that names what is no option.
local function check_implication(engine, row, ...)
  check_asked(engine, row, ...)
  for name in pairs(row) do
    if implications.is_value(name) and not engine.option[name] then
      core.fail("%s: %s", place(...), core.unknown_name("option", tostring(name), core.sorted_keys(engine.option)))
    end
  end
  conditions.check(row, place, ...)
end

local function check(engine, own_rules, where)
  if #engine.releases == 0 then core.fail("%s: releases: expected at least one", where) end
  for i, each in ipairs(engine.releases) do
    if type(each.name) ~= "string" or not release.parse(each.name) then
      core.fail("%s: releases[%d]: expected a release as in 0.19.0, found %s", where, i, core.describe(each.name))
    end
    if i > 1 and not release.earlier(engine.releases[i - 1].name, each.name) then
      core.fail("%s: releases[%d]: %s does not come after %s", where, i, each.name, engine.releases[i - 1].name)
    end
  end
  for i, rule in ipairs(own_rules) do check_rule(engine, rule, where, "rules", i) end
end

--- The engine that a file extends and its release: extends = "vllm 0.19"; without a release the newest.
local function parent_of(given, where)
  if given.extends == nil then return nil end
  local name, asked = core.text(given.extends, where .. ": extends"):match "^(%S+)%s*(%S*)$"
  if not name then core.fail("%s: extends: expected an engine, as in \"vllm 0.19\"", where) end
  if not catalogue.has(name) then
    core.fail("%s: extends: %s", where, native.unknown_name("engine", name, catalogue.names()))
  end
  local parent = catalogue.of(name)
  if asked ~= "" and not release.parse(asked) then core.fail("%s: extends: '%s' is no release", where, asked) end
  if asked ~= "" and not given.releases then
    core.fail("%s: extends: %s %s is one release; say releases, or leave the release out", where, name, asked)
  end
  return parent, asked ~= "" and asked or catalogue.newest(parent)
end

--- Rows of a parent. Where an engine has releases of its own they are those of one release of the parent, because
--- numbers of the two cannot be compared.
local function rows_of(rows, base)
  local out = {}
  for _, rule in ipairs(rows) do
    if not base then
      out[#out + 1] = rule
    elseif release.holds(rule, base) then
      local own = core.copy(rule)
      own.since, own.before, own.seen = nil, nil, nil
      out[#out + 1] = own
    end
  end
  return out
end

--- Adds rows of rules; an entry may be a list of rows, of a file of its own, which may have lists as well. What a row
--- or its list says of its reading goes to `said`: lists are shared among engines.
--- @param said table row -> {seen, code, fitted}
--- @param of_list table? what the list around says
local function add_rows(out, entries, said, of_list)
  local outer = of_list or {}
  for _, each in ipairs(entries) do
    local is_table = type(each) == "table"
    local own = is_table and { seen = each.seen or outer.seen, code = each.code or outer.code,
      fitted = each.fitted or outer.fitted } or nil
    if is_table and #each > 0 then
      add_rows(out, each, said, own)
    else
      out[#out + 1] = each
      if own and next(own) then said[each] = own end
    end
  end
  return out
end

--- What a file says of the reading of its rows; a file with releases of its own says nothing of those of a parent.
local function add_said(engine, given, parent)
  local is_own = given.releases ~= nil
  engine.said = {}
  for row, each in pairs(not is_own and parent and parent.said or {}) do engine.said[row] = each end
  engine.seen, engine.whole = given.seen or not is_own and parent and parent.seen or nil, nil
end

--- What an engine's file says of its server: its `metrics`, `startup`, `kv_events`, `log` or `profile`; nil where it
--- says nothing.
function catalogue.said(engine, name) return now(engine[name]) end

--- An engine of what its file returned, with what it has from the engine that it extends.
--- @param where string the file in messages
function catalogue.made(given, where)
  core.check_keys(core.table(given, where), fields, where)
  local parent, base = parent_of(given, where)
  local engine = core.copy(parent)
  for key, value in pairs(given) do engine[key] = value end
  engine.name, engine.extends = core.plain_text(given.name, where .. ": name"), parent
  engine.title = given.title or given.name
  engine.releases, engine.options, engine.option = releases_of(given, parent), options_of(given, parent, where), {}
  for _, each in ipairs(engine.options) do engine.option[each.name] = each end
  add_said(engine, given, parent)
  engine.rules = parent and rows_of(parent.rules, given.releases and base) or {}
  engine.implies = parent and rows_of(parent.implies, given.releases and base) or {}
  if given.releases then -- what a parent's rows say of their reading are its releases, not this one's
    for _, list in ipairs { engine.rules, engine.implies } do
      for _, row in ipairs(list) do engine.said[row] = { is_of_parent = true } end
    end
  end
  local own = add_rows({}, now(given.rules) or {}, engine.said)
  for _, rule in ipairs(own) do engine.rules[#engine.rules + 1] = rule end
  for i, row in ipairs(add_rows({}, now(given.implies) or {}, engine.said)) do
    check_implication(engine, row, where, "implies", i)
    engine.implies[#engine.implies + 1] = row
  end
  if not engine.tables then core.fail("%s: tables: whose kernels run? Say extends, or tables", where) end
  check(engine, own, where)
  return engine
end

--- What the file of an engine returns.
local function read(module, find)
  local given = (find or chunks.require)(module)
  if type(given) ~= "table" then
    core.fail("%s: expected a file that returns a table, found %s", module, core.describe(given))
  end
  return given
end

local shipped_names -- of the program's own folder, which stays as it is while it runs

--- What the files of the shipped engines return, in the order of their names. Most runs need no more of an engine than
--- its name and its tables.
local function shipped()
  local out = {}
  shipped_names = shipped_names or native.list_folder(native.home .. "/scripts/" .. folder, ".lua")
  for i, name in ipairs(shipped_names) do
    out[i] = read(folder .. "." .. name, chunks.shipped)
  end
  return out
end

local by_file = setmetatable({}, { __mode = "k" }) -- what a file returned -> its engine

local function load(module)
  local given = read(module)
  if not by_file[given] then
    local file = chunks.path_of(module) or module
    by_file[given] = catalogue.made(given, file)
    by_file[given].file = file
  end
  return by_file[given]
end

--- Names by which engines of this program are known besides their own, and words of names that are refused.
local aliases, unsupported

local function read_names()
  if aliases then return end
  aliases, unsupported = {}, {}
  for _, given in ipairs(shipped()) do
    for _, alias in ipairs(given.aliases or {}) do aliases[alias] = given.name end
    for word, why in pairs(given.unsupported or {}) do unsupported[word] = why end
  end
end

--- The name that stands for another one: "trtllm" of "TensorRT-LLM"; the text itself where it is no alias.
function catalogue.canonical(name)
  read_names()
  local lower = name:lower()
  return aliases[lower] or chunks.is_there(folder .. "." .. lower) and lower or name
end

--- The module of an engine: of the folder, or a file beside the scenario; nil if there is none.
local function module_of(name)
  local known = catalogue.canonical(name)
  if not known:find "^[%w_%-]+$" then return nil end
  for _, module in ipairs { folder .. "." .. known, known } do
    if chunks.is_there(module) then return module end
  end
end

--- Whether there is an engine of that name.
function catalogue.has(name) return type(name) == "string" and module_of(name) ~= nil end

--- An engine by its name; an error with suggestions for one that is not known.
function catalogue.of(name)
  core.text(name, "engine")
  local module = module_of(name)
  if module then return load(module) end
  for word, why in pairs(unsupported) do
    if name:lower():find(word, 1, true) then core.fail("'%s': %s", name, why) end
  end
  return core.fail("%s", native.unknown_name("engine", name, catalogue.names()))
end

--- What the files of those shipped engines return whose kernels were timed, in the order in which their rows stand in
--- for those of others.
local function lending()
  local out = {}
  for _, given in ipairs(shipped()) do
    if given.tables and given.tables.name == given.name then out[#out + 1] = given end
  end
  table.sort(out, function(a, b) return a.tables.lends < b.tables.lends end)
  return out
end

--- Names of tables and the libraries of their engines in turn, as native.open_database takes them.
function catalogue.lenders()
  local out = {}
  for _, given in ipairs(lending()) do
    out[#out + 1] = given.tables.name
    out[#out + 1] = given.tables.libraries
  end
  return out
end

--- Names of those engines, in that order.
function catalogue.lending_names()
  local out = {}
  for i, given in ipairs(lending()) do out[i] = given.name end
  return out
end

--- The name of the engine that a scenario has which states none: the one whose tables lend first.
function catalogue.default_name() return lending()[1].name end

--- That engine.
function catalogue.default() return catalogue.of(catalogue.default_name()) end

--- The engines whose files say something themselves, and not those of an engine that they extend.
---@param name string "starts", "startup"
function catalogue.saying(name)
  local out = {}
  for _, each in ipairs(catalogue.names()) do
    local engine = catalogue.of(each)
    if engine[name] and not engine.extends then out[#out + 1] = engine end
  end
  return out
end

--- The engine whose command an engine has: itself, or what it extends.
function catalogue.root(engine)
  while engine.extends do engine = engine.extends end
  return engine
end

--- The newest release that is known, whether or not all of its rules were read.
function catalogue.last(engine) return engine.releases[#engine.releases].name end

--- The newest release all of whose rules were read.
function catalogue.newest(engine) return ages.whole(engine).name end

--- The declaration of a setting that is no option; nil for other names.
function catalogue.setting(name) return setting_by_name[name] end

return catalogue
