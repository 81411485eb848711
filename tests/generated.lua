-- Parts of documents that are generated from declarations: compares each with what the declarations say today.
-- Run from the source tree:
--   rooflua lua tests/generated.lua              compares
--   rooflua lua tests/generated.lua --write      writes the parts that differ
--
-- A part stands between a line that holds "generated: NAME" and a line that holds "end of NAME", each written as a
-- comment of its file: <!-- generated: NAME --> in Markdown, "-- generated: NAME" in Lua.
-- A new part is one entry of `parts` and these two lines.
local manual = require "rooflua.scenario.manual"
local rooflua = require "rooflua"

--- A Markdown table. A "|" inside a cell is escaped.
local function markdown_table(head, rows)
  local lines = {}
  local function add(cells)
    for i, cell in ipairs(cells) do cells[i] = (cell:gsub("|", "\\|")) end
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  add(head)
  lines[#lines + 1] = "|" .. ("---|"):rep(#head)
  for _, row in ipairs(rows) do add(row) end
  return table.concat(lines, "\n")
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

--- A value as a scenario writes it; nothing for no value.
local function code(value)
  if value == nil then return "" end
  return "`" .. (type(value) == "string" and ("%q"):format(value) or tostring(value)) .. "`"
end

--- The values, bounds and unit that a declared parameter accepts.
local function accepted(declared)
  local words = {}
  for _, value in ipairs(declared.values or {}) do words[#words + 1] = code(value) end
  if declared.policy then words[#words + 1] = ("a policy of scripts/%s"):format(declared.policy) end
  local out = table.concat(words, ", ")
  if declared.min then out = out .. ("from %g"):format(declared.min) end
  if declared.max then out = out .. (" to %g"):format(declared.max) end
  if declared.unit and declared.unit ~= "1" then out = out .. (out == "" and "" or " ") .. declared.unit end
  if out == "" and type(declared.default) == "boolean" then out = "true, false" end
  return out
end

--- The declared parameters of a policy: policy_parameters("steps", "roofline_v2").
local function policy_parameters(folder, name)
  for _, described in ipairs(rooflua.list(folder)) do
    if described.name == name then
      local rows = {}
      for _, key in ipairs(sorted_keys(described.params)) do
        local declared = described.params[key]
        rows[#rows + 1] = { "`" .. key .. "`", code(declared.default), accepted(declared), declared.doc,
          declared.source or "" }
      end
      return markdown_table({ "parameter", "default", "accepts", "meaning", "source" }, rows)
    end
  end
  error(("there is no policy %s in scripts/%s"):format(name, folder))
end

-- Each entry: the file, the name of the part, and a function that gives its text (without a final line break).
local parts = {
  {
    file = "docs/MODELS.md", name = "parameters of steps/roofline_v2",
    text = function() return policy_parameters("steps", "roofline_v2") end,
  },
  { file = "docs/LUA_API.md", name = "scenario keys", text = manual.rows },
  { file = "scripts/meta/serve.lua", name = "scenario keys", text = manual.classes },
}

--- The text of a file with the part replaced; nil and the reason if its two marks are not there.
local function with_part(text, name, body)
  local _, first = text:find("generated: " .. name, 1, true)
  local last = text:find("end of " .. name, first, true)
  if not first or not last then return nil, ("no lines 'generated: %s' and 'end of %s'"):format(name, name) end
  local line_end = text:find("\n", first, true)
  local line_start = last
  while text:sub(line_start - 1, line_start - 1) ~= "\n" do line_start = line_start - 1 end
  if line_start <= line_end then return nil, ("the marks of '%s' are on one line"):format(name) end
  return text:sub(1, line_end) .. body .. "\n" .. text:sub(line_start)
end

local passed, failed = 0, 0
local function check(ok, message)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  if not ok then print("FAIL " .. message) end
end

-- The comparison itself: a text with marks, one that is up to date, one that is not, and one without marks.
local sample = "a\n<!-- generated: n -->\nold\nlines\n<!-- end of n -->\nb\n"
check(with_part(sample, "n", "new") == "a\n<!-- generated: n -->\nnew\n<!-- end of n -->\nb\n", "a part is replaced")
check(with_part(sample, "n", "old\nlines") == sample, "a part that is up to date is not changed")
check(with_part(sample, "m", "new") == nil, "a part needs its marks")
check(markdown_table({ "a" }, { { "b|c" } }) == "| a |\n|---|\n| b\\|c |", "a table escapes its bars")

local write = arg[1] == "--write"
for _, part in ipairs(parts) do
  local handle = assert(io.open(part.file))
  local found = handle:read "*a"
  handle:close()
  local wanted, problem = with_part(found, part.name, part.text())
  check(wanted, ("%s: %s"):format(part.file, tostring(problem)))
  if wanted and wanted ~= found and write then
    handle = assert(io.open(part.file, "w"))
    handle:write(wanted)
    handle:close()
    print("wrote " .. part.file .. ": " .. part.name)
  elseif wanted then
    check(wanted == found, ("%s: '%s' differs from the declarations; rooflua lua tests/generated.lua --write")
      :format(part.file, part.name))
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
