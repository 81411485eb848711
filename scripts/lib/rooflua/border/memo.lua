-- Remembered prices: an exact cache of a pure priced function, which replays the seconds of each evidence that it adds
-- to the account (rooflua.border.ledger). While an explanation listens, nothing is taken from it: rows are wanted.
-- Corrections change prices: what is remembered under some is used under the same list of them alone.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local ffi = require("rooflua.border.abi").ffi

local fail, type = core.fail, type

local state = ffi.cast("rooflua_ledger *", native.ledger)
local seconds = ffi.cast("double *", native.ledger) -- those of `state`, its first field

local memo = {}

local most_entries = 262144
-- A remembered price: as long as a line of the processor's cache. What finds prices is in one struct, so that compiled
-- code reads it without asking for types.
ffi.cdef [[
typedef struct { double time_s, seconds[6], unused; } __attribute__((aligned(64))) rooflua_remembered;
typedef struct { int32_t *direct; rooflua_remembered *prices; int32_t size, corrected; } rooflua_memo;
]]
local remembered, remembered_bytes = ffi.typeof "rooflua_remembered[?]", ffi.sizeof "rooflua_remembered"
-- Whole numbers below this are found by their own value, so that compiled code finds all of them in one way. Lua's
-- tables keep some of them in an array and others in a hash.
local most_direct, direct_of = 16384, ffi.typeof "int32_t[?]"

local function check_function(fn, what)
  if type(fn) ~= "function" then
    fail("%s: expected a function, found %s", what, core.describe(fn))
  end
end

-- Lists of corrections whose prices one memo keeps besides those without corrections.
local most_lists = 8

--- An empty memory of prices: `direct` has the place of a key's price in `prices`, from 1; 0: it is not known. `places`
--- has those of keys that are not direct.
local function empty() return { entries = 0, room = 16, prices = remembered(16), direct = direct_of(64), size = 64,
  places = {} } end

--- The place for one more price.
local function next_place(kept)
  if kept.entries >= most_entries then
    kept.entries, kept.places = 0, {}
    ffi.fill(kept.direct, 4 * kept.size)
  end
  kept.entries = kept.entries + 1
  if kept.entries == kept.room then
    local longer = remembered(2 * kept.room)
    ffi.copy(longer, kept.prices, kept.room * remembered_bytes)
    kept.prices, kept.room = longer, 2 * kept.room
  end
  return kept.entries
end

local function remember(kept, key, place)
  if not (key >= 0 and key < most_direct and key % 1 == 0) then
    kept.places[key] = place
    return
  end
  if key >= kept.size then
    local size = kept.size
    while key >= size do size = 2 * size end
    local longer = direct_of(size)
    ffi.copy(longer, kept.direct, 4 * kept.size) -- the sizeof of such an array is not compiled
    kept.direct, kept.size = longer, size
  end
  kept.direct[key] = place
end

--- Remembers a priced function of one number: its results, and the seconds per evidence that it adds. The function
--- must depend on nothing else. A second number is passed on while an explanation listens: how many rows there are of
--- those that the first one asks for, which changes rows and no price.
function memo.memoize(fn)
  check_function(fn, "cost.memoize")
  local by_corrections, lists, kept, places = {}, 0, nil, nil
  local owner = ffi.new "rooflua_memo"
  local own = ffi.cast("rooflua_memo *", owner)
  local function look()
    owner.direct, owner.prices, owner.size, places = kept.direct, kept.prices, kept.size, kept.places
  end
  --- Takes the prices under the corrections with this number (rooflua_ledger.corrected).
  local function use(corrected)
    kept = by_corrections[corrected]
    if not kept then
      lists = lists + 1
      if lists > most_lists then by_corrections, lists = { [0] = by_corrections[0] }, 1 end
      kept = empty()
      by_corrections[corrected] = kept
    end
    owner.corrected = corrected
    look()
  end
  use(0)
  --- `a` to `f`: the seconds of each evidence. By name, because variable arguments end a trace of the compiler.
  local function keep(key, time_s, a, b, c, d, e, f)
    if type(time_s) ~= "number" then return time_s end
    local place = next_place(kept)
    local one = kept.prices[place]
    one.time_s = time_s
    local each = one.seconds
    each[0], each[1], each[2], each[3], each[4], each[5] = a, b, c, d, e, f
    remember(kept, key, place)
    look()
    return time_s
  end
  local again
  --- What is not remembered, and everything while an explanation listens.
  local function ask(key, there)
    if state.listening ~= 0 then return (fn(key, there)) end
    if type(key) ~= "number" or key ~= key then
      fail("a memoized function takes one number, found %s", core.describe(key))
    end
    if own.corrected ~= state.corrected then
      use(state.corrected)
      return (again(key, there))
    end
    return (keep(key, native.price_apart(fn, key)))
  end
  -- Few lines: steps run this several times, and every line has an interrupt guard.
  again = function(x, there)
    local at = type(x) == "number" and x >= 0 and x < own.size and x % 1 == 0 and own.direct[x] or places[x] or 0
    if at == 0 or state.listening ~= 0 or own.corrected ~= state.corrected then return (ask(x, there)) end
    local s, a, time_s = seconds, own.prices[at].seconds, own.prices[at].time_s
    s[0], s[1], s[2], s[3], s[4], s[5] = s[0] + a[0], s[1] + a[1], s[2] + a[2], s[3] + a[3], s[4] + a[4], s[5] + a[5]
    return time_s
  end
  return again
end

local base = 67108864 -- 2^26: two whole numbers below it fit one double

--- The same for a function of two whole numbers below 2^26.
function memo.memoize2(fn)
  check_function(fn, "cost.memoize2")
  local one = memo.memoize(function(key)
    local b = key % base
    return fn((key - b) / base, b)
  end)
  return function(a, b, there)
    if state.listening ~= 0 then return (fn(a, b, there)) end
    if type(a) == "number" and type(b) == "number" and a >= 0 and a < base and b >= 0 and
      b < base and a % 1 == 0 and b % 1 == 0 then
      return (one(a * base + b))
    end
    return (fn(a, b))
  end
end

return memo
