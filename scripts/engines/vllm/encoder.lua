--- vLLM: when images, sounds and videos are encoded, and how long their embeddings are kept. Budget and cache are the
--- tokens of a step, or those of the largest item.
local encoder = {}

function encoder.options()
  return {
    { "disable_chunked_mm_input", flag = "--disable-chunked-mm-input", negates = true, type = "switch",
      read_by = "encoder_splits", doc = "no chunk of a prompt ends inside of an image, a sound or a video" },
  }
end

local function splits(_, own) return not own.disable_chunked_mm_input end

encoder.rules = {
  { encoder_whole = true, encoder_pins = true, encoder_shares = false,
    source = "vllm/worker/model_runner.py of V0: a prompt's images are encoded in its own step" },
  { code = "vllm/v1/core/encoder_cache_manager.py: compute_mm_encoder_budget", seen = "0.34",
    { since = "0.8", encoder_whole = false, encoder_by_step = true, encoder_splits = splits,
      source = "vllm/v1/core/sched/scheduler.py, _try_schedule_encoder_inputs; vllm/v1/core/encoder_cache_manager.py" },
    { since = "0.10.2", encoder_shares = true,
      source = "pull request 22711: embeddings are kept by the hash of their item, until others need the room" },
  },
}

return encoder
