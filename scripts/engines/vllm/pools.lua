--- Rules of vLLM where prefill and decode are engines of their own: what a prompt passes besides its KV's bytes.
return {
  { handover_s = 0.12, fitted = true, source = "SGLang's, which is fitted; deployments of vLLM are in no fit: "
      .. "docs/records/fitted.md, \"Handing over\"; issue 50913 has 168 ms besides the bytes, under load" },
  { split_front_ends = 2, split_texts = 2, seen = "0.28",
    code = "kv_connector/nixl_integration/toy_proxy_server.py: send_request_to_service",
    source = "tests/v1/kv_connector/nixl_integration/toy_proxy_server.py: the same text to both, one after the other" },
}
