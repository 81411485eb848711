--- How vLLM's ranks share the encoder of images, when it runs, how long its output is kept, and what an image costs
--- on the host before. Each rank has a part of the encoder's weights, or all of them and some of the images. A pass and
--- the cache have as many embeddings as a step has tokens; an image alone may have more.
local host_source = "pull request 50411 of 2026-07-30: 12.22 ms for an image of 1024 x 1024 pixels in the processor of "
  .. "transformers, 6.27 ms where the GPU scales its pixels"

--- What vLLM's example of engines that only encode is started with; every engine sees the folder that carries their
--- embeddings. Between them stands a proxy.
local connector = [[{"ec_connector":"ECExampleConnector","ec_role":"%s",]]
  .. [["ec_connector_extra_config":{"shared_storage_path":"${EC_PATH}"}}]]

--- Families whose classes have supports_mm_device_do_normalize, so that they have it unless it is refused.
local scales = { qwen2_vl = true, qwen2_5_vl = true }

local function scales_on_gpu(facts, own)
  return facts.model ~= nil and scales[facts.model.family] and own.mm_device_do_normalize ~= false
end

local function splits(_, own) return not own.disable_chunked_mm_input end

return {
  encode_pool = { since = "0.13",
    encode = { "--enforce-eager", "--no-enable-prefix-caching", "--ec-transfer-config",
      connector:format "ec_producer" },
    serve = { "--ec-transfer-config", connector:format "ec_consumer" },
    asks = { { "EC_PATH", "the folder that all engines see" } },
    front = "requests go through examples/disaggregated/disaggregated_encoder/disagg_epd_proxy.py of vLLM",
    source = "docs/features/disagg_encoder.md and its example disagg_1e1pd_example.sh; pull requests 25233 and 30201, "
      .. "which named the connector so: that 0.13 is the first with it follows from the date" },
  options = {
    { "ec_transfer_config", flag = "--ec-transfer-config", type = "json",
      encodes = function(fields) return fields.ec_role == "ec_producer" end,
      note = "embeddings go over the scenario's network, whatever carries them",
      elsewhere = function(value)
        return value:find "ec_producer" and "say encoder = true in an entry of `replicas`" or nil
      end,
      doc = "which engines encode, and how embeddings come from them" },
    { "disable_chunked_mm_input", flag = "--disable-chunked-mm-input", negates = true, type = "switch",
      read_by = "encoder_splits", doc = "no chunk of a prompt ends inside of an image, a sound or a video" },
    { "mm_encoder_tp_mode", since = "0.10.2", flag = "--mm-encoder-tp-mode", type = "text",
      values = { "weights", "data" }, read_by = "encoder_mode",
      doc = "ranks divide the encoder of images, or encode whole images each" },
    { "enable_multimodal_encoder_data_parallel", since = "0.10", flag = "--enable-multimodal-encoder-data-parallel",
      negates = true, type = "switch", read_by = "encoder_mode", doc = "the same of 0.10: ranks encode whole images" },
    { "mm_device_do_normalize", since = "0.28", flag = "--mm-device-do-normalize", negates = true, type = "switch",
      read_by = "pixel_s", doc = "pixels are scaled on the GPU, not on the host" },
  },
  rules = {
    { before = "0.8", encoder_whole = true, encoder_pins = true, encoder_shares = false,
      source = "vllm/worker/model_runner.py of V0: a prompt's images are encoded in its own step" },
    { code = "vllm/v1/core/encoder_cache_manager.py: compute_mm_encoder_budget", seen = "0.34",
      { since = "0.8", encoder_whole = false, encoder_by_step = true, encoder_splits = splits,
        source = "vllm/v1/core/sched/scheduler.py, _try_schedule_encoder_inputs; v1/core/encoder_cache_manager.py" },
      { since = "0.8", encoder_pins = true, seen = "0.28",
        code = "vllm/v1/core/encoder_cache_manager.py: EncoderCacheManager.can_allocate", source = "the same" },
      { since = "0.8", before = "0.10.2", encoder_shares = false, source = "the same" },
      { since = "0.10.2", encoder_shares = true,
        source = "pull request 22711: embeddings are kept by the hash of their item, until others need the room" },
    },
    { code = "vllm/config/model.py: ModelConfig._resolve_mm_device_do_normalize", seen = "0.28",
      { before = "0.28", pixel_s = 11.65e-9, source = host_source },
      { since = "0.28", pixel_s = function(facts, own) return scales_on_gpu(facts, own) and 5.98e-9 or 11.65e-9 end,
        source = host_source .. ", merged on 2026-08-06; whether 0.27 of 2026-08-10 has it was not read" } },
    { before = "0.10", encoder_mode = "weights",
      source = "vllm/model_executor/layers/linear.py: encoders are tensor parallel" },
    { since = "0.10", encoder_mode = function(_, own)
        return own.enable_multimodal_encoder_data_parallel and "data" or own.mm_encoder_tp_mode or "weights"
      end, seen = "0.28", code = "vllm/config/multimodal.py: MultiModalConfig.mm_encoder_tp_mode",
      source = "pull requests 18368 and 23190: whole images on ranks, in classes with supports_encoder_tp_data" },
  },
}
