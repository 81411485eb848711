--- What does a gate do to a burst, and by how much does it overshoot?
---
--- Setup     Llama-3.1-8B, bf16, on two H100, 32 requests at once each. 2 requests/s, and 60 requests/s in the first
---           3 s of every 20 s; 2,000-token prompts, 150-token answers.
--- Method    No gate; requests that wait in front of the router while both replicas are saturated; load that is read
---           every 50 ms, and a request per millisecond, as llm-d's flow control has it, without and with credit for
---           what was let go since; and requests that are refused instead of held.
--- Measures  Requests held and refused, TTFT, the time in the queues of engines, goodput.
--- Expect    A gate that holds moves the queue and changes little for who waits: TTFT counts from sending and is about
---           the same, and the queues of engines stay short. With old load dozens go at once; credit takes that back.
---           Refusing lowers TTFT of those who are left, which says nothing of the others.
--- Limits    One class, and no client that gives up or tries again.
local Bands = require "admission.bands"
local Saturation = require "admission.saturation"

return {
  rooflua = 1,
  title = "A burst and a gate",
  seed = 7,
  model = "llama-3.1-8b",
  hardware = "h100-sxm",
  replicas = 2,
  router = "least_outstanding",
  scheduler = require "schedulers.vllm_v1" { max_num_seqs = 32 },
  slo = { ttft_s = 2 },
  workload = require "workloads.burst" { rate_per_s = 2, burst_rate_per_s = 60, period_s = 20, burst_s = 3,
    num_requests = 800, prompt_tokens = 2000, output_tokens = 150 },
  vary = {
    admission = {
      { label = "no gate", value = "always" },
      { label = "holds, fresh load", value = Saturation { full = "hold" } },
      { label = "load of 50 ms", value = Bands {} },
      { label = "the same with credit", value = Bands { credit = true } },
      { label = "refuses", value = Saturation {} },
    },
  },
  report = function(results)
    local rows = { { "gate", "held", "held p99 s", "refused", "completed", "TTFT p50 s", "TTFT p99 s",
      "at engines p99 s", "goodput /s" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "=(.*)", s.gate.held, s.gate.held_s.p99 or 0, s.gate.refused,
        ("%d of %d"):format(s.completed, s.gate.offered), s.ttft_s.p50, s.ttft_s.p99, s.queue_s.p99, s.goodput_per_s }
    end
    return rows
  end,
}
