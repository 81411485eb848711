-- The engine "@STEM@": a fork of vLLM 0.24, whose options and rules hold where this file has none.
-- Scenarios in the folder above name it: engine = "@STEM@ 1.0".
return {
  name = "@STEM@",
  extends = "vllm 0.24",
  releases = { "1.0" },
  --- Defaults, each with its source. An option (max_num_seqs) or a setting (scheduler): rooflua help engines.vllm
  rules = {
    { max_num_seqs = 48, scheduler = "sjf", source = "a belief: 48 seats, the shortest prompt first" },
  },
}
