-- Random streams as scripts see them: what a stream is asked in between changes none of its values.
local test = dofile "tests/scripts/harness.lua"
local ffi = require("rooflua.border.abi").ffi
local random = require "rooflua.random"

test("uniform values are the draws of the stream, however often they are asked for", function()
  for _, low in ipairs { 0, -2 } do
    local stream = random.streams(4):stream "draws"
    local at = 0
    for round = 1, 40 do
      for i = 1, round do
        local high = i % 11 < 6 and 2 or 5
        test.equal(stream:uniform(low, high), low + (high - low) * stream:at(at))
        at = at + 1
      end
      stream:normal(1, 1) -- a draw of another distribution
      at = at + 1
    end
  end
end)

test("a copy goes on in the middle of the values that were made ahead, and neither changes the other", function()
  local stream = random.streams(4):stream "copied"
  for _ = 1, 20 do stream:lognormal(5, 1) end
  local copy, values = random.copy(stream), {}
  for i = 1, 60 do values[i] = stream:lognormal(5, 1) end
  for i = 1, 60 do test.equal(copy:lognormal(5, 1), values[i]) end
  test.equal(copy:integer(1, 1e9), stream:integer(1, 1e9))
end)

test("other parameters, other distributions: each draw is the next one", function()
  local function all(pause)
    local stream, out = random.streams(9):stream "mixed", {}
    for i = 1, 200 do
      out[#out + 1] = stream:exponential(i % 7 < 4 and 2 or 3)
      if i % 20 == 0 then out[#out + 1] = stream:gamma(0.5, 1) + stream:poisson(20) end
      if i % 11 == 0 then out[#out + 1] = stream:weibull(2, i % 2 + 1) + stream:pareto(2, 1) end
      if pause then stream = random.copy(stream) end
    end
    return out
  end
  local straight, copied = all(false), all(true)
  for i = 1, #straight do test.equal(copied[i], straight[i]) end
end)

test("a parameter outside its range is an error, and takes no draw", function()
  local stream = random.streams(4):stream "wrong"
  for _ = 1, 10 do stream:normal(0, 1) end
  local next_value = random.copy(stream):normal(0, 1)
  test.raises("normal(0, -1): a parameter is outside its range", function() stream:normal(0, -1) end)
  test.raises("normal(x, 1)", function() stream:normal("x", 1) end)
  test.raises("lognormal(nil, nil)", function() stream:lognormal() end)
  test.equal(stream:normal(0, 1), next_value)
end)

test("a script cannot write to a stream, nor look after its end", function()
  local stream = random.streams(4):stream "own"
  test.raises("read-only", function() stream.seed = 1 end)
  test.raises("constant", function() stream.n1 = 1 end)
  test.raises("no method count", function() return stream.count end)
  for i = 1, ffi.sizeof(stream) / 8 do test.equal(type(stream["n" .. i]), "number") end
  test.raises("expected a random stream, found table", function() stream.uniform {} end)
end)

test.finish()
