--- What tables.toml says of an imported published table.
local folder = require "rooflua.tables.folder"
local kinds = require "rooflua.tables.kinds"
local names = require "rooflua.tables.names"
local quoting = require "rooflua.text.quoting"
local rules = require "rooflua.tables.rules"

local provenance = {}

local in_quotes = quoting.toml

local function list(texts)
  local out = {}
  for i, text in ipairs(texts) do out[i] = in_quotes(text) end
  return "[" .. table.concat(out, ", ") .. "]"
end

--- What the parts say, each text once, in order.
local function joined(parts, between, texts_of)
  local out, seen = {}, {}
  for _, part in ipairs(parts) do
    for _, text in ipairs(texts_of(part)) do
      if text ~= "" and not seen[text] then out[#out + 1] = text end
      seen[text] = true
    end
  end
  return table.concat(out, between)
end

local function spelled(engine)
  for _, each in ipairs(rules.engines) do
    if each[1] == engine then return each[2] end
  end
  return engine
end

--- The note of a table: that of its kind, and what rules say of its rows.
local function note_of(kind, marks)
  local notes = { kind.note }
  for _, rule in ipairs(rules.rules) do
    if marks[rule.reason] then notes[#notes + 1] = rule.reason end
  end
  return table.concat(notes, "; ")
end

--- The keys of tables.toml for a table that was read from these (docs/DATA.md).
---@param parts {file: table, read: table}[] files as folder.list() has them, and what rows.read() made of them
function provenance.text(parts)
  local file, read = parts[1].file, parts[1].read
  local kind, name = kinds[file.kind], file.published
  local op = folder.op_tables(kind.op)
  local versions = joined(parts, ", ", function(part) return { part.file.published.version } end)
  local kernels = joined(parts, ", ", function(part) return part.read.kernels end)
  local files = joined(parts, " and ", function(part) return { names.plain(part.file.path:match "[^/]*$") } end)
  local device = joined(parts, ", ", function(part) return { part.read.device } end)
  local library = name.engine == "" and kind.library or name.engine
  local timer = kind.timer or "graph"
  local graph = timer:find "^graph" ~= nil
  local out = {}
  local function say(key, value) out[#out + 1] = ("%s = %s\n"):format(key, value) end
  local function say_text(key, text)
    if text and text ~= "" then say(key, in_quotes(text)) end
  end
  say_text("op", kind.op)
  say_text("dtype", file.dtype)
  say_text("kv_dtype", op.format_of_kv and file.dtype)
  say_text("engine", name.engine)
  say_text("engine_version", versions)
  if #file.engines > 0 then say("engines", list(file.engines)) end
  say_text("kernel", kernels == "" and "not published" or kernels)
  say_text("library", spelled(library) .. (versions == "" and "" or " " .. versions))
  say_text("project", "github.com/ai-dynamo/aiconfigurator")
  say_text("source", "aic: " .. files)
  say_text("licence", "Apache-2.0")
  say_text("timer", timer)
  say("warm_up", graph and "3" or '"not published"')
  say("repeats", graph and "6" or '"not published"')
  say_text("statistic", "mean")
  say_text("cache", "not flushed")
  say_text("flop", op.flop)
  if #file.includes > 0 then say("includes", list(file.includes)) end
  say_text("shape", kind.shape)
  say_text("gpu", device == "" and "not published" or device)
  for _, key in ipairs { "driver", "clocks", "date" } do say_text(key, "not published") end
  say_text("note", note_of(kind, read.marks))
  return table.concat(out)
end

return provenance
