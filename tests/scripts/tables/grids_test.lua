-- Grids of attention that were filled for one deployment answer for another with the same attention, and only for it.
local test = dofile "tests/scripts/harness.lua"
local grids = require "steps.kernels.grids"
local mfu = require "rooflua.mfu"

local axes = { batch = true }

test("a grid is filled once for a question, whatever the numbers on its axes", function()
  local database, other = mfu.open "h100-sxm", mfu.open "h100-sxm"
  local fills = 0
  local function number(from, query)
    local place = grids.of(from, query, axes)
    if not place:known() then
      fills = fills + 1
      place:keep { number = fills }
    end
    return place:known().number
  end
  test.equal(number(database, { op = "attention_decode", heads = 32, tp = 1, batch = 1 }), 1)
  test.equal(number(database, { op = "attention_decode", heads = 32, tp = 1, batch = 7 }), 1)
  test.equal(number(database, { op = "attention_decode", heads = 32, tp = 2, batch = 1 }), 2)
  test.equal(number(database, { op = "attention_decode", heads = 3, tp = 21, batch = 1 }), 3)
  test.equal(number(other, { op = "attention_decode", heads = 32, tp = 1, batch = 1 }), 4)
  test.equal(number(database, { op = "attention_decode", heads = 32, tp = 1 }), 1)
end)

test("a database that nothing else refers to is given back with its grids", function()
  local seen = setmetatable({}, { __mode = "k" })
  local function open()
    local database = mfu.open "l40s"
    grids.of(database, { op = "attention_decode" }, axes):keep { times = {} }
    seen[database] = true
  end
  open()
  for _ = 1, 3 do collectgarbage() end
  test.equal(next(seen), nil)
end)

test.finish()
