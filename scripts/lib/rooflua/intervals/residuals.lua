-- Quantiles of log(measured / simulated) of public closed loops: those of simulations that rest on tables, and of
-- simulations that rest on models (intervals/kinds.lua). intervals/making.lua says how they are made.
return { tables = require "rooflua.intervals.residuals_on_tables",
  models = require "rooflua.intervals.residuals_on_models" }
