-- What sets of measured runs found, in one report and one document.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local errors = require "rooflua.validate.errors"
local json = require "rooflua.json"
local pair_score = require "rooflua.validate.pairs.score"
local markdown = require "rooflua.text.markdown"
local units = require "rooflua.text.units"

local report = {}

local function passed_lines(passed)
  local out = {}
  for i, each in ipairs(passed) do out[i] = ("passed over: %s (%s)"):format(each.path, each.why) end
  return out
end

--- The first files that are no sets, for an error; "" where there is none.
function report.first_passed(passed)
  local most, lines = 5, passed_lines(passed)
  if #lines == 0 then return "" end
  local more = #lines > most and ("\n... and %d more"):format(#lines - most) or ""
  return "\n" .. table.concat(lines, "\n", 1, math.min(most, #lines)) .. more
end

local function passed_document(passed)
  local out = json.array {}
  for i, each in ipairs(passed) do out[i] = { path = each.path, why = each.why } end
  return out
end

local function root() return { schema = 1, kind = "validation" } end

--- The document and the text of one set; of a folder, with the files that are none.
local function of_one(found, session)
  local document = root()
  for name, value in pairs(found.document) do
    document[name == found.set.kind and found.set.word or name] = value
  end
  if #session.passed == 0 then return document, found.text end
  document.passed_over = passed_document(session.passed)
  return document, found.text .. "\n\n" .. table.concat(passed_lines(session.passed), "\n")
end

--- What each set found, ahead of its own report.
local function overview(done, session, ran, count)
  local rows = { { "set", "file", "cases", "ran" } }
  for i, found in ipairs(done) do
    rows[i + 1] = { found.set.word, found.set.path, tostring(found.set.cases), tostring(found.ran) }
  end
  local title = ("%s: %s, %s, %d ran, %d did not"):format(session.path, units.counted(#done, "set"),
    units.counted(count, "case"), ran, count - ran)
  local noted = #session.notes > 0 and "\n\nNotes\n" .. table.concat(session.notes, "\n") or ""
  return title .. "\n\n" .. columns.after(2, rows) .. noted
end

--- Files that are no sets; nil where there is none.
local function other_files(session)
  local lines = {}
  for _, folder in ipairs(core.sorted_keys(session.data)) do
    lines[#lines + 1] = ("data of cases: %s (%s)"):format(folder, units.counted(session.data[folder], "file"))
  end
  for _, line in ipairs(passed_lines(session.passed)) do lines[#lines + 1] = line end
  return #lines > 0 and table.concat(lines, "\n") or nil
end

local function heading(title) return title .. "\n" .. ("="):rep(#title) end

--- A set in the document: what is not at the root.
local function set_document(found, document)
  local of = found.set
  local own = { path = of.path, kind = of.kind, member = of.word, count = of.cases, ran = found.ran }
  for name, value in pairs(found.document) do
    if of.at_root then
      document[name] = value
    elseif name == of.kind then
      document[of.word] = value
    else
      own[name] = value
    end
  end
  return own
end

local function of_several(done, session)
  local document, ran, count, page = root(), 0, 0, nil
  document.sets, document.notes = json.array {}, json.array(session.notes)
  document.passed_over, document.data = passed_document(session.passed), session.data
  for i, found in ipairs(done) do
    document.sets[i] = set_document(found, document)
    ran, count, page = ran + found.ran, count + found.set.cases, page or found.page
  end
  local parts = { overview(done, session, ran, count) }
  for _, found in ipairs(done) do
    parts[#parts + 1] = heading(("%s: %s"):format(found.set.word, found.set.path))
    parts[#parts + 1] = found.text
  end
  local others = other_files(session)
  if others then parts[#parts + 1] = heading "Other files" .. "\n\n" .. others end
  return { text = table.concat(parts, "\n\n"), document = document, ran = ran, page = page }
end

--- A path without the folders above the one that is validated.
local function short_path(path, session)
  local above = session.path:match "^(.*/)[^/]*$" or ""
  return path:sub(1, #above) == above and path:sub(#above + 1) or path
end

local function pairs_of(done)
  local out = {}
  for _, found in ipairs(done) do
    for _, pair in ipairs(found.pairs or {}) do out[#out + 1] = pair end
  end
  return out
end

--- The tables of all sets as Markdown. It has errors and no measured values, and no time or machine, so that the same
--- data and program give the same text.
local function record(done, session)
  local rows = { { "set", "file", "cases", "ran" } }
  for i, found in ipairs(done) do
    rows[i + 1] = { found.set.word, short_path(found.set.path, session), found.set.cases, found.ran }
  end
  local parts = { "# Validation: errors against measured runs",
    ("`rooflua validate %s%s --record FILE` writes this file. Errors are (simulated - measured) / measured.")
      :format(short_path(session.path, session), session.record), markdown.table(rows, 2) }
  for _, found in ipairs(done) do
    parts[#parts + 1] = ("## %s: %s"):format(found.set.word, short_path(found.set.path, session))
    errors.add_record(parts, found.parts)
  end
  local differences = pairs_of(done)
  if #differences > 0 then
    parts[#parts + 1] = "## pairs: runs that differ in one thing"
    errors.add_record(parts, pair_score.parts(differences))
  end
  return table.concat(parts, "\n\n") .. "\n"
end

--- Adds the pairs of all sets.
local function add_pairs(out, list)
  if #list == 0 then return end
  out.document.pairs = pair_score.document(list)
  out.text = out.text .. "\n\n" .. errors.text(pair_score.parts(list))
end

--- @param done table list of {text, document, ran, page, set = {kind, at_root, path, word, cases}}, one per set
--- @param session table of harness.open: {path, of_several, passed, data, notes}
--- @return table {text, document, ran, page, record}
function report.of(done, session)
  local out
  if session.of_several then
    out = of_several(done, session)
  else
    local document, text = of_one(done[1], session)
    out = { text = text, document = document, ran = done[1].ran, page = done[1].page }
  end
  add_pairs(out, pairs_of(done))
  out.record = session.record and record(done, session) or nil
  return out
end

return report
