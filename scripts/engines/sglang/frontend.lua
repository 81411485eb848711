--- Times of SGLang's tokenizer manager, which tokenises and streams, and of its detokenizer, a process of its own (pull
--- request 653). They are priors with wide spreads, and are read where frontend.endpoint asks for them.
return {
  fitted = true,
  { frontend_chunk_s = 65e-6,
    source = "assumed as vLLM's, which does the same in Python; no figure is published" },
  { since = "0.5.11", frontend_chunk_s = 30e-6,
    source = "assumed: pull request 22658 takes out what costs most; 15 to 65 us" },
  { frontend_prompt_token_s = 1e-6, source = "1 to 5 us: issue 39771" },
  { frontend_completion_s = 1e-3, frontend_chat_s = 2e-3, source = "assumed: 0.3 to 4 ms; no figure is published" },
  { since = "0.5.3", frontend_servers = function(_, own) return own.tokenizer_worker_num end,
    seen = "0.5.18", code = "python/sglang/srt/arg_groups/fields/serving.py: tokenizer_worker_num",
    source = "pull request 8964" },
}
