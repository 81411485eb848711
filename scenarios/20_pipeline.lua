--- Llama-3.1-405B on two nodes of eight H100: tensor parallelism over both, or a pipeline of two?
---
--- Setup     Llama-3.1-405B, bf16, on 16 H100 in two nodes: tp 16, or tp 8 in each of two stages (pp 2). Inside of a
---           node NVLink, between the nodes one network card of 50 GB/s per GPU.
--- Method    Closed loops of 1, 16 and 128 clients, prompts of 2,000 tokens, answers of 200. The all-reduces of tp 16
---           cross the network (correction `network`); in a pipeline only the activations between the stages do.
--- Measures  Throughput, TTFT and TPOT.
--- Expect    One client: a token of tp 16 reads a sixteenth of the weights on each GPU; in a pipeline it passes two
---           stages that each read an eighth, one after the other. So tp 16 has the shorter TPOT, although half of
---           it are all-reduces. With many clients both stages are busy, with different steps. Then the pipeline has
---           the higher throughput: the all-reduces of prompts over the network are what tp 16 adds, and its GEMMs
---           are half as wide. The pipeline's KV cache holds twice as many tokens, because 16 ranks hold each of the
---           8 KV heads twice.
--- Limits    The all-reduce of 16 ranks is that of 8 ranks with assumed additions, and a transfer between stages has an
---           assumed latency. A stage's share of a step is that of its weights, whatever the batch. Host time is
---           divided over the stages.
local network = require "corrections.network" {}

local function clients(count, requests)
  return { label = count .. (count == 1 and " client" or " clients"), value = require "workloads.closed_loop" {
    clients = count, num_requests = requests, prompt_tokens = 2000, output_tokens = 200 } }
end

return {
  rooflua = 1,
  title = "Llama-3.1-405B on two nodes: tensor parallelism or a pipeline",
  seed = 3,
  model = {
    name = "llama-3.1-405b", layers = 126, hidden_size = 16384, heads = 128, kv_heads = 8, head_dim = 128,
    intermediate_size = 53248, vocab_size = 128256, max_model_len = 131072, tied_embeddings = false, dtype = "bf16",
  },
  hardware = "h100-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  corrections = { network },
  vary = {
    deployment = {
      { label = "tp 16", value = { tp = 16 } },
      { label = "tp 8, pp 2", value = { tp = 8, pp = 2 } },
    },
    workload = { clients(1, 4), clients(16, 96), clients(128, 384) },
  },
}
