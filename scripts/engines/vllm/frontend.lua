--- Times of vLLM's API server: one process, whose event loop renders, tokenises and streams (pull request 11636). They
--- are priors with wide spreads, and are read where frontend.endpoint asks for them.
return {
  fitted = true,
  { since = "0.8", frontend_chunk_s = 65e-6,
    source = "65 to 78 us, all included: requests/s of one server with a model of 1B under ShareGPT in pull requests "
      .. "12287, 15137 and 17546" },
  { since = "0.8", frontend_prompt_token_s = 1e-6,
    source = "1 to 2 us: pull request 10635, a few hundred ms for 256k tokens" },
  { since = "0.8", frontend_completion_s = 1e-3, source = "assumed: 0.3 to 3 ms; no figure is published" },
  { since = "0.8", frontend_chat_s = 3e-3, source = "assumed: 1 to 5 ms; no figure is published" },
  { since = "0.8", before = "0.9.2", frontend_chat_s = 10e-3,
    source = "7 ms more, as the template is parsed for each chat: pull request 20065, 6 to 8 ms" },
  { since = "0.10.2", before = "0.11.1", frontend_chat_s = 10e-3,
    source = "fitted to 1,000 chats at once, 2 to 20 ms on six machines: docs/records/fitted.md, \"Front end\"; "
      .. "the template's processor is looked for with each chat (pull request 25341, issue 25846)" },
  { since = "0.10.2", before = "0.11.1", family = "gpt_oss", frontend_chat_s = 2e-3,
    source = "fitted to the same, 1.2 to 4.5 ms on two machines: "
      .. "openai_harmony renders, not a template (entrypoints/openai/serving_chat.py: use_harmony)" },
  { since = "0.8", frontend_turns = 2,
    source = "pull request 10635 and vllm/entrypoints/openai: a handler awaits its tokeniser, which runs in a thread, "
      .. "and goes on when the event loop has run those that came meanwhile (asyncio runs what is ready in order)" },
  { since = "0.9", frontend_servers = function(_, own) return own.api_server_count end, seen = "0.28",
    code = "vllm/entrypoints/cli/serve.py: api_server_count", source = "pull request 17546" },
  { since = "0.15", frontend_servers = function(facts, own)
      return own.api_server_count or math.max(1, facts.dp)
    end, seen = "0.28", code = "vllm/entrypoints/cli/serve.py: api_server_count",
    source = "pull request 32525: as many as data-parallel ranks" },
}
