--- A fork of vLLM, as an example of an engine: run.sh puts it into scripts/engines of the copy.
return {
  name = "sample_engine",
  extends = "vllm 0.19",
  releases = { "1.0" },
  rules = { { max_num_seqs = 48, scheduler = "sjf", source = "an example of a fork" } },
}
