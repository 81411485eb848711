-- What every fuzzer shares: numbered cases from a printed seed, in child processes, so that a case that crashes or
-- hangs is found and named.
--
--   rooflua lua tests/fuzz/NAME_fuzz.lua --cases 400            the same cases every time
--   rooflua lua tests/fuzz/NAME_fuzz.lua --minutes 10 --seed 7  as many as fit
--   rooflua lua tests/fuzz/NAME_fuzz.lua --seed 7 --only 123    one case, in this process
--                                        ... --told 1           and what it calls, before it does
--
-- A fuzzer is a file of this folder that ends with fuzzer.main(case). case(random, folder) does one thing after
-- another with numbers of `random` alone, and raises an error if something is wrong. `folder` is scratch space of the
-- process. CMakeLists.txt has a line for it.
--
-- A case counts what it did with fuzzer.count; fuzzer.try counts a call. The counts stand in the last lines.
local bit, ffi = require "bit", require "ffi"
local fuzzer = {}
local bxor, rshift = bit.bxor, bit.rshift

-- CPU seconds of a case; the sanitizers take more.
local slowest_s = tonumber(os.getenv "ROOFLUA_FUZZ_SLOWEST_S") or 2
-- A child process ends after so many cases or so many seconds: what it keeps does not grow without bound.
local cases_per_child, child_s = 4000, 60
-- Seconds of the clock after which a case that does not come back is killed, also when it waits.
local patience_s = 60 * slowest_s

-- Random numbers: a sequence of its own for each seed and case ----------------------------------------------

local Random = {}
Random.__index = Random

local function new_random(seed, case)
  return setmetatable({ state = seed * 0xDA942042E4DD58B5ULL + case * 0xD1342543DE82EF95ULL }, Random)
end

--- In [0, 1).
--- @source Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014
function Random:fraction()
  local z = self.state + 0x9E3779B97F4A7C15ULL
  self.state = z
  z = bxor(z, rshift(z, 30)) * 0xBF58476D1CE4E5B9ULL
  z = bxor(z, rshift(z, 27)) * 0x94D049BB133111EBULL
  return tonumber(rshift(bxor(z, rshift(z, 31)), 11)) * 2 ^ -53
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

local internal = { "%f[%w_]rooflua%.[%w_.]+:%d+: ", "std::", "%f[%w]sto[dil]%f[%W]", "bad_alloc", "basic_string",
  "vector::", "[Aa]ssertion", "internal error", "json%.exception", "not enough memory",
  "filesystem error" }

--- Where a text is no UTF-8 any more; nil where all of it is.
local function bad_utf8(text)
  local at = 1
  while at <= #text do
    local byte = text:byte(at)
    local more = byte < 0x80 and 0 or byte >= 0xc2 and byte < 0xe0 and 1 or byte >= 0xe0 and byte < 0xf0 and 2
      or byte >= 0xf0 and byte < 0xf5 and 3
    if not more or not text:sub(at + 1, at + more):find("^[\128-\191]*$") or at + more > #text then return at end
    at = at + 1 + more
  end
end

--- An error message that a user may see: UTF-8, and no line of the library. `what` says what was done.
function fuzzer.check_message(message, what)
  if type(message) ~= "string" then return end
  if bad_utf8(message) then error(("%s: a message that is no UTF-8: %q"):format(what, message), 0) end
  for _, each in ipairs(internal) do
    if message:find(each) then error(("%s: an internal error reaches the user: %s"):format(what, message), 0) end
  end
end

local counts = {}

--- Counts something that was done, by name. The names stand in the last lines.
function fuzzer.count(name, times) counts[name] = (counts[name] or 0) + (times or 1) end

--- call(...), whose error must be one that a user may see. Returns whether there was none, and the results. Counts a
--- call.
function fuzzer.try(what, call, ...)
  fuzzer.count "calls"
  if fuzzer.said then fuzzer.said(what) end
  local results = { pcall(call, ...) }
  if not results[1] then
    fuzzer.count "refused"
    if fuzzer.said then fuzzer.said("  refused: " .. tostring(results[2])) end
    fuzzer.check_message(results[2], what)
  end
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
    local name = given[i]:match "^%-%-(%a+)$"
    local value = name == "child" and given[i + 1] or tonumber(given[i + 1])
    assert(name and value, "usage: [--cases N | --minutes M] [--seed S] [--only CASE [--told 1]]")
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

ffi.cdef [[
  typedef struct { long again_s, again_us, first_s, first_us; } fuzz_timer; // itimerval
  int setitimer(int which, const fuzz_timer *now, fuzz_timer *before);
]]
local clock_timer, cpu_timer = 0, 1 -- ITIMER_REAL, ITIMER_VIRTUAL

--- Kills this process if it is not called again in time: the parent tells which case it was.
local function watch()
  ffi.C.setitimer(cpu_timer, ffi.new("fuzz_timer", 0, 0, 5 * slowest_s, 0), nil)
  ffi.C.setitimer(clock_timer, ffi.new("fuzz_timer", 0, 0, patience_s, 0), nil)
end

--- A folder that is new, in $TMPDIR or /tmp.
local function new_folder()
  local pipe = io.popen "mktemp -d"
  local folder = pipe:read "*l"
  pipe:close()
  return folder
end

--- The cases from `first` to `last`, in this process. The number of the case that runs is in the file `at`.
local function child(case, seed, first, last, at)
  local folder = new_folder()
  local here = assert(io.open(at, "w"))
  local number, end_s = first, os.time() + child_s
  while number <= last and (number == first or os.time() < end_s) do
    here:seek "set"
    here:write(("%d\n"):format(number))
    here:flush()
    watch()
    local problem = run_one(case, seed, number, folder)
    if problem then print(("FAILED case %d: %s"):format(number, problem:gsub("\n", "\n\t"))) end
    number = number + 1
  end
  os.execute("rm -rf " .. folder)
  for name, count in pairs(counts) do print(("counted %d %s"):format(count, name)) end
  print(("child is done at %d"):format(number))
end

local totals = {}

--- Runs cases from `first` in a child process, at most to `last`. Returns the case after the last that ran, and what
--- it said that is wrong; nil if nothing is.
local function run_child(file, seed, first, last)
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  local at = os.tmpname()
  local command = ("'%s' lua '%s' --child '%s' --seed %d --first %d --last %d 2>&1; echo \"status $?\""):format(program,
    file, at, seed, first, last)
  local pipe = io.popen(command)
  local said = pipe:read "*a"
  pipe:close()
  local reached = tonumber(fuzzer.read(at):match "%d+") or first
  os.remove(at)
  local wrong = {}
  for line in said:gmatch "[^\n]+" do
    if line:find "^FAILED case" or wrong[1] and line:byte() == 9 then wrong[#wrong + 1] = line end
  end
  for count, name in said:gmatch "counted (%d+) (%w+)\n" do totals[name] = (totals[name] or 0) + count end
  local after = tonumber(said:match "child is done at (%d+)\nstatus 0\n$")
  if not after then
    after = reached + 1
    wrong[#wrong + 1] = ("FAILED case %d: the program died or hung:\n%s"):format(reached, said:sub(-4000))
  end
  return after, wrong[1] and table.concat(wrong, "\n") or nil
end

local function counted()
  local names, out = {}, {}
  for name in pairs(totals) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do out[i] = (", %d %s"):format(totals[name], name) end
  return table.concat(out)
end

--- Runs the fuzzer as the command line says.
function fuzzer.main(case)
  local file, options = arg[0], options_of(arg)
  if options.child then return child(case, options.seed, options.first, options.last, options.child) end
  if options.only then
    if options.told == 1 then
      function fuzzer.said(what) io.stderr:write(what, "\n") end
    end
    local folder = new_folder()
    local problem = run_one(case, options.seed, options.only, folder)
    os.execute("rm -rf " .. folder)
    print(problem or "nothing is wrong")
    os.exit(problem and 1 or 0)
  end
  local end_s = options.minutes and os.time() + 60 * options.minutes
  local next_case, failed = 1, 0
  while end_s and os.time() < end_s or not end_s and next_case <= options.cases do
    local last = next_case + cases_per_child - 1
    if not end_s then last = math.min(last, options.cases) end
    local wrong
    next_case, wrong = run_child(file, options.seed, next_case, last)
    if wrong then
      print(wrong)
      failed = failed + 1
    end
    if end_s or last < options.cases then print(("%d cases so far%s"):format(next_case - 1, counted())) end
    io.stdout:flush()
  end
  print(("%s: seed %d, %d cases%s"):format(file:match "[^/]*$", options.seed, next_case - 1, counted()))
  print(("%d passed, %d failed"):format(failed == 0 and 1 or 0, failed))
  os.exit(failed == 0 and 0 or 1)
end

return fuzzer
