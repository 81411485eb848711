-- Runs one variant of a scenario that is no search: the kinds "price", "static" and "serve".
local Prepared = require "rooflua.scenario.prepared"
local prices = require "rooflua.scenario.prices"
local served = require "rooflua.serving.whole"
local serving = require "rooflua.serving.pieces"

local single = {}

local runners = {
  price = function(reader, given) return prices.price(Prepared.of(reader, given)) end,
  static = function(reader, given) return prices.static(Prepared.of(reader, given)) end,
  serve = served.run,
}

local checks = {
  price = function(reader, given) prices.batches(Prepared.of(reader, given)) end,
  static = function(reader, given) Prepared.of(reader, given) end,
  serve = function(reader, given) serving.check(reader, given) end,
}

--- Whether scenarios of this kind are one run per variant.
function single.has(kind) return runners[kind] ~= nil end

--- options: what rooflua.serving.whole takes.
function single.run(kind, reader, given, options) return runners[kind](reader, given, options or {}) end

--- Finds what is wrong without running it.
function single.check(kind, reader, given) checks[kind](reader, given) end

return single
