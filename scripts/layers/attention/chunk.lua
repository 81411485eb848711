--- Attention within chunks, as three of four layers of Llama 4 have it: a token computes with those of its own chunk
--- that stand before it. The context begins anew every `chunk` tokens.
local function of_values(p) return p.v_head_dim > 0 and p.v_head_dim or p.head_dim end
local function written(p) return p.kv_heads * (p.head_dim + of_values(p)) end

return {
  doc = "The tokens of its own chunk of `chunk` tokens.",
  source = "attention_chunk_size of Llama 4",
  -- vLLM: vllm/v1/attention/backends/utils.py, make_local_attention_virtual_batches: each chunk is a request of its own
  kernels = "full",
  parameters = {
    chunk = { unit = "tokens", min = 1, doc = "Of a chunk." },
    heads = { default = "heads", min = 1, doc = "Of queries." },
    kv_heads = { default = "kv_heads", min = 1, doc = "Of keys and values." },
    head_dim = { default = "head_dim", min = 1, doc = "Of queries and keys." },
    v_head_dim = { default = 0, doc = "Of values; 0: head_dim." },
  },
  weights = function(p, model)
    local hidden, d, v = model.hidden_size, p.head_dim, of_values(p)
    local function to_heads(name, heads, width)
      return { name = name, rows = hidden, columns = heads * width, class = "attention", split = "columns",
        heads = heads, bias = model.attention_bias }
    end
    return {
      to_heads("q", p.heads, d), to_heads("k", p.kv_heads, d), to_heads("v", p.kv_heads, v),
      { name = "o", rows = p.heads * v, columns = hidden, class = "attention_output", split = "rows", heads = p.heads },
    }
  end,
  cache = function(p)
    return { { kind = "window", window = p.chunk, elements = written(p), split = "heads", heads = p.kv_heads } }
  end,
  ops = function(p, ask)
    return {
      ask.gemm { "q", "k", "v", name = "qkv" },
      ask.elementwise { name = "rope", kernel = "rope", elements = 2 * (p.heads + p.kv_heads) * p.head_dim,
        split = "heads" },
      ask.elementwise { name = "kv_write", elements = written(p), cache_elements = written(p), split = "heads",
        heads = p.kv_heads },
      ask.attention { pairs = ask.pairs { chunk = p.chunk }, heads = p.heads, kv_heads = p.kv_heads, dims = p.head_dim,
        value_dims = of_values(p) },
      ask.gemm { "o" },
    }
  end,
}
