-- Files that are no traces, or harmful ones, end in an error that names file and place.
local test = dofile "tests/scripts/harness.lua"
local capture = require "rooflua.profile.capture"

local path = os.tmpname()

local function written(text, name)
  local own = name or path
  local file = assert(io.open(own, "wb"))
  file:write(text)
  file:close()
  return own
end

local function refused(part, text, name)
  local own = written(text, name)
  local ok, problem = pcall(capture.open, { own })
  if name then os.remove(name) end
  test.check(not ok, "no error for %s", part)
  problem = tostring(problem)
  test.check(problem:find(own, 1, true), "%s: the file is not named", problem)
  test.check(problem:find(part, 1, true), "expected '%s', found: %s", part, problem)
  return problem
end

local function event(more, of)
  return ('{"ph":"X","cat":"%s","name":"k","pid":0,"tid":7,%s}'):format(of or "kernel", more)
end
local function trace(...) return '{"traceEvents":[' .. table.concat({ ... }, ",") .. "]}" end
local good = event '"ts":1,"dur":2'

test("a trace is read", function()
  local ranks = capture.open { written(trace(good, event '"ts":5,"dur":2.5')) }
  test.equal(#ranks, 1)
  test.equal(ranks[1].kernels.count, 2)
  test.equal(ranks[1].file.events[1].start_ns, 4000)
  test.equal(ranks[1].file.events[1].duration_ns, 2500)
end)

test("times since 1970 keep their nanoseconds", function()
  local ranks = capture.open { written(trace(event '"ts":1738000000000000.125,"dur":1',
    event '"ts":1738000000000002.250,"dur":1')) }
  test.equal(ranks[1].file.events[1].start_ns, 2125)
end)

test("a truncated file names the byte", function()
  test.check(refused("truncated", trace(good):sub(1, -10)):find "byte %d+", "no place")
  refused("truncated", "{")
end)

test("files that are none are refused", function()
  refused("is empty", "")
  refused("traceEvents", "{}")
  refused("byte", "hello")
  refused("has no kernel", trace(event('"ts":1,"dur":2', "cpu_op")))
  refused("not a gzip file", trace(good), path .. ".json.gz")
  refused("truncated", "\31\139\8\0\0\0\0\0\0\3\171\86\42\41\74", path .. ".gz")
  refused("nsys export", "nsys", path .. ".nsys-rep")
  test.raises("is a folder", function() capture.open { "tests" } end)
  test.raises("cannot be read", function() capture.open { path .. ".none" } end)
  test.raises("is given twice", function() capture.open { written(trace(good)), path } end)
end)

test("negative times and wrong types name the byte", function()
  for _, each in ipairs { { "ends before it begins", '"ts":1,"dur":-2' }, { "begins before time 0", '"ts":-1,"dur":2' },
    { "expected a number", '"ts":"x","dur":2' }, { "expected a number", '"ts":1,"dur":"2"' },
    { "without 'ts' or 'dur'", '"ts":1' }, { "beyond", '"ts":1e300,"dur":1' },
    { "beyond", '"ts":1,"dur":99999999999999999999' }, { "'device'", '"ts":1,"dur":1,"args":{"device":4096}' },
    { "expected a text", '"ts":1,"dur":1,"name":5' } } do
    test.check(refused(each[1], trace(good, event(each[2]))):find "byte %d+", "%s: no place", each[2])
  end
  refused("expected a list", '{"traceEvents":"x"}')
end)

test("huge names, deep nesting and a million threads are refused", function()
  refused("a name of more than", trace(good, event('"ts":1,"dur":2,"name":"' .. ("x"):rep(70000) .. '"')))
  refused("MiB", trace(good, event('"ts":1,"dur":2,"args":{"a":"' .. ("x"):rep(18 * 2 ^ 20) .. '"}')))
  refused("deep", trace(good, event('"ts":1,"dur":2,"args":{"a":' .. ("["):rep(100000))))
  refused("deep", ('{"a":'):rep(100000))
  local many = {}
  for i = 1, 70000 do
    many[i] = ('{"ph":"X","cat":"cpu_op","name":"k","pid":0,"tid":%d,"ts":%d,"dur":1}'):format(i, i)
  end
  refused("threads and streams", trace(table.concat(many, ",")))
end)

test("mutated traces end in an error or are read", function()
  local whole = trace(good, event('"ts":5,"dur":2.5,"args":{"Input Dims":[[1,2],[2,3],[]],"External id":3}',
    "cpu_op"), good)
  for i = 1, 2000 do
    local at = 1 + (i * 7919) % #whole
    local text = whole:sub(1, at - 1) .. string.char((i * 31) % 256) .. whole:sub(at + 1 + i % 3)
    local ok, problem = pcall(capture.open, { written(text) })
    test.check(ok or tostring(problem):find(path, 1, true), "%s: %s", text, tostring(problem))
  end
end)

os.remove(path)
test.finish()
