-- What every fuzzer shares: numbered cases from a printed seed, in child processes, so that a case that crashes or
-- hangs is found and named.
--
--   rooflua lua tests/fuzz/NAME_fuzz.lua --cases 400            the same cases every time
--   rooflua lua tests/fuzz/NAME_fuzz.lua --minutes 10 --seed 7  as many as fit
--   rooflua lua tests/fuzz/NAME_fuzz.lua --seed 7 --only 123    one case, in this process
--
-- A fuzzer is a file of this folder that ends with fuzzer.main(case). case(random, folder) does one thing after
-- another with numbers of `random` alone, and raises an error if something is wrong. `folder` is scratch space of the
-- process. CMakeLists.txt has a line for it.
local fuzzer = {}

-- CPU seconds of a case; the sanitizers take more.
local slowest_s = tonumber(os.getenv "ROOFLUA_FUZZ_SLOWEST_S") or 2
local cases_per_child, child_s = 40, 60 * slowest_s

-- Random numbers: a sequence of its own for each seed and case ----------------------------------------------

local Random = {}
Random.__index = Random

local modulus, factor = 2147483647, 48271 -- @source Park, Miller, "Random number generators", CACM 31(10), 1988

local function new_random(seed, case)
  local state = (seed * 7919 + case * 104729 + 12345) % (modulus - 1) + 1
  local random = setmetatable({ state = state }, Random)
  for _ = 1, 4 do random:fraction() end
  return random
end

--- In [0, 1).
function Random:fraction()
  self.state = self.state * factor % modulus
  return (self.state - 1) / (modulus - 1)
end
--- A whole number from `low` to `high`.
function Random:whole(low, high) return low + math.floor(self:fraction() * (high - low + 1)) end
--- True with that probability.
function Random:chance(share) return self:fraction() < share end
function Random:pick(list) return list[self:whole(1, #list)] end

-- Numbers that programs do not expect.
local odd = { 0, -1, 1, 2, 0.5, 1.5, -0.0, 1e-320, 5e-324, 2.2250738585072014e-308, 1e300, 1.7976931348623157e308,
  1 / 0, -1 / 0, 0 / 0, 2147483647, 2147483648, 4294967296, 9007199254740992, 1e18, -2147483648, 255, 256, 65536, 1e9 }
--- A number that programs do not expect.
function Random:odd_number() return self:pick(odd) end

local odd_texts = { "", "nan", "inf", "-inf", "1e999", "1e-320", "-1", "0", "2147483647", "9223372036854775808",
  "99999999999999999999999999", "0x10", "true", "\0", "\255\254", "\226\130", "[[[[[[[[[[[[", "{", "\"", "a.b.c.d",
  ("x"):rep(5000), "1,2", "1.5", "1e9", "16,", "bf16", "\r\n", "\27[31m", "null" }
local bytes = {}
for i = 0, 255 do bytes[i + 1] = string.char(i) end

--- The positions of the numbers of a text.
local function numbers_of(text)
  local out = {}
  for first, last in text:gmatch "()%-?%d[%d.e+_]*()" do out[#out + 1] = { first, last - 1 } end
  return out
end

--- A text with one to four faults: of bytes, numbers, lines or pieces.
function Random:damaged(text)
  for _ = 1, self:whole(1, self:chance(0.7) and 1 or 4) do
    local kind, at = self:whole(1, 10), self:whole(1, math.max(#text, 1))
    if kind <= 5 then
      local numbers = numbers_of(text)
      if #numbers > 0 then
        local place = self:pick(numbers)
        local new = self:chance(0.3) and self:pick(odd_texts) or ("%.17g"):format(self:odd_number())
        text = text:sub(1, place[1] - 1) .. new .. text:sub(place[2] + 1)
      end
    elseif kind == 6 then
      text = text:sub(1, at - 1) .. self:pick(bytes) .. text:sub(at + 1)
    elseif kind == 7 then
      text = text:sub(1, at - 1) .. self:pick(odd_texts) .. text:sub(at)
    elseif kind == 8 then
      text = text:sub(1, at)
    elseif kind == 9 then
      local length = self:whole(1, 40)
      text = text:sub(1, at - 1) .. text:sub(at + length)
    else
      local length = self:whole(1, 200)
      text = text:sub(1, at + length) .. text:sub(at)
    end
  end
  return text
end

-- Checks -----------------------------------------------------------------------------------------------------

local internal = { "rooflua%.[%w_.]+:%d+: ", "std::", "stod", "stoi", "stol", "bad_alloc", "basic_string", "vector::",
  "[Aa]ssertion", "internal error", "json%.exception", "not enough memory" }

--- An error message that a user may see. `what` says what was done.
function fuzzer.check_message(message, what)
  if type(message) ~= "string" then return end
  for _, each in ipairs(internal) do
    if message:find(each) then error(("%s: an internal error reaches the user: %s"):format(what, message), 0) end
  end
end

--- call(...), whose error must be one that a user may see. Returns whether there was none, and the results.
function fuzzer.try(what, call, ...)
  local results = { pcall(call, ...) }
  if not results[1] then fuzzer.check_message(results[2], what) end
  return unpack(results, 1, table.maxn(results))
end

function fuzzer.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

function fuzzer.write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

-- Running ----------------------------------------------------------------------------------------------------

local function options_of(given)
  local out = { cases = 400, seed = 1 }
  local i = 1
  while given[i] do
    local name, value = given[i]:match "^%-%-(%a+)$", tonumber(given[i + 1])
    assert(name and value, "usage: [--cases N | --minutes M] [--seed S] [--only CASE]")
    out[name] = value
    i = i + 2
  end
  return out
end

local function run_one(case, seed, number, folder)
  local start_s = os.clock()
  local ok, problem = pcall(case, new_random(seed, number), folder)
  local took_s = os.clock() - start_s
  if not ok then return tostring(problem) end
  if took_s > slowest_s then return ("took %.1f s"):format(took_s) end
end

--- The cases from `first` to `last`, in this process.
local function child(case, seed, first, last)
  local folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir -p " .. folder)
  for number = first, last do
    local problem = run_one(case, seed, number, folder)
    if problem then print(("FAILED case %d: %s"):format(number, problem)) end
  end
  os.execute("rm -rf " .. folder)
  print "child is done"
end

--- Runs cases in a child process. Returns what it said that is wrong; nil if nothing is.
local function run_child(file, seed, first, last)
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  local pipe = io.popen(("timeout -s KILL %d '%s' lua '%s' --child 1 --seed %d --first %d --last %d 2>&1"):format(
    child_s, program, file, seed, first, last))
  local said = pipe:read "*a"
  pipe:close()
  local wrong = {}
  for line in said:gmatch "FAILED case [^\n]*" do wrong[#wrong + 1] = line end
  if not said:find "child is done\n$" then
    if first == last then
      wrong[#wrong + 1] = ("FAILED case %d: the program died or hung:\n%s"):format(first, said:sub(-4000))
    else
      for number = first, last do wrong[#wrong + 1] = run_child(file, seed, number, number) end
      if #wrong == 0 then
        wrong[1] = ("FAILED cases %d to %d, but none of them alone:\n%s"):format(first, last, said:sub(-4000))
      end
    end
  end
  return wrong[1] and table.concat(wrong, "\n") or nil
end

--- Runs the fuzzer as the command line says.
function fuzzer.main(case)
  local file, options = arg[0], options_of(arg)
  if options.child then return child(case, options.seed, options.first, options.last) end
  if options.only then
    local problem = run_one(case, options.seed, options.only, "/tmp")
    print(problem or "nothing is wrong")
    os.exit(problem and 1 or 0)
  end
  local end_s = options.minutes and os.time() + 60 * options.minutes
  local first, failed = 1, 0
  while end_s and os.time() < end_s or not end_s and first <= options.cases do
    local last = first + cases_per_child - 1
    if not end_s then last = math.min(last, options.cases) end
    local wrong = run_child(file, options.seed, first, last)
    if wrong then
      print(wrong)
      failed = failed + 1
    end
    first = last + 1
  end
  print(("%s: seed %d, %d cases"):format(file:match "[^/]*$", options.seed, first - 1))
  print(("%d passed, %d failed"):format(failed == 0 and 1 or 0, failed))
  os.exit(failed == 0 and 0 or 1)
end

return fuzzer
