-- The name of a run by its content: two runs have one name if nothing differs that their results can depend on. The
-- content is the scenario with its changes applied, the Lua files of its policies with those that they require, the
-- files that it or they name (tables, traces, models, GPUs: sandbox/named_files.lua), and all scripts and data of the
-- program: which of its policies a run has may follow from the rules of an engine, and some are loaded on the way.
-- Left out is what cannot matter: the title, the report, and which other variants there are. So a sweep with one more
-- value runs one more.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local files_of = require "rooflua.sandbox.files"
local json = require "rooflua.json"
local named_files = require "rooflua.sandbox.named_files"
local named_policies = require "rooflua.sandbox.named_policies"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local required = require "rooflua.scenario.required"
local run_text = require "rooflua.scenario.run_text"
local schema = require "rooflua.scenario.schema"

local run_hash = {}
local Hasher = {}
Hasher.__index = Hasher

local shipped_folders = { "/scripts/lib/rooflua", "/scenarios/models", "/bench_data" }
for _, each in ipairs(required.folders()) do shipped_folders[#shipped_folders + 1] = "/scripts/" .. each end
local left_out = { rooflua = true, title = true, report = true, vary = true, sweep = true, seed = true }

local none = json.array {}
local shipped_name -- of scripts and data of the program; the same for every run of a process

local function shipped()
  if not shipped_name then
    local folders = {}
    for i, folder in ipairs(shipped_folders) do folders[i] = native.home .. folder end
    shipped_name = native.content_name(folders, none)
  end
  return shipped_name
end

--- A table or the parameters of a policy; nil for anything else.
local function contents(value)
  if policy.is_instance(value) then return policy.parameters(value) end
  return type(value) == "table" and not policy.is_class(value) and core.plain(value) or nil
end

--- Adds a file to a set. Of several names for it one is taken, whatever the order in which they come.
local function put(out, path, name)
  local known = out[path]
  if known == nil or known == true or name ~= true and name < known then out[path] = name end
end

--- Adds the files that a text names, if it names one: also Lua files beside the scenario, such as an engine.
function Hasher:add_named(out, text, key)
  local is_path = key == "path"
  local place = (is_path and "path\n" or "\n") .. text
  local known = self.named[place]
  if not known then
    known = named_files.of(text, is_path)
    for _, path in ipairs(required.named(text, self.beside)) do
      if path ~= self.path then self:add_closure(known, path) end
    end
    self.named[place] = known
  end
  for path, name in pairs(known) do put(out, path, name) end
end

--- The policy that a text names at a key of a scenario; nil if it names none. A policy that cannot be loaded is no
--- error here: the run reports it.
local function named_policy(key, text)
  local folder = schema.folders[key]
  if folder then
    local ok, instance = pcall(policies.of, Reader.new "", key, text)
    return ok and instance or nil
  end
  if key == "mfu" or key == "lookup" then
    local ok, class = pcall(named_policies.class, "lookup", text)
    return ok and class or nil
  end
end

--- The class that a text names at a key, looked for once; nil if it names none.
function Hasher:named_class(key, text)
  local known = self.named_classes[(key or "") .. "\n" .. text]
  if known == nil then
    local named = named_policy(key, text)
    known = named and (policy.is_class(named) and named or policy.class_of(named)) or false
    self.named_classes[(key or "") .. "\n" .. text] = known
  end
  return known or nil
end

--- Collects from a scenario's table: files that it names, and its policies (found.policies, as a set of classes).
function Hasher:collect(found, value, key, depth)
  if type(value) == "string" then
    self:add_named(found.files, value, key)
    local named = self:named_class(key, value)
    if named then found.policies[named] = true end
    return
  end
  if policy.is_class(value) then found.policies[value] = true end
  if policy.is_instance(value) then found.policies[policy.class_of(value)] = true end
  local plain = contents(value)
  if not plain or found.seen[value] or depth > 12 then return end
  found.seen[value] = true
  for _, name in ipairs(core.sorted_keys(plain)) do
    if depth > 0 or not left_out[name] then
      local own = type(name) == "string" and name:gsub("%[%d+%]$", ""):match "[%a_]+$" or key
      self:collect(found, plain[name], key == "metrics" and key or own, depth + 1)
    end
  end
end

--- The content of a file or folder, read once.
function Hasher:content(path)
  local known = self.contents[path]
  if not known then
    known = native.content_name({ path }, none)
    self.contents[path] = known
  end
  return known
end

--- The text of a class of policies and the files that define it, {text, files}.
function Hasher:class(class)
  local known = self.class_texts[class]
  if not known then
    local text, defined_by = run_text.of_class(class)
    known = { text = text, files = defined_by }
    self.class_texts[class] = known
  end
  return known
end

--- What orders a file among others, wherever the scenario and the program lie: the name that the scenario gives it, or
--- its place in the folder of the scenario or of the program.
function Hasher:order(path, given)
  if given ~= true then return given end
  for _, folder in ipairs { native.home, self.folder } do
    if path:sub(1, #folder + 1) == folder .. "/" then return path:sub(#folder + 2) end
  end
  return path
end

--- Adds the contents of files to a list. `files` has by path the name that the scenario gives, or true.
function Hasher:add_contents(parts, files)
  local entries = {}
  for path, given in pairs(files) do
    local known = self.entries[path]
    if not known or known.given ~= given then
      local content = self:content(path)
      local name = given ~= true and given:match "\n(.*)$" or "" -- of a folder's file
      known = { given = given, text = self:order(path, given) .. "\n" .. content, part = name .. content }
      self.entries[path] = known
    end
    entries[known.text] = known.part
  end
  for _, entry in ipairs(core.sorted_keys(entries)) do parts[#parts + 1] = entries[entry] end
end

--- Adds a Lua file and all that it depends on.
function Hasher:add_closure(out, path)
  local known = self.closures[path]
  if not known then
    local lua, named = required.of(path, self.beside)
    known = { lua = lua, named = named }
    self.closures[path] = known
  end
  for each in pairs(known.lua) do put(out, each, true) end
  for each, name in pairs(known.named) do put(out, each, name) end
end

--- Files that hold whatever the scenario is: Lua files of the user that were run while it was loaded, with all that
--- they depend on, and files that were read; by path as in `add_contents`.
function Hasher:common_files()
  local files, by_table, by_lua = {}, { files = {}, policies = {}, seen = {} }, {}
  for _, path in ipairs(chunks.files_of_scenario()) do
    if path ~= self.path and not files_of.is_shipped(path) then self:add_closure(files, path) end
  end
  -- What variants name is added to their own names.
  for _, value in ipairs(self.varied) do self:collect(by_table, value.value, value.key, 1) end
  self:collect(by_table, self.given, nil, 0)
  -- What Lua files name is added to the runs that these files are part of, whether it has been read yet or not.
  for _, path in ipairs(chunks.files()) do
    if not files_of.is_shipped(path) then self:add_closure(by_lua, path) end
  end
  for path, given in pairs(files_of.found()) do
    local is_common = files_of.is_of_loading(path) or not by_lua[path]
    if is_common and not by_table.files[path] then put(files, path, given) end
  end
  return files
end

--- The name of the content that all runs of the scenario share.
function Hasher:common()
  if self.common_name then return self.common_name end
  local parts = { shipped() }
  local files = self:common_files()
  files_of.cover(files)
  self:add_contents(parts, files)
  self.common_name = native.content_name(none, parts)
  return self.common_name
end

--- What a value consists of: its text, the texts of its policies, and the files of both. `found` is what was collected
--- from it.
function Hasher:consists_of(value, found)
  local text, sources = run_text.of(value)
  local texts = {}
  for class in pairs(found.policies) do
    local of_class = self:class(class)
    texts[#texts + 1] = of_class.text
    for path in pairs(of_class.files) do sources[path] = true end
  end
  table.sort(texts)
  for path in pairs(sources) do self:add_closure(found.files, path) end
  files_of.cover(found.files)
  return text, table.concat(texts), found.files
end

--- The name of the run of a scenario's table with its changes applied: 32 hexadecimal digits.
---@param form string what is made of the run: documents of `rooflua run`, of a search
function Hasher:of(given, form)
  local found = { files = {}, policies = {}, seen = {} }
  self:collect(found, given, nil, 0)
  local kept = {}
  for key, value in pairs(core.plain(given)) do
    if not left_out[key] then kept[key] = value end
  end
  for key, name in pairs(schema.default_policies) do
    if kept[key] == nil then self:collect(found, name, key, 1) end
  end
  local text, texts, files = self:consists_of(kept, found)
  local parts = { form, "seed " .. ("%.17g"):format(given.seed or 0), text, texts, self:common() }
  self:add_contents(parts, files)
  return native.content_name(none, parts), files
end

--- The name of a piece of work by the name of the scenario's content and by what the piece is asked.
function Hasher:of_piece(content, title, asked)
  local found = { files = {}, policies = {}, seen = {} }
  self:collect(found, asked, nil, 1)
  local text, texts, files = self:consists_of(asked, found)
  local parts = { content, title, text, texts }
  self:add_contents(parts, files)
  return native.content_name(none, parts)
end

--- Names the runs of one scenario. Files are read once, so a hasher lives as long as one sweep is looked up.
---@param scenario table { given = its table, path = its file or nil, list = variants with changes }
function run_hash.of_scenario(scenario)
  local varied = {}
  for _, variant in ipairs(scenario.list or {}) do
    for _, change in ipairs(variant.changes) do
      local key = type(change.path) == "string" and change.path:gsub("%[%d+%]$", ""):match "[%a_]+$" or nil
      varied[#varied + 1] = { key = key, value = change.value }
    end
  end
  local folder = scenario.path and scenario.path:match "^(.*)/[^/]*$" or "."
  return setmetatable({ given = scenario.given, path = scenario.path, varied = varied, named = {}, contents = {},
    named_classes = {}, class_texts = {}, closures = {}, entries = {}, folder = folder,
    beside = required.beside(folder) }, Hasher)
end

--- The name of a list of runs {name, run_hash}.
function run_hash.of_set(list)
  local parts = { "set" }
  for _, run in ipairs(list) do parts[#parts + 1] = run.run_hash .. " " .. run.name end
  return native.content_name(none, parts)
end

return run_hash
