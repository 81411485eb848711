-- What a running server says of itself, as the engines' tables declare it: labels of a sample of /metrics, documents
-- such as SGLang's /get_server_info. Each is a record as log.lua gives it.
--
-- `server` of scripts/engines/*/startup.lua is {metrics, documents}:
--     metrics    {sample, model, facts = {label = fact}, options = {label = option}, values = {sample = fact}, source}:
--                a sample whose labels are the configuration, one that names the model, and samples that are a fact
--     documents  rows {form, means, has = members of the document that tell it and their types, is = members and their
--                values, list = the member whose
--                first entry is read, facts = {path = fact or {fact, factor}}, ranks = {member of a list, facts of each
--                of its entries}, is_all = has names all members, is_options = its other members are all options,
--                without = those that are none, source}
local core = require "rooflua.base.core"
local catalogue = require "rooflua.engines.catalogue"
local facts = require "rooflua.startup.facts"
local json = require "rooflua.json"
local native = require "rooflua.native"
local rows = require "rooflua.startup.rows"
local secrets = require "rooflua.text.secrets"

local servers = {}

local function fresh(form, means, engine, file)
  return { form = form, means = means, engine = engine, file = file, facts = {}, named = {}, is_named = {},
    warnings = {}, told = {}, read = {}, unread = {}, count = 0, understood = 0, not_understood = 0, later = 0 }
end

--- Puts a value that a fact can have.
local function put(record, name, value, rank, line)
  local kind = facts.by_name[name].kind
  if type(value) ~= "string" and type(value) ~= "number" then return end
  if kind ~= "text" and type(value) == "number" then value = ("%.17g"):format(value) end
  local own = facts.value(name, tostring(value))
  if own == nil then return end
  record.facts[name] = record.facts[name] or {}
  record.facts[name][rank or ""] = { value = own, line = line }
end

local function name_option(record, name, value, line)
  if value == json.null or value == nil or record.is_named[name] then return end
  if secrets.is_named(name) then value = secrets.mask end
  record.is_named[name] = true
  local is_text = type(value) == "string" or type(value) == "boolean"
  record.named[#record.named + 1] = { name, is_text and tostring(value) or json.encode(value), line = line }
end

-- /metrics ------------------------------------------------------------------------------------------------------------

--- The engine and its declaration whose sample a text has; nil where it has none.
local function metrics_of(text)
  for _, engine in ipairs(rows.engines()) do
    local server = catalogue.said(engine, "startup").server
    local metrics = server and server.metrics
    if metrics then
      for _, sample in ipairs { metrics.sample, core.unpack(core.sorted_keys(metrics.values or {})) } do
        if ("\n" .. text):find("\n" .. sample .. "{", 1, true) then return engine, metrics end
      end
    end
  end
end

local words = { True = "true", False = "false" }

local function read_labels(record, metrics, text, number)
  local labels = {}
  for name, value in text:gmatch '%f[%w_]([%a_][%w_]*)="([^"\\]*)"' do labels[name] = value end
  local rank = labels.engine and "engine " .. labels.engine or ""
  for label, fact in core.sorted_pairs(metrics.facts) do
    if labels[label] then put(record, fact, labels[label], rank, number) end
  end
  for label, option in core.sorted_pairs(metrics.options) do
    local value = labels[label]
    if value and value ~= "None" and value ~= "auto" then name_option(record, option, words[value] or value, number) end
  end
end

--- The record of a text of /metrics; nil where it has no such sample.
function servers.metrics(file, text)
  local engine, metrics = metrics_of(text)
  if not engine then return nil end
  local record, number = fresh("metrics", "/metrics of " .. engine.title, engine, file), 0
  local sample = "^" .. metrics.sample:gsub("%p", "%%%0") .. "(%b{})%s+[%d.eE+]+"
  local model = "^" .. metrics.model:gsub("%p", "%%%0") .. '{[^}]*model_name="([^"\\]+)"'
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    line = native.printable(line)
    local labels = line:match(sample)
    if labels then
      read_labels(record, metrics, labels, number)
      record.understood = record.understood + 1
      record.read[#record.read + 1] = { line = number, means = "the KV cache of a server that runs",
        text = line:sub(1, 200) }
    elseif line ~= "" and line:sub(1, 1) ~= "#" then
      local name = line:match(model)
      local own, value = line:match "^([%w_:]+)%b{}%s+([%d.eE+]+)"
      local fact = own and (metrics.values or {})[own]
      if name then put(record, "model", name, "", number) end
      if fact then put(record, fact, tonumber(value), line:match 'dp_rank="(%d+)"' or "", number) end
      record.later = record.later + 1
    end
  end
  record.count = number - 1
  return record
end

-- JSON ----------------------------------------------------------------------------------------------------------------

--- The value of "a.b" in a document.
local function at(document, path)
  for part in path:gmatch "[^.]+" do
    if type(document) ~= "table" or document == json.null then return nil end
    document = document[tonumber(part) or part]
  end
  return document
end

local function read_facts(record, wanted, document, rank)
  for path, fact in core.sorted_pairs(wanted) do
    local value = at(document, path)
    local name, factor = fact, 1
    if type(fact) == "table" then name, factor = fact[1], fact[2] end
    put(record, name, type(value) == "number" and value * factor or value, rank)
  end
end

local function read_document(record, row, document)
  local without = core.set(row.without or {})
  read_facts(record, row.facts, row.list and document[row.list][1] or document)
  local list = row.ranks and at(document, row.ranks[1])
  for i, each in ipairs(type(list) == "table" and list or {}) do
    read_facts(record, row.ranks[2], each, ("rank %d"):format(i - 1))
  end
  if not row.is_options then return end
  record.is_whole = true
  for name, value in core.sorted_pairs(document) do
    if row.facts[name] or without[name] then
      record.later = record.later + 1
    else
      name_option(record, name, value)
    end
  end
end

local function tells(row, document)
  for path, kind in pairs(row.has) do
    if type(at(document, path)) ~= kind then return false end
  end
  for path, value in pairs(row.is or {}) do
    if at(document, path) ~= value then return false end
  end
  for name in pairs(row.is_all and document or {}) do
    if row.has[name] == nil then return false end
  end
  return not row.list or type(document[row.list][1]) == "table"
end

--- The record of a document; nil where no engine declares it.
function servers.document(file, document)
  if type(document) ~= "table" or document == json.null then return nil end
  for _, engine in ipairs(rows.engines()) do
    local server = catalogue.said(engine, "startup").server
    for _, row in ipairs(server and server.documents or {}) do
      if tells(row, document) then
        local record = fresh(row.form, row.means, engine, file)
        read_document(record, row, document)
        record.count, record.understood = 1, 1
        record.read[1] = { line = 1, means = row.means, text = "" }
        return record
      end
    end
  end
end

return servers
