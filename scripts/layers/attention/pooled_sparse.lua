-- Attention with heads at the tokens that an index selects, whose keys are averaged over `pool` tokens and kept in
-- 16 bit; the queries' projection also yields an output gate (Qwen3.8-Flash-Next: QSA). Every rank has the whole index.
return {
  doc = "Attention at the tokens that an index of pooled keys selects, with an output gate.",
  source = "https://github.com/huggingface/transformers/tree/main/src/transformers/models/qwen4_exp",
  parameters = {
    heads = { default = "heads", min = 1, doc = "Of queries." },
    kv_heads = { default = "kv_heads", min = 1, doc = "Of keys and values." },
    head_dim = { default = "head_dim", min = 1, unit = "elements", doc = "Of a head." },
    index_heads = { min = 1, doc = "Of the index." },
    index_head_dim = { min = 1, unit = "elements", doc = "Of a head of the index." },
    topk = { min = 1, unit = "tokens", doc = "That are selected." },
    pool = { default = 1, min = 1, unit = "tokens", doc = "That share an entry of the index." },
  },
  weights = function(p, model)
    local hidden, d = model.hidden_size, p.head_dim
    local function of_heads(name, heads)
      return { name = name, rows = hidden, columns = heads * d, class = "attention", split = "columns", heads = heads }
    end
    return {
      of_heads("q", p.heads), of_heads("gate", p.heads), of_heads("k", p.kv_heads), of_heads("v", p.kv_heads),
      { name = "o", rows = p.heads * d, columns = hidden, class = "attention_output", split = "rows", heads = p.heads },
      { name = "index_qk", rows = hidden, columns = (p.index_heads + 1) * p.index_head_dim, class = "index" },
    }
  end,
  cache = function(p)
    return {
      { kind = "token", elements = 2 * p.kv_heads * p.head_dim, split = "heads", heads = p.kv_heads },
      { kind = "token", elements = p.index_head_dim, format = "bf16", every = p.pool },
    }
  end,
  ops = function(p, ask)
    local heads = (p.heads + p.kv_heads) * p.head_dim
    return {
      ask.gemm { "q", "gate", "k", "v", name = "qkv" },
      ask.gemm { "index_qk" },
      ask.elementwise { name = "rope", elements = 2 * heads, split = "heads" },
      ask.elementwise { name = "kv_write", elements = 4 * p.kv_heads * p.head_dim, split = "heads",
        heads = p.kv_heads },
      ask.compute { name = "index_scores", mfu = 0.38,
        flop = 2 * p.index_heads * p.index_head_dim / p.pool * ask.pairs {},
        bytes = 2 * p.index_head_dim / p.pool * ask.context {} },
      ask.attention { pairs = ask.pairs { top = p.topk }, heads = p.heads, kv_heads = p.kv_heads, dims = p.head_dim },
      ask.elementwise { name = "attention_gate", elements = 3 * p.heads * p.head_dim, split = "heads" },
      ask.gemm { "o" },
    }
  end,
}
