-- What pages say of rooflua, compared with what it has: no page calls absent what `rooflua list`, the commands and the
-- keys of a scenario name, and counts are right. From the source tree:
--   rooflua lua tests/claims/check.lua FOLDER_OF_THE_PROGRAM [PAGE...]
--
-- A claim of absence is found by its grammar (absence.lua) and by names of what there is (capabilities.lua). A new
-- kind, command or key needs its name there. A sentence that speaks of less than the whole is listed there as well.
local folder = assert(arg[1], "usage: rooflua lua tests/claims/check.lua FOLDER_OF_THE_PROGRAM [PAGE...]")
local program = folder .. "/rooflua"
local absence = dofile "tests/claims/absence.lua"
local capabilities, unsaid, allowed = dofile "tests/claims/capabilities.lua"
local counts = dofile "tests/claims/counts.lua"
local sentences_of = dofile "tests/claims/sentences.lua"
local keys = require "rooflua.scenario.keys"
local shipped = require "rooflua.spec"

local passed, failed = 0, 0
local function check(ok, message, ...)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  if not ok then print("FAIL " .. message:format(...)) end
end

local function lines_of(command)
  local out, pipe = {}, io.popen(command)
  for line in pipe:lines() do out[#out + 1] = line end
  pipe:close()
  return out
end

local function text_of(path)
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return text
end

-- What there is -----------------------------------------------------------------------------------

local list_of = {}  -- by kind: the first words of `rooflua list KIND`
for _, line in ipairs(lines_of(("'%s' list"):format(program))) do
  local kind = line:match "^  (%l+)  "
  if kind then
    list_of[kind] = {}
    for _, item in ipairs(lines_of(("'%s' list %s"):format(program, kind))) do
      list_of[kind][#list_of[kind] + 1] = item:match "^(%S+)"
    end
  end
end

local has = {}  -- "kind routers", "policy routers.random", "command plan", "key deployment.cp" = true
for kind, names in pairs(list_of) do
  has["kind " .. kind] = true
  for _, name in ipairs(names) do has["policy " .. kind .. "." .. name] = true end
end
for _, line in ipairs(lines_of(("'%s' --help"):format(program))) do
  local command = line:match "^  (%l[%l-]*)  "
  if command then has["command " .. command] = true end
end
for _, entry in ipairs(keys) do
  has["key " .. entry.name] = true
  for _, field in ipairs(entry.fields or {}) do has["key " .. entry.name .. "." .. field.name] = true end
end

local named = {}
for _, each in ipairs(capabilities) do
  check(has[each.has], "capabilities.lua: there is no %s", each.has)
  named[each.has] = true
end
for what, names in pairs(unsaid) do
  for name in names:gmatch "%S+" do
    check(has[what .. " " .. name], "capabilities.lua: there is no %s %s", what, name)
    named[what .. " " .. name] = true
  end
end
for each in pairs(has) do
  local what, name = each:match "^(%l+) (%S+)$"
  check(named[each] or what == "policy" or name:find ".%.", "capabilities.lua: what do pages call %s?", each)
end

-- Claims of absence -------------------------------------------------------------------------------

local words_of = {}  -- by capability: patterns of its names
for _, each in ipairs(capabilities) do
  words_of[each] = { (each.name:lower():gsub("%p", "%%%0")) .. "%f[%A]", unpack(each.words or {}) }
end

--- The capability that a sentence calls absent; nil where it calls none so.
local function denied(sentence)
  for _, each in ipairs(capabilities) do
    for _, word in ipairs(words_of[each]) do
      if absence(sentence, word) then return each end
    end
  end
end

--- Projects that docs/COMPARISON.md compares, as its first table links them, in lower case.
local projects = {}
for name in text_of("docs/COMPARISON.md"):gmatch "\n| %[([^%]]+)%]" do projects[#projects + 1] = name:lower() end

--- Whether a sentence stands in the section of another project, and does not name this one.
local function is_of_another(path, sentence)
  if path ~= "docs/COMPARISON.md" or sentence.lower:find "rooflua" then return false end
  if sentence.lower:find "%f[%a]here%f[%A]" then return false end
  for _, project in ipairs(projects) do
    if sentence.heading:sub(1, #project) == project then return true end
  end
  return sentence.cells ~= nil and sentence.heading == "in one table" and #sentence.cells > 2
end

local used = {}
local function is_allowed(path, sentence)
  for i, entry in ipairs(allowed) do
    if entry[1] == path and sentence.text:find(entry[2], 1, true) then
      used[i] = true
      return true
    end
  end
  return false
end

-- Counts ------------------------------------------------------------------------------------------

local function count_lines(pattern, files)
  local out, different, distinct = 0, 0, {}
  for _, path in ipairs(lines_of("ls " .. files)) do
    for found in text_of(path):gmatch(pattern) do
      out, different = out + 1, different + (distinct[found] and 0 or 1)
      distinct[found] = true
    end
  end
  return out, different
end

local function truth()
  local gpus, measured, rows = 0, 0, 0
  for _, line in ipairs(lines_of(("'%s' list hardware"):format(program))) do
    local figure = line:match "^%l[%w-]+ +[%d.]+ +[%d.]+ +([%d,-]+)"
    if figure then
      gpus = gpus + 1
      measured, rows = measured + (figure == "-" and 0 or 1), rows + (tonumber((figure:gsub("[,-]", ""))) or 0)
    end
  end
  local tables, publishers = count_lines('\nproject = "([^"]+)"', "bench_data/*/tables.toml")
  local kinds = {}
  for _, name in ipairs(shipped.models()) do
    for _, layers in ipairs(shipped.model(name).attention) do
      kinds[#kinds + 1] = not kinds[layers.kind] and layers.kind or nil
      kinds[layers.kind] = true
    end
  end
  local out = {
    models = { #shipped.models() }, rows = { rows }, tables = { tables }, publishers = { publishers - 1 },
    ["GPUs, all, with rows or without"] = { gpus, measured, gpus - measured }, ["GPUs with rows"] = { measured },
    ["tables of this project"] = { (count_lines('\nproject = "rooflua"', "bench_data/*/tables.toml")) },
    ["kinds of attention"] = { #kinds },
    ["questions of the cookbook"] = { (count_lines("\n| %[", "docs/COOKBOOK.md")) },
    ["projects that are compared"] = { #projects },
  }
  for _, kind in ipairs { "steps", "schedulers", "routers", "workloads", "speculators", "tiers", "eviction" } do
    out[kind] = { #list_of[kind] }
  end
  return out
end

local is_true, seen = truth(), {}
local function check_counts(path, sentence)
  for _, each in ipairs(counts.of(sentence)) do
    local right, known = false, {}
    for _, count in ipairs(is_true[each.of]) do
      local enough = each.at_least and each.count <= count and each.count > 0.9 * count
      right, known[#known + 1] = right or each.count == count or enough, tostring(count)
    end
    seen[each.of] = true
    check(right, "%s:%d: says %d; %s: %s\n     %s", path, sentence.line, each.count, each.of,
      table.concat(known, ", "), sentence.text)
  end
end

-- Pages -------------------------------------------------------------------------------------------

--- Checks a page: as one check where all its sentences are right.
local function check_page(path)
  local before = failed
  for _, sentence in ipairs(sentences_of(text_of(path))) do
    local each = not is_of_another(path, sentence) and denied(sentence)
    if each and not is_allowed(path, sentence) then
      check(false, "%s:%d: calls absent what there is (%s): %s", path, sentence.line, each.has, sentence.text)
    end
    check_counts(path, sentence)
  end
  if failed == before then check(true) end
end

local given = { unpack(arg, 2) }
local pages = "README.md docs/*.md docs/schema/*.md bench_data/*.md"
for _, path in ipairs(#given > 0 and given or lines_of("ls " .. pages)) do check_page(path) end
for i, entry in ipairs(#given == 0 and allowed or {}) do
  check(used[i], "capabilities.lua: no sentence of %s is \"%s\"", entry[1], entry[2])
end
for _, each in ipairs(#given == 0 and counts.counted or {}) do
  check(seen[each.of] or each.of == "schedulers", "counts.lua: no page counts %s", each.of)
end

-- The scanner itself: what it must find of each name, and what it must leave ---------------------

local function finds(markdown)
  for _, sentence in ipairs(sentences_of(markdown)) do
    if denied(sentence) then return true end
  end
  return false
end

local planted = { "There is no %s.", "There are no %s here.", "It has routes, and no %s.", "rooflua does not model %s.",
  "It cannot simulate %s.", "%s is not modelled.", "%s are not supported yet.", "%s (not yet)",
  "Not modelled: swapping, %s.", "Missing: pictures, %s and sound.", "rooflua lacks %s.", "Nothing simulates %s.",
  "It leaves out %s.", "%s: no.", "It doesn't yet support %s.", "%s cannot be simulated.", "It never simulates %s.",
  "| %s | no |", "| %s, encoders | - |", "## What rooflua lacks\n\n- Swapping, %s, pictures. All of these exist.",
  "## What it does not do\n\nSwapping, %s, and pictures." }
local harmless = { "It has %s.", "Where a scenario has no %s, nothing waits.", "%s change the price.",
  "## What it does\n\n- Swapping, %s.", "| %s | yes |", "Steps without %s cost what they cost." }
for _, each in ipairs(capabilities) do
  for _, form in ipairs(planted) do
    local text = form:gsub("%%s", each.name)
    check(finds(text), "the scanner does not find: %s", text)
  end
  for _, form in ipairs(harmless) do
    local text = form:gsub("%%s", each.name)
    check(not finds(text), "the scanner takes for a claim of absence: %s", text)
  end
end
-- Sentences that pages had when they were no longer true.
for _, text in ipairs { "- The number of replicas does not change during a run: there is no autoscaling.",
  "| LoRA, encoders | no |", "| routers | five gateways by name; no autoscaler |",
  "## What rooflua lacks\n\n- A server that answers over HTTP. A mocker is one.",
  "## What rooflua lacks\n\n- Requests that start several others. AISimulate replays graphs of them.",
  "## What rooflua lacks\n\n- KV caches beyond the GPU, swapping.", "there are no adapters here, and more",
  "- Not modelled: connectors, LoRA, the second layout." } do
  check(finds(text), "the scanner does not find: %s", text)
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
