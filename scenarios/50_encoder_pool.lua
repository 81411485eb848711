--- When does a pool of encoders pay?
---
--- Setup     Qwen3-VL-30B-A3B, bf16, four H200 with vLLM 0.24: all four compute prompts and answers, and encode; or one
---           of them only encodes, or two do.
--- Method    The same requests: 500 tokens of text and 100 of answer; no images, or eight of 1280 x 720 pixels.
---           Embeddings leave an encoder over its network interface.
--- Measures  TTFT p50 and p99, the gap between tokens p99, what passes of the encoder take in all, throughput.
--- Expect    A pass of eight images delays the decodes of its step. With one GPU that only encodes the longest gaps
---           fall from 217 to 136 ms, and TPOT by a sixth. A request passes two queues, and a pass takes two requests
---           together, so TTFT p50 rises from 0.4 to 0.7 s. Without images that GPU does nothing, and TPOT rises by a
---           quarter. Two of four are too many: decodes are slow where the others are full. A pool pays where gaps
---           count, and where images are a known, large part of the work.
--- Limits    One pool of encoders, all alike; embeddings go once, whichever replica gets the request.
local function layout(label, both, encoders)
  local list = { { count = both } }
  if encoders > 0 then list[2] = { encoder = true, count = encoders } end
  return { label = label, value = list }
end

local function pictures(label, rate, images)
  return { label = label, value = require "workloads.pictures" { rate_per_s = rate, num_requests = 400,
    prompt_tokens = 500, output_tokens = 100, images = images } }
end

return {
  rooflua = 1,
  title = "Replicas that encode themselves, and replicas that only encode",
  seed = 7,
  model = "qwen3-vl-30b-a3b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  router = require "routers.least_outstanding" {},
  network = { bytes_per_s = 50e9 },
  vary = {
    workload = { pictures("no images", 40, {}),
      pictures("8 images", 12, { count = 8, sizes = { { 1280, 720 } } }) },
    replicas = { layout("4", 4, 0), layout("3 + 1", 3, 1), layout("2 + 2", 2, 2) },
  },
  report = function(results)
    local rows = { { "requests", "replicas", "TTFT p50 ms", "TTFT p99 ms", "gap p99 ms", "encoding s", "tokens/s" } }
    for _, result in ipairs(results) do
      local s = result.summary
      rows[#rows + 1] = { result.name:match "workload=([^,]*)", result.name:match "replicas=([^,]*)",
        s.ttft_s.p50 * 1000, s.ttft_s.p99 * 1000, s.itl_s.p99 * 1000, s.encoder and s.encoder.encode_s or 0,
        s.output_tokens_per_s }
    end
    return rows
  end,
}
