-- A file that a person holds of a start, told by its content: a log of an engine, what a server says of itself, or a
-- manifest.
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local forms = require "rooflua.manifests.forms"
local json = require "rooflua.json"
local log = require "rooflua.startup.log"
local named_files = require "rooflua.sandbox.named_files"
local native = require "rooflua.native"
local range = require "rooflua.ranges.range"
local servers = require "rooflua.startup.servers"

local reading = {}

local most_bytes = 64 * 2 ^ 20

--- Refuses a list that has a file twice: two copies of a manifest would be two deployments.
function reading.refuse_twice(paths)
  for i, path in ipairs(paths) do
    for k = 1, i - 1 do
      if path == paths[k] or native.is_same_file(path, paths[k]) then core.fail("%s: is given twice", path) end
    end
  end
end

--- The text of a file of at most so many bytes.
function reading.text(path)
  local text, problem = native.read_file(path, most_bytes)
  if not text then
    core.fail("%s%s", problem, problem:find "more than" and ": cut the log behind its start" or "")
  end
  for _, mark in ipairs { "\255\254", "\254\255", "\239\187\191", "\31\139" } do -- UTF-16, UTF-8 with a mark, gzip
    if text:sub(1, #mark) == mark then return native.read_user_text(path) end
  end
  return text
end

local function document_of(text)
  if not text:find "^%s*[{%[]" then return nil end
  local ok, value = pcall(json.decode, text)
  return ok and value or nil
end

--- What a file is that says nothing of a start; nil where nothing is known of it.
function reading.other_form(text)
  local form = range.form(text)
  return form and "a range over time: " .. form.what
end

--- The record of a text (log.lua); nil where it is of none of these forms.
---@param bases table? of manifests/forms.lua
function reading.record(file, text, bases)
  local record = forms.record(file, text, false, bases)
  if record then return record end
  local document = document_of(text)
  record = servers.metrics(file, text) or document and servers.document(file, document)
  if record then return record end
  local found, other = log.engine_of(text)
  if not found then return forms.record(file, text, true) end
  local function parse(version)
    local ok, chosen = pcall(choice.parse, found.name .. " " .. version)
    return ok and chosen.release or nil
  end
  record = log.read(file, text, found, parse)
  if other then
    record.told[#record.told + 1] = ("lines of %s stand in it as well, and are not read: give one file for each engine")
      :format(other.title)
  end
  return record
end

--- The record of a file, which names the runs that rest on it.
local function record_of(path, text, bases)
  named_files.note(path)
  local record = reading.record(path, text, bases)
  if record then return record end
  local what = reading.other_form(text)
  if what then
    core.fail("--from %s: this is %s, which says nothing of a start; rooflua attach takes it", path, what)
  end
  core.fail("--from %s: is no start-up log of vLLM, SGLang or TensorRT-LLM, nothing that a server says of itself, and "
    .. "starts no engine (rooflua files %s says what it is)", path, path)
end

--- The records of files that are read together. @throws a sentence that names a file where it is of no form
---@param paths string[]
function reading.files(paths)
  reading.refuse_twice(paths)
  local texts, out = {}, {}
  for _, path in ipairs(paths) do texts[path] = reading.text(path) end
  local bases = #paths > 1 and forms.bases(texts) or nil
  for i, path in ipairs(paths) do out[i] = record_of(path, texts[path], bases) end
  for name, base in core.sorted_pairs(bases or {}) do
    if not base.is_used_by then out[1].told[#out[1].told + 1] = forms.of("kserve").unused_base(name) end
  end
  return out
end

return reading
