-- Runs one variant of a scenario that is no search: the kinds "price", "static" and "serve". The modules of a kind are
-- loaded when a scenario of that kind runs, because loading all of them takes longer than a small scenario.
local fresh = require "rooflua.machine.fresh"
local Prepared = require "rooflua.machine.prepared"

local single = {}

--- A priced scenario: its policies remember nothing of an earlier variant.
local function priced(reader, given) return Prepared.of(reader, fresh.of(reader, given)) end

local runners = {
  price = function(reader, given, options)
    return require("rooflua.machine.prices").price(priced(reader, given), options)
  end,
  static = function(reader, given) return require("rooflua.machine.prices").static(priced(reader, given)) end,
  serve = function(reader, given, options)
    if options.emulate then return require("rooflua.serving.emulated").run(reader, given, options) end
    return require("rooflua.serving.full_run").run(reader, given, options)
  end,
}

local checks = {
  price = function(reader, given) require("rooflua.machine.prices").batches(Prepared.of(reader, given)) end,
  static = function(reader, given) Prepared.of(reader, given) end,
  serve = function(reader, given) require("rooflua.serving.pieces").check(reader, given) end,
}

--- Whether scenarios of this kind are one run per variant.
function single.has(kind) return runners[kind] ~= nil end

--- options: what rooflua.serving.full_run takes, or prices.price.
function single.run(kind, reader, given, options) return runners[kind](reader, given, options or {}) end

--- Finds what is wrong without running it.
function single.check(kind, reader, given) checks[kind](reader, given) end

return single
