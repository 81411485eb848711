-- What a laboratory asks of an opened scenario (engine/lab/question.cpp).
local native = require "rooflua.native"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local differences = require "rooflua.explore.differences"
local figures = require "rooflua.lab.figures"
local files = require "rooflua.sandbox.files"
local json = require "rooflua.json"
local knobs = require "rooflua.lab.knobs"
local levers = require "rooflua.intervals.levers"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local quoting = require "rooflua.text.quoting"
local Reader = require "rooflua.scenario.reader"
local rehearsal = require "rooflua.serving.rehearsal"
local views = require "rooflua.lab.views"

local questions = {}

--- Texts that stand in place of files below the scenario's folder.
function questions.replace_files(texts)
  chunks.edit(texts)
  if next(texts) then Reader.forget() end -- what prices rest on may be edited
  return true
end

--- Adds the policies of a value, {path, file, name, key, shipped}, each file once.
local function add_policies(out, seen, key, value, depth)
  if type(value) ~= "table" or depth > 6 then return end
  if policy.is_class(value) then value = value {} end
  if not policy.is_instance(value) then
    for name, each in core.sorted_pairs(core.plain(value)) do
      add_policies(out, seen, key == "" and tostring(name) or key .. "." .. tostring(name), each, depth + 1)
    end
    return
  end
  local class = policy.class_of(value)
  local file, module = chunks.file_of_class(class), chunks.module_of_class(class)
  if file and module and not seen[file] then
    seen[file] = true
    out[#out + 1] = { path = module:gsub("^program:", ""):gsub("%.", "/") .. ".lua", file = file, name = value.name,
      key = key, shipped = files.is_shipped(file) }
  end
  for name, each in core.sorted_pairs(policy.parameters(value)) do
    add_policies(out, seen, key .. "." .. name, each, depth + 1)
  end
end

--- The file of the scenario and those of the policies in force.
local function policies_of(opened)
  local out = json.array {}
  if opened.path then
    out[1] = { path = opened.path:match "[^/]+$", file = opened.path, name = "the scenario", key = "",
      shipped = files.is_shipped(opened.path) }
  end
  add_policies(out, {}, "", figures.in_force(opened, 1), 0)
  return out
end

--- `rooflua run` with what was changed.
local function command_of(words, sets, seed)
  local out = { "rooflua run" }
  for _, word in ipairs(words) do out[#out + 1] = quoting.shell(word) end
  for _, text in ipairs(sets) do
    local path, value = text:match "^([^=]*)=(.*)$"
    out[#out + 1] = (path == "users" or path == "bench") and "" or "--set " .. quoting.shell(path .. "=" .. value)
  end
  if seed then out[#out + 1] = ("--seed %d"):format(seed) end
  return (core.join(out, " "):gsub("  +", " "))
end

--- What stands before and after the text of a scenario's file, so that the file has what was changed; nil where no file
--- can say it.
local function export_of(opened, words, sets, seed)
  if not (opened.path and opened.path:find "%.lua$") then return nil end
  for _, word in ipairs(words) do
    if word == "--command" or word == "--from" then return nil end
  end
  if #sets == 0 and not seed then return { before = "", after = "" } end
  local lines = { "", "end)(...)", "-- What was changed in rooflua lab." }
  if #sets > 0 then
    lines[#lines + 1] = 'scenario = require("rooflua").changed(scenario, {'
    for _, text in ipairs(sets) do lines[#lines + 1] = ("  %s,"):format(quoting.lua(text)) end
    lines[#lines + 1] = "})"
  end
  if seed then lines[#lines + 1] = ("scenario.seed = %d"):format(seed) end
  lines[#lines + 1] = "return scenario\n"
  return { before = "local scenario = (function(...) ", after = table.concat(lines, "\n") }
end

--- Files that a change of is asked about again: those of the user that were read.
local function files_read(opened)
  local out = json.array {}
  for _, path in ipairs(chunks.files()) do
    if not files.is_shipped(path) or path == opened.path then out[#out + 1] = path end
  end
  return out
end

local rehearsed_s = 0.6 -- of CPU, before the address is printed

--- Loads and compiles what answers need, before anybody asks. What is wrong with a scenario, its answer says.
function questions.rehearse(opened)
  if opened.kind == "serve" then
    pcall(rehearsal.run, opened.reader, (opening.variant(opened, 1)))
    for i = 1, #opened.variants do
      pcall(rehearsal.begin, opened.reader, (opening.variant(opened, i)), rehearsed_s / #opened.variants)
    end
  end
  questions.opened(opened, {}, {})
  if type(opened.given.mfu) ~= "table" then Reader.keep(opened.reader) end -- tables of the user may change
  return true
end

--- {knobs, policies, views, files, command, export = {before, after}}
---@param words string[] of the command, without sets
---@param sets string[] "key=value"
---@param seed integer? that was set
function questions.opened(opened, words, sets, seed)
  return { knobs = knobs.of(opened), policies = policies_of(opened), views = views.list(opened),
    files = files_read(opened), command = command_of(words, sets, seed),
    export = export_of(opened, words, sets, seed) }
end

--- What an answer has beside the metrics of a page: {columns, facts}.
function questions.figures(opened, documents, numbers) return figures.of(opened, documents, numbers) end

--- How columns changed over several seeds.
function questions.changes(runs) return figures.changes(runs) end

--- What a view runs: {set, why, runs, against}.
function questions.plan(opened, name) return views.plan(opened, name) end

--- What a view shows of its runs: sections of measure/html/sections.h.
function questions.described(opened, name, documents, texts)
  return json.array(views.described(opened, name, documents, texts))
end

--- What two documents say of each other: {text, flat_frac}; a change of a metric by no more than this share is none.
function questions.compared(before, after)
  return { text = native.printable(differences.of_documents(before, after, { "the pin", "now" })),
    flat_frac = levers.flat_frac }
end

return questions
