-- Tests of Lua files, run as `rooflua lua tests/scripts/x/x_test.lua`. A test's name is a true sentence;
-- one line per failing test, and a last line `N passed, N failed`.
--
--   local test = dofile "tests/scripts/harness.lua"
--   test("two and two are four", function() test.equal(2 + 2, 4) end)
--   test.finish()
local harness = { passed = 0, failed = 0, skipped = 0, files = 0 }

--- Runs one test.
local function run(_, name, body)
  local ok, problem = xpcall(body, function(message)
    return type(message) == "table" and message or debug.traceback(tostring(message), 2)
  end)
  if ok then
    harness.passed = harness.passed + 1
  elseif type(problem) == "table" and problem.skip then
    harness.skipped = harness.skipped + 1
    print(("SKIPPED: %s: %s"):format(name, problem.skip))
  else
    harness.failed = harness.failed + 1
    print(("FAILED  %s: %s"):format(name, type(problem) == "table" and problem.message or problem))
  end
end

--- File and line of a failed check.
local function here()
  for level = 3, 8 do
    local info = debug.getinfo(level, "Sl")
    if info and not info.source:find "harness.lua" then return info.short_src .. ":" .. info.currentline .. ": " end
  end
  return ""
end

local function text(value)
  return type(value) == "number" and ("%.15g"):format(value) or tostring(value)
end

--- A message without arguments is taken as it is: it may be what a program printed.
local function fail(message, ...)
  error({ message = here() .. (select("#", ...) > 0 and message:format(...) or message) }, 0)
end

--- Ends a test that cannot run here.
function harness.skip(why) error({ skip = why }, 0) end

local function prefix(what) return what and what .. ": " or "" end

function harness.check(ok, message, ...)
  if not ok then fail(message or "does not hold", ...) end
end

function harness.equal(found, expected, what)
  if found ~= expected then fail("%sexpected %s, found %s", prefix(what), text(expected), text(found)) end
end

--- Equal within a relative tolerance. Nothing is near to what is not finite.
function harness.near(found, expected, relative, what)
  local apart = math.abs(found - expected)
  if not (apart < math.huge and apart <= relative * math.max(math.abs(found), math.abs(expected))) then
    fail("%sexpected %s within %g, found %s", prefix(what), text(expected), relative, text(found))
  end
end

function harness.at_least(found, bound, what)
  if not (found >= bound) then fail("%sexpected at least %s, found %s", prefix(what), text(bound), text(found)) end
end

--- The body raises an error that holds `part`.
function harness.raises(part, body)
  local ok, problem = pcall(body)
  if ok then fail("expected an error with '%s', none was raised", part) end
  local found = tostring(problem)
  if not found:find(part, 1, true) then fail("expected an error with '%s', found: %s", part, found) end
end

--- A text holds each of the parts.
function harness.has(found, ...)
  for _, part in ipairs { ... } do
    if not found:find(part, 1, true) then fail("expected '%s' in:\n%s", part, found) end
  end
end

--- The program that is tested, by its whole path.
function harness.program()
  local path = assert(os.getenv "ROOFLUA_PROGRAM", "run by ctest, or set ROOFLUA_PROGRAM")
  return path:find "^/" and path or io.popen("pwd"):read "*l" .. "/" .. path
end

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

--- What the program prints, errors included.
---@param line string the words after its name, as a shell reads them
---@param folder string where it runs
function harness.printed(line, folder)
  local pipe = assert(io.popen(("cd %s && %s %s 2>&1"):format(quoted(folder), quoted(harness.program()), line)))
  local out = pipe:read "*a"
  pipe:close()
  return out
end

--- What the program prints, errors included, and its exit status.
---@vararg string its words
function harness.run(...)
  local words = { quoted(harness.program()) }
  for i, word in ipairs { ... } do words[i + 1] = quoted(word) end
  local pipe = assert(io.popen(table.concat(words, " ") .. " 2>&1; echo status $?"))
  local out = pipe:read "*a"
  pipe:close()
  local said, status = out:match "^(.*)status (%d+)\n$"
  return said, tonumber(status)
end

--- The document that the program prints: of words with `--json -`.
function harness.json_of(...)
  local said = harness.run(...)
  local ok, document = pcall(require("rooflua.json").decode, said)
  if not ok then fail("no document: %s", said) end
  return document
end

--- The keys of a scenario that nothing reads, and why, as one text.
function harness.unread(given)
  local out = {}
  for i, each in ipairs(require("rooflua.serving.unread_keys").of(given, given.kind or "serve")) do
    out[i] = each[1] .. ": " .. each[2]
  end
  return table.concat(out, "; ")
end

--- Files outside the repository that some tests need.
function harness.shared(path)
  local full = "../shared/data/" .. path
  local handle = io.open(full)
  if handle then
    handle:close()
    return full
  end
  if os.getenv "ROOFLUA_REQUIRE_SHARED" == "1" then fail("%s is not there", full) end
  harness.skip(full .. " is not there")
end

--- Skips a test of a program that was built without libyaml.
function harness.needs_yaml()
  local ok, problem = pcall(require("rooflua.native").yaml_decode, "a: 1", "yaml")
  if not ok and tostring(problem):find("without libyaml", 1, true) then harness.skip(tostring(problem)) end
end

--- A temporary folder of this test program, removed by finish().
function harness.folder()
  if not harness.scratch then
    harness.scratch = os.tmpname()
    os.remove(harness.scratch)
    assert(os.execute("mkdir " .. harness.scratch) == 0)
  end
  return harness.scratch
end

--- A new path in that folder that ends in `name`; the file is written if there is content.
function harness.file(name, content)
  harness.files = harness.files + 1
  local path = ("%s/%d%s"):format(harness.folder(), harness.files, name or "")
  if content then
    local out = assert(io.open(path, "w"))
    out:write(content)
    out:close()
  end
  return path
end

--- A new folder with these files: {path in it = text}.
function harness.folder_of(files)
  local folder = harness.file()
  assert(os.execute("mkdir " .. folder) == 0)
  for path, content in pairs(files) do
    local inside = path:match "^(.*)/"
    if inside then assert(os.execute("mkdir -p " .. quoted(folder .. "/" .. inside)) == 0) end
    local out = assert(io.open(folder .. "/" .. path, "wb"))
    out:write(content)
    out:close()
  end
  return folder
end

function harness.finish()
  if harness.scratch then os.execute("rm -r " .. harness.scratch) end
  print(("%d passed, %d failed"):format(harness.passed, harness.failed))
  os.exit(harness.failed == 0 and 0 or 1)
end

return setmetatable(harness, { __call = run })
