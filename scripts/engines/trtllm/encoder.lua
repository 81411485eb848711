--- TensorRT-LLM: the step of a prompt's first chunk encodes all its images, sounds and videos. Their embeddings are
--- kept with the request until its prompt is computed.
return {
  { encoder_whole = true, encoder_pins = true, encoder_shares = false,
    code = "tensorrt_llm/_torch/models/modeling_multimodal_utils.py: get_multimodal_embeddings",
    source = "tensorrt_llm/_torch/models/modeling_multimodal_utils.py: get_multimodal_embeddings" },
}
