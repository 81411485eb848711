-- The name of a run by its content: two runs have one name if nothing differs that their results can depend on. The
-- content is the scenario with its changes applied, the Lua files of its policies with those that they require, the
-- files that it names (tables, traces, models), the library and the shipped data. Left out is what cannot matter:
-- the title, the report, and which other variants there are. So a sweep with one more value runs one more.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local choice = require "rooflua.engines.choice"
local chunks = require "rooflua.sandbox.chunks"
local files_of = require "rooflua.sandbox.files"
local json = require "rooflua.json"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local required = require "rooflua.scenario.required"
local run_text = require "rooflua.scenario.run_text"
local schema = require "rooflua.scenario.schema"

local run_hash = {}
local Hasher = {}
Hasher.__index = Hasher

local function is_shipped(path) return path:sub(1, #native.home + 9) == native.home .. "/scripts/" end

local shipped_folders = { "/scripts/lib/rooflua", "/scripts/engines", "/scenarios/models", "/bench_data" }
local left_out = { rooflua = true, title = true, report = true, vary = true, sweep = true, seed = true }

local none = json.array {}
local shipped_name -- of the library and the data; the same for every run of a process

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

--- Adds what is read of a path: of a model's folder its description, of any other folder all files. `text` is how the
--- scenario names it.
local function add_path(out, path, key, text)
  local of_model = key ~= "path" and path:find "[/.]" and native.model_files(path) or {}
  for _, file in ipairs(of_model) do out[file] = file end
  if #of_model == 0 and (key == "path" or path:find "[/.]" and native.file_exists(path)) then out[path] = text end
end

--- Adds the file that a text names, if it names one: of a `path` the one that is found, of models and hardware the one
--- in the working directory.
function Hasher:add_named(out, text, key)
  local known = self.named[(key or "") .. "\n" .. text]
  if not known then
    known = {}
    if text ~= "" then add_path(known, key == "path" and files_of.place(text) or text, key, text) end
    self.named[(key or "") .. "\n" .. text] = known
  end
  for path, name in pairs(known) do out[path] = name end
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
    local ok, class = pcall(chunks.require, "lookup." .. text)
    return ok and policy.is_class(class) and class or nil
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

--- Adds the file of an engine of the user, and those of the engines that it extends. An engine that is not known is no
--- error here: the run reports it.
local function add_engine(out, text)
  local ok, chosen = pcall(choice.parse, text)
  local engine = ok and chosen.engine or nil
  while engine do
    if not is_shipped(engine.file) then out[engine.file] = true end
    engine = engine.extends
  end
end

--- Collects from a scenario's table: files that it names, and its policies (found.policies, as a set of classes).
function Hasher:collect(found, value, key, depth)
  if type(value) == "string" then
    self:add_named(found.files, value, key)
    if key == "engine" then add_engine(found.files, value) end
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
      known = { given = given, text = self:order(path, given) .. "\n" .. self:content(path) }
      self.entries[path] = known
    end
    entries[known.text] = path
  end
  for _, entry in ipairs(core.sorted_keys(entries)) do parts[#parts + 1] = self:content(entries[entry]) end
end

--- A Lua file and all that it requires, as a set of paths.
function Hasher:closure(path)
  local known = self.closures[path]
  if not known then
    known = { [path] = true }
    required.add(known, self.folder)
    self.closures[path] = known
  end
  return known
end

--- Files that hold whatever the scenario is: Lua files of the user that were run while it was loaded, with all that
--- they require, and files that these have read; by path as in `add_contents`.
function Hasher:common_files()
  local files, named = {}, { files = {}, policies = {}, seen = {} }
  for _, path in ipairs(chunks.files_of_scenario()) do
    if path ~= self.path and not is_shipped(path) then
      for each in pairs(self:closure(path)) do files[each] = true end
    end
  end
  -- What variants name is added to their own names.
  for _, value in ipairs(self.varied) do self:collect(named, value.value, value.key, 1) end
  self:collect(named, self.given, nil, 0)
  for path, given in pairs(files_of.found()) do
    if not named.files[path] then files[path] = given end
  end
  return files
end

--- The name of the content that all runs of the scenario share.
function Hasher:common()
  if self.common_name then return self.common_name end
  local parts = { shipped() }
  self:add_contents(parts, self:common_files())
  self.common_name = native.content_name(none, parts)
  return self.common_name
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
  local text, sources = run_text.of(kept)
  local texts = {}
  for class in pairs(found.policies) do
    local of_class = self:class(class)
    texts[#texts + 1] = of_class.text
    for path in pairs(of_class.files) do sources[path] = true end
  end
  table.sort(texts)
  local files = found.files
  for path in pairs(sources) do
    for each in pairs(self:closure(path)) do files[each] = true end
  end
  local parts = { form, "seed " .. ("%.17g"):format(given.seed or 0), text, table.concat(texts), self:common() }
  self:add_contents(parts, files)
  return native.content_name(none, parts), files
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
  return setmetatable({ given = scenario.given, path = scenario.path, varied = varied, named = {}, contents = {},
    named_classes = {}, class_texts = {}, closures = {}, entries = {},
    folder = scenario.path and scenario.path:match "^(.*)/[^/]*$" or "." }, Hasher)
end

--- The name of a list of runs {name, run_hash}.
function run_hash.of_set(list)
  local parts = { "set" }
  for _, run in ipairs(list) do parts[#parts + 1] = run.run_hash .. " " .. run.name end
  return native.content_name(none, parts)
end

return run_hash
