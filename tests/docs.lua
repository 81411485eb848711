-- Documents keep their word: every console block of README.md and of every page of docs is run, in order, in one
-- empty folder, and its output is compared with what the document prints. From the source tree:
--   rooflua lua tests/docs.lua FOLDER_OF_THE_PROGRAM [--write] [DOCUMENT...]
--
-- --write: figures and words of evidence that differ are replaced where the rest of a line is the same. What is then
-- still different is for a person to write.
--
-- ```console          "$ " begins a command; what follows is its output. A line "..." stands for any
-- $ rooflua ...       lines, "..." inside a line for any text.
-- ```lua file=x.lua   is written to x.lua before the next command; csv and toml as well.
-- ```text golden=x    every line stands in tests/golden/x.txt, in that order.

local program_folder = assert(arg[1], "usage: rooflua lua tests/docs.lua FOLDER_OF_THE_PROGRAM [DOCUMENT...]")
local first = arg[2] == "--write" and 3 or 2
local writing = first == 3

-- Pages of newcomers and of tasks: no command of theirs stands outside of a console block, so all of them are run.
local all_run = { ["docs/START.md"] = true, ["docs/CLASSES.md"] = true, ["docs/RESULT_FILES.md"] = true,
  ["docs/COST_AGAINST_LOAD.md"] = true, ["docs/TUTORIAL.md"] = true,
  ["docs/OWN_SCHEDULER.md"] = true, ["docs/EXPLORATION.md"] = true, ["docs/CALIBRATING.md"] = true }

local function output_of(command)
  local pipe = io.popen(command)
  local text = pipe:read "*a"
  pipe:close()
  return text
end

local function trim(text) return (text:gsub("%s+$", "")) end

local source = trim(output_of "pwd")
program_folder = trim(output_of(("cd '%s' && pwd"):format(program_folder)))
local passed, failed = 0, 0

local function count(ok, message)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  if not ok then print("FAIL " .. message) end
end

--- A line outside of blocks that shows a command, as "    $ rooflua run x.lua".
local function is_command(line)
  local shown = line:match "^    %s*(.*)$"
  return shown and (shown:find "^%$ " or shown:find "^rooflua " or shown:find "^scripts/rooflua ")
end

--- The blocks of a document that matter here: {kind, file, first, lines}; then the lines of commands outside of them.
local function blocks_of(path)
  local out, commands, open, number = {}, {}, nil, 0
  for line in io.lines(path) do
    number = number + 1
    if not open and is_command(line) then commands[#commands + 1] = number end
    if open and line:match "^```%s*$" then
      out[#out + 1], open = open, nil
    elseif open then
      open.lines[#open.lines + 1] = line
    else
      local kind, more = line:match "^```(%a+)%s*(.*)$"
      local file = more and (more:match "file=(%S+)" or more:match "golden=(%S+)")
      if kind == "console" or file then
        open = { kind = kind, file = file, first = number, lines = {} }
      elseif kind then
        open = { kind = "other", first = number, lines = {} }
      end
    end
  end
  return out, commands
end

--- {command, first, expected = lines} of a console block.
local function commands_of(block)
  local out = {}
  for i, line in ipairs(block.lines) do
    local command = line:match "^%$ (.*)$"
    if command then
      out[#out + 1] = { command = command, first = block.first + i, expected = {} }
    elseif #out > 0 then
      local expected = out[#out].expected
      if #expected == 0 and out[#out].command:find "\\$" then
        out[#out].command = out[#out].command:gsub("\\$", "") .. trim(line)
        out[#out].first = out[#out].first + 1
      else
        expected[#expected + 1] = line
      end
    end
  end
  return out
end

--- Spaces count as one: columns may be cut out of a table.
local function same_line(expected, found)
  local pattern = trim(expected):gsub("%s+", " "):gsub("%p", "%%%0"):gsub(" ?%%%.%%%.%%%.", ".*")
  return trim(found):gsub("%s+", " "):find("^" .. pattern .. "$") ~= nil
end

--- Whether expected[i..] fits found[j..]; "..." takes as few lines as it can.
local function fits(expected, found, i, j)
  if i > #expected then return j > #found end
  if trim(expected[i]) == "..." then
    for k = j, #found + 1 do
      if fits(expected, found, i + 1, k) then return true end
    end
    return false
  end
  return j <= #found and same_line(expected[i], found[j]) and fits(expected, found, i + 1, j + 1)
end

-- Figures that changed ----------------------------------------------------------------------------

local evidence = { measured = true, interpolated = true, extrapolated = true, stand_in = true, modelled = true,
                   assumed = true }

--- A line as a pattern in which each figure and each word of evidence is a capture, and "..." is any text.
local function pattern_of(line)
  local text = trim(line):gsub("%s+", " "):gsub(" ?%.%.%.", "\1")
  return (text:gsub("[^%s\1]+", function(token)
    return (token:gsub("([%(%[\"']*)([%w_.,]*)(.*)", function(before, word, after)
      local figure = word:find "^[%d.,]*%d[%d.,]*$"
      local middle = figure and "([%d.,]+)" or evidence[word] and "([%a_]+)" or word:gsub("%p", "%%%0")
      return before:gsub("%p", "%%%0") .. middle .. after:gsub("%p", "%%%0")
    end, 1))
  end):gsub("\1", ".*"))
end

--- The line with the figures and the evidence of `found`, where both say the same otherwise; else nil.
local function with_figures_of(expected, found)
  local label = expected:match "^(%S.-)  "  -- of a row of a table: names it, its numbers included
  if label and trim(found):sub(1, #label + 1) ~= label .. " " then return nil end
  local captures = { trim(found):gsub("%s+", " "):match("^" .. pattern_of(expected) .. "$") }
  if #captures == 0 or not expected:find "%d" then return nil end
  local taken = 0
  return (expected:gsub("%S+", function(token)
    local before, word, after = token:match "^([%(%[\"']*)([%w_.,]*)(.*)$"
    if not word or token:find "^%.%.%." then return nil end
    if not (word:find "^[%d.,]*%d[%d.,]*$" or evidence[word]) then return nil end
    taken = taken + 1
    return before .. captures[taken] .. after
  end))
end

local changes = {}  -- by document and line

local function change(path, number, text)
  changes[path] = changes[path] or {}
  changes[path][number] = text
end

local function write_changes(path)
  if not changes[path] then return end
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = changes[path][#lines + 1] or line end
  local handle = assert(io.open(path, "w"))
  handle:write(table.concat(lines, "\n"), "\n")
  handle:close()
  print("wrote " .. path)
end

--- Notes for each expected line that nothing fits the first found line that differs from it in figures alone.
local function change_figures(path, at, expected, found)
  local from = 1
  for i, line in ipairs(expected) do
    for j = from, #found do
      if same_line(line, found[j]) then from = j + 1 break end
      local new = with_figures_of(line, found[j])
      if new then
        change(path, at + i, new)
        from = j + 1
        break
      end
    end
  end
end

local function lines_of(text)
  local out = {}
  for line in text:gmatch "(.-)\n" do out[#out + 1] = line end
  while #out > 0 and trim(out[#out]) == "" do out[#out] = nil end
  return out
end

local function run(path, folder, step)
  local text = output_of(("cd '%s' && PATH='%s':$PATH && { %s ; } 2>&1"):format(folder, program_folder, step.command))
  if text ~= "" and text:sub(-1) ~= "\n" then text = text .. "\n" end
  local found, expected = lines_of(text), lines_of(table.concat(step.expected, "\n") .. "\n")
  local right = fits(expected, found, 1, 1)
  if writing and not right then change_figures(path, step.first, expected, found) end
  count(right, ("%s:%d: $ %s\n--- the document says\n%s\n--- the program says\n%s"):format(
    path, step.first, step.command, table.concat(expected, "\n"), table.concat(found, "\n")))
end

local function compare_with_golden(path, block)
  local name = "tests/golden/" .. block.file .. ".txt"
  local handle = io.open(name)
  if not handle then return count(false, path .. ":" .. block.first .. ": there is no " .. name) end
  local found, at = lines_of(handle:read "*a"), 0
  handle:close()
  for i, line in ipairs(block.lines) do
    local next_at
    for j = at + 1, #found do
      if same_line(line, found[j]) then next_at = j break end
    end
    if writing and not next_at then
      for j = at + 1, #found do
        local new = with_figures_of(line, found[j])
        if new then
          change(path, block.first + i, new)
          next_at = j
          break
        end
      end
    end
    count(next_at ~= nil, ("%s:%d: %s does not say: %s"):format(path, block.first + i, name, line))
    at = next_at or at
  end
end

local function check(path)
  local folder = trim(output_of "mktemp -d")
  os.execute(("ln -s '%s/scenarios' '%s/scenarios'"):format(source, folder))
  local steps = 0
  local blocks, others = blocks_of(path)
  if all_run[path] then
    count(#others == 0, ("%s:%d: a command outside of a console block is not run"):format(path, others[1] or 0))
  end
  for _, block in ipairs(blocks) do
    if block.kind == "text" then
      steps = steps + 1
      compare_with_golden(path, block)
    elseif block.file then
      local inside = block.file:match "^(.*)/"
      if inside then os.execute(("mkdir -p '%s/%s'"):format(folder, inside)) end
      local handle = assert(io.open(folder .. "/" .. block.file, "w"))
      handle:write(table.concat(block.lines, "\n"), "\n")
      handle:close()
    elseif block.kind == "console" then
      for _, step in ipairs(commands_of(block)) do
        steps = steps + 1
        run(path, folder, step)
      end
    end
  end
  if steps == 0 then count(false, path .. ": nothing to check") end
  os.execute(("rm -rf '%s'"):format(folder))
end

--- Pages with a block that can be checked.
local function pages()
  local out = {}
  for path in io.popen("ls README.md docs/*.md"):lines() do
    for _, block in ipairs((blocks_of(path))) do
      if block.kind == "console" or block.kind == "text" then
        out[#out + 1] = path
        break
      end
    end
  end
  return out
end

for _, path in ipairs(arg[first] and { unpack(arg, first) } or pages()) do
  check(path)
  write_changes(path)
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
