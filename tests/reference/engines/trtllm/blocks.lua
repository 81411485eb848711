-- TensorRT-LLM: which tokens of a prompt are reused, and what leaves the blocks.
--- A prompt at its time, with contents, that ends with its first token.
local function prompt(at, ...)
  local tokens = 0
  for _, part in ipairs { ... } do tokens = tokens + part[2] end
  return { at, tokens, 1, { max_output_tokens = 1, content = { ... } } }
end

return {
  { name = "trtllm", file = "cpp/tests/unit_tests/batch_manager/kvCacheManagerTest.cpp",
    commit = "000a01de66f0eab4ab05640711f0253f50f5209c", since = "1.0.0",
    deployment = { kv_blocks = 8, block_size = 4 },
    rows = {
      { test = "BlockManagerReuseTest", case = "the same prompt", says = "Of nine tokens eight are reused.",
        requests = { prompt(0, { 1, 9 }), prompt(2, { 1, 9 }) }, cached = { B = 8 }, free = { [0.5] = 5, [2.5] = 5 } },
      { test = "BlockManagerReuseTest", case = "a token more",
        says = "Of ten of which nine were asked before, nine are.",
        requests = { prompt(0, { 1, 9 }), prompt(2, { 1, 9 }, { 2, 1 }) }, cached = { B = 9 } },
      { test = "BlockManagerReuseTest", case = "its beginning", says = "Of its first five tokens four are.",
        requests = { prompt(0, { 1, 9 }), prompt(2, { 1, 5 }) }, cached = { B = 4 } },
      { test = "BlockManagerReuseTest", case = "another last token",
        says = "Of eleven of which the last one differs, ten are.",
        requests = { prompt(0, { 1, 11 }), prompt(2, { 1, 10 }, { 2, 1 }) }, cached = { B = 10 } },
      { test = "BlockManagerReuseTest", case = "beside another one",
        says = "A prompt reuses blocks that another one holds, too.",
        requests = { { 0, 9, 6, { max_output_tokens = 6, content = { { 1, 9 } } } }, prompt(1.5, { 1, 8 }, { 2, 3 }) },
        cached = { B = 8 }, free = { [2.5] = 4 } },
      { test = "BlockManagerReuseTest", case = "other prompts", says = "Nothing of another prompt is.",
        requests = { prompt(0, { 1, 9 }), prompt(2, { 2, 9 }) }, cached = { B = 0 } },
      { test = "KVCacheManagerPerRequestStatsTest", says = "Of its three blocks two are reused, and one is new.",
        requests = { prompt(0, { 1, 9 }), prompt(2, { 1, 8 }, { 2, 1 }) }, cached = { A = 0, B = 8 },
        steps = "2: B+1" },
      { test = "KVCacheManagerLeafBlockTest", says = "Of twelve tokens eleven are reused, the last block's three, too.",
        requests = { prompt(0, { 1, 12 }), prompt(2, { 1, 12 }) }, cached = { B = 11 } },
      { test = "BlockManagerReuseTest", case = "an answer", says = "Blocks of an answer are reused in the next turn.",
        requests = { { 0, 6, 7, { max_output_tokens = 7, content = { { 1, 6 } }, output_content = 2 } },
          prompt(10, { 1, 6 }, { 2, 7 }, { 3, 3 }) }, cached = { B = 12 } },
    } },
  { name = "trtllm", file = "cpp/tests/unit_tests/batch_manager/evictionPolicyTest.cpp",
    commit = "2a9abd9536aa62ad3e4b9314be9286b1b1be523b", since = "1.0.0",
    deployment = { kv_blocks = 6, block_size = 4 },
    rows = {
      { test = "LRUPolicyTest.LRUTest", says = "Blocks that were released first are given away first.",
        requests = { prompt(0, { 1, 8 }), prompt(2, { 2, 8 }), prompt(4, { 3, 12 }), prompt(6, { 2, 8 }, { 4, 1 }) },
        cached = { D = 8 } },
      { test = "LRUPolicyTest.ReleaseBlockTest", says = "Blocks that were asked again are released to the end.",
        requests = { prompt(0, { 1, 8 }), prompt(2, { 2, 8 }), prompt(4, { 1, 8 }, { 5, 1 }), prompt(6, { 3, 9 }),
          prompt(8, { 1, 8 }, { 6, 1 }) }, cached = { C = 8, E = 8 } },
      { test = "LRUPolicyTest.GetFreeBlockTest", says = "Blocks that a request holds are not given away.",
        requests = { { 0, 8, 6, { max_output_tokens = 6, content = { { 1, 8 } } } }, prompt(0.5, { 2, 12 }),
          prompt(3.5, { 1, 8 }, { 4, 1 }) }, cached = { C = 8 } },
      { test = "LRUPolicyTest.NumFreeBlocksTest", says = "Each block that is claimed is one fewer that is free.",
        requests = { prompt(0, { 1, 3 }), prompt(0, { 2, 5 }), prompt(2, { 3, 4 }) },
        free = { [0.5] = 3, [1.5] = 6, [2.5] = 5 } },
    } },
}
