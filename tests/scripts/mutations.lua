-- Tests of tests: a line of a script is replaced, and a test of that script must fail.
--
--   mutations.check { test = test, rules = { NAME = { { title, line, what stands there without it }, ... } },
--     module = function(name) ... end, tests = function(name) ... end, forget = "^steps%.kernels" }
local mutations = {}

--- Replaces `from`, which must occur exactly once.
local function replaced(source, from, to)
  local first, last = source:find(from, 1, true)
  assert(first, "the line is not in the script: " .. from)
  assert(not source:find(from, last + 1, true), "stands twice in the script: " .. from)
  return source:sub(1, first - 1) .. to .. source:sub(last + 1)
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

local function forget(pattern)
  for loaded in pairs(package.loaded) do
    if loaded:find(pattern) then package.loaded[loaded] = nil end
  end
end

--- One test file, run with another script in the place of a module. True if a test of it failed.
local function fails(path, module, source, pattern)
  local chunk = assert(loadstring(source, "=mutated " .. module))
  forget(pattern)
  package.preload[module] = chunk
  local exit, print_line, status = os.exit, print, nil
  os.exit = function(code)
    status = code
    error({ message = "over" }, 0)
  end
  print = function(line)  -- the first failure is enough
    if line:find "^FAILED" then error({ message = "failed" }, 0) end
  end
  pcall(dofile, path)
  os.exit, print = exit, print_line
  package.preload[module] = nil
  forget(pattern)
  return status ~= 0
end

--- @param given table test: the harness; rules: by name; module(name): what require calls the script;
---   tests(name): the files of which one must fail; forget: a pattern of modules that are loaded anew each time
function mutations.check(given)
  local test, names = given.test, {}
  for name in pairs(given.rules) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local module = given.module(name)
    local source = read("scripts/" .. module:gsub("%.", "/") .. ".lua")
    local function noticed(text)
      for _, path in ipairs(given.tests(name)) do
        if fails(path, module, text, given.forget) then return true end
      end
      return false
    end
    test("the tests of " .. name .. " pass with the script as it is", function()
      test.check(not noticed(source), "they fail")
    end)
    for _, rule in ipairs(given.rules[name]) do
      test(("%s: without '%s' a test fails"):format(name, rule[1]), function()
        test.check(noticed(replaced(source, rule[2], rule[3])), "all pass")
      end)
    end
  end
end

return mutations
