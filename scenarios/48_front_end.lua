--- When is the API server slower than the GPU?
---
--- Setup     Qwen3-8B, FP8, on one H200, and chats of 128 prompt tokens from 256 clients, each of which sends its next
---           chat when it has seen the last chunk of an answer.
--- Method    Answers of 4 and of 256 tokens; the front end of vLLM 0.11 with one, two and four API servers, with a
---           chunk for every eight tokens, and without the queue, as a delay alone.
--- Measures  Requests per second, TTFT, and how busy the front end is.
--- Expect    One API server is 100 % busy: 10 ms a chat and 65 us a chunk are all that counts for short answers, and
---           more servers help until the GPU is the limit. First tokens come late, since chats wait for those that came
---           meanwhile, and chunks behind chats. With long answers chunks are as many as tokens, and a longer interval
---           helps as well.
--- Limits    Times of a chat and a chunk are priors: 1 to 5 ms in releases that do not look for a processor with each
---           chat, 2 to 20 ms in those that do; 65 to 78 us a chunk.
local load = require "workloads.closed_loop"

local function queue(more)
  local out = { endpoint = "chat" }
  for key, value in pairs(more or {}) do out[key] = value end
  return { frontend = out }
end

return {
  rooflua = 1,
  title = "A front end that is a queue",
  seed = 48,
  model = "qwen3-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.11",
  deployment = { weights = "fp8" },
  vary = {
    workload = {
      { label = "4 tokens",
        value = load { clients = 256, num_requests = 1024, prompt_tokens = 128, output_tokens = 4 } },
      { label = "256 tokens",
        value = load { clients = 256, num_requests = 1024, prompt_tokens = 128, output_tokens = 256 } },
    },
    frontend = {
      { label = "no queue", set = {} },
      { label = "1 server", set = queue() },
      { label = "2 servers", set = queue { servers = 2 } },
      { label = "4 servers", set = queue { servers = 4 } },
      { label = "8 tokens a chunk", set = queue { stream_interval = 8 } },
    },
  },
}
