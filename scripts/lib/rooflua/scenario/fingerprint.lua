-- A hash of what results depend on: the scenario, the Lua files that it requires, the library, shipped data, files
-- that it names or has read (tables, traces, models), and options. A results file keeps runs of different hashes apart.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local files_of = require "rooflua.sandbox.files"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local required = require "rooflua.scenario.required"
local schema = require "rooflua.scenario.schema"

local fingerprint = {}

local shipped_folders = { "/scripts/lib/rooflua", "/scenarios/models", "/bench_data" }

--- Adds what is read of a path: of a model's folder its description, of any other folder all files.
local function add_path(out, path, key)
  local of_model = key ~= "path" and native.model_files(path) or {}
  for _, file in ipairs(of_model) do out[file] = true end
  if #of_model == 0 then out[path] = true end
end

--- Every text in a scenario that names a file or folder: tables, traces, config.json.
local function named_files(value, out, seen, depth, key)
  if type(value) == "string" then
    for _, path in ipairs(files_of.places(value)) do
      if key == "path" and value ~= "" or value:find "[/.]" and native.file_exists(path) then
        add_path(out, path, key)
      end
    end
  elseif type(value) == "table" and not seen[value] and depth < 12 then
    seen[value] = true
    local plain = policy.is_instance(value) and policy.parameters(value) or core.plain(value)
    for _, name in ipairs(core.sorted_keys(plain)) do named_files(plain[name], out, seen, depth + 1, name) end
  end
end

--- Reads the files of policies and lookups that are given by name, in the scenario or in a variant. Without this, a
--- file that only a later variant reads would be missing from the hash. A file that cannot be read is no error here:
--- the run reports it.
local function read_named(value, key, seen, depth)
  if type(value) == "string" and schema.folders[key] then
    pcall(policies.of, Reader.new "", key, value)
  elseif type(value) == "string" and (key == "mfu" or key == "lookup") then
    pcall(chunks.require, "lookup." .. value)
  elseif type(value) == "table" and not seen[value] and depth < 12 then
    seen[value] = true
    local plain = policy.is_instance(value) and policy.parameters(value) or core.plain(value)
    for _, name in ipairs(core.sorted_keys(plain)) do
      local own = type(name) == "string" and name ~= "value" and name:gsub("%[%d+%]$", ""):match "[%a_]+$" or key
      read_named(plain[name], key == "metrics" and key or own, seen, depth + 1) -- metrics = { any_name = "policy" }
    end
  end
end

--- A value of a scenario as text: policies with their parameters, tables in order of their keys.
local function text_of(value, depth)
  if type(value) == "function" then return "function" end
  if type(value) == "number" then return ("%.17g"):format(value) end
  local own = type(value) == "userdata" and core.object_fields[value] -- of a model, a GPU, a deployment
  if not own and type(value) ~= "table" or depth > 12 then
    return type(value) == "userdata" and core.class_name(value) or tostring(value)
  end
  local plain, parts = own or core.plain(value), {}
  if policy.is_instance(value) then
    plain = policy.parameters(value)
    parts[1] = policy.describe(value).name
  end
  for _, key in ipairs(core.sorted_keys(plain)) do
    parts[#parts + 1] = tostring(key) .. "=" .. text_of(plain[key], depth + 1)
  end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- The hash of a scenario's table. options: path (its file), set (texts), seed, more (text), varied (values of its
--- variants, by key path).
function fingerprint.of(given, options)
  local files = {}
  read_named({ given, options.varied }, nil, {}, 0)
  named_files({ given, options.varied }, files, {}, 0)
  for _, path in ipairs(files_of.found()) do files[path] = true end
  local scripts = {}
  for _, path in ipairs(chunks.files()) do scripts[path] = true end
  if options.path then scripts[options.path] = true end
  required.add(scripts, options.path and options.path:match "^(.*)/[^/]*$" or ".")
  for path in pairs(scripts) do files[path] = true end
  local read = {}
  for _, folder in ipairs(shipped_folders) do read[#read + 1] = native.home .. folder end
  for _, path in ipairs(core.sorted_keys(files)) do read[#read + 1] = path end
  local texts = { "seed " .. tostring(options.seed), text_of(given, 0),
    text_of(options.varied, 0), options.more or "" }
  for _, each in ipairs(options.set or {}) do texts[#texts + 1] = each end
  return native.fingerprint(read, texts)
end

return fingerprint
