-- `genai-perf profile`: AIPerf's flags of before it was renamed, and a duration of the measurement.
local core = require "rooflua.base.core"
local aiperf = require "rooflua.bench.aiperf"

return core.copy(aiperf, {
  title = "genai-perf profile",
  starts = { "genai-perf profile", "genai-perf" },
  without_effect = core.copy(aiperf.without_effect, { ["measurement-interval"] = "value",
    ["service-kind"] = "value", ["stability-percentage"] = "value", backend = "value", ["generate-plots"] = "switch",
    ["num-dataset-entries"] = "value" }),
})
