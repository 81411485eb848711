--- Named distributions of lengths that other tools use, with Poisson arrivals.
local arrivals = require "rooflua.arrivals"
local lengths = require "rooflua.lengths"
local policy = require "rooflua.policy"

---@class workloads.Presets: rooflua.Workload
---@field preset string
local Presets = policy.define {
  name = "presets",
  doc = "chatbot, content_generation, summarization or multi_document: normal lengths, clamped.",
  source = "inference-perf and BLIS workload presets; arrivals Poisson here, evenly spaced in BLIS",
  params = {
    preset = { default = "chatbot", values = { "chatbot", "content_generation", "summarization", "multi_document" },
      doc = "Name of the preset." },
    rate_per_s = { default = 1.0, unit = "requests/s", min = 0, exclusive_min = true,
      doc = "Mean arrival rate." },
    num_requests = { default = 1000, unit = "requests", min = 1, integer = true,
      doc = "Number of requests." },
    max_output_tokens = arrivals.limit_parameter(),
    even = { default = false, doc = "Evenly spaced arrivals instead of Poisson." },
  },
}

local function normal(mean, deviation, min, max)
  return { distribution = "normal", mean = mean, deviation = deviation, min = min, max = max }
end
Presets.lengths = {
  chatbot = { normal(256, 100, 2, 800), normal(256, 100, 1, 1024) },
  content_generation = { normal(1024, 150, 10, 2048), normal(1024, 200, 10, 2048) },
  summarization = { normal(4096, 500, 100, 8192), normal(512, 150, 10, 2048) },
  multi_document = { normal(10240, 1200, 500, 20480), normal(1536, 300, 50, 4096) },
}

local function exponential_gap(state) return state.gaps:exponential(state.rate) end
local function even_gap(state) return 1 / state.rate end

--- The longest request that can be drawn, in tokens.
function Presets:longest()
  local chosen = Presets.lengths[self.preset]
  return lengths.most(chosen[1]) + lengths.most(chosen[2])
end

---@param rng rooflua.Random
function Presets:requests(rng)
  local chosen = Presets.lengths[self.preset]
  return arrivals.open_loop({
    prompt_tokens = chosen[1],
    output_tokens = chosen[2],
    rate_per_s = self.rate_per_s,
    num_requests = self.num_requests,
    max_output_tokens = self.max_output_tokens,
  }, rng, self.even and even_gap or exponential_gap)
end

return Presets
