--- Recorded requests, replayed.
local arrivals = require "rooflua.arrivals"
local policy = require "rooflua.policy"
local trace = require "rooflua.trace"

---@class workloads.Trace: rooflua.Workload
---@field path string
local Trace = policy.define {
  name = "trace",
  doc = "Replays a trace: BLIS TraceV2, Azure 2023, Mooncake, BurstGPT, AIPerf, OTLP spans, vllm bench serve, plain "
    .. "CSV or JSONL, rooflua's own.",
  source = "docs/DATA.md",
  params = {
    path = { default = "", doc = "The file; looked for in the folder of the scenario, then in the working directory." },
    format = {
      default = "",
      values = { "", "plain", "requests", "azure", "burstgpt", "mooncake", "blis_v2", "blis_training", "aiperf",
        "otlp", "vllm_bench" },
      doc = "Format of the file; empty: found by its columns." },
    limit = { default = 0, unit = "requests", min = 0, integer = true,
      doc = "Replay only this many of the first requests to arrive; 0 = all." },
    sort = { default = false, doc = "Accept rows that are not in order of arrival." },
    max_output_tokens = arrivals.limit_parameter(),
    time_unit = { default = "", values = { "", "s", "ms", "us", "ns" },
      doc = "Unit of arrivals; empty: by the name of their column, else derived from the stamps, with a note." },
    run = { default = "", doc = "Which result of a file of several (vllm_bench): its number or name." },
    hash_block_tokens = { default = 512, unit = "tokens", min = 1, integer = true,
      doc = "Tokens of one id in hash_ids; 512 in Mooncake's files." },
    time_scale = { default = 1.0, unit = "1", min = 0, max = 1e6,
      doc = "Multiplies arrival times: 0.5 is twice the load, 0 all at once." },
  },
}

--- The engine reads the file: its rows never become Lua values, unless they have images, sounds or videos.
function Trace:requests()
  return trace.requests(trace.open(self.path, self.format, self.limit, self.sort, self.time_scale,
    arrivals.limit(self), self.hash_block_tokens, self.time_unit, self.run))
end

return Trace
