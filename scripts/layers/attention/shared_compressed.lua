-- Attention of DeepSeek-V4.1: one vector is key and value of all heads, in a window of every layer's own and in entries
-- of `ratio` tokens each, which a few layers compute (`owns_entries`) and the layers after them read. An index selects
-- `topk` entries; layers without one (`owns_index`) take the selection of a layer before. Entries hold `entry_bytes`,
-- those of the index `index_bytes`, whatever the format of the KV cache is.
-- Simplified: a token computes with the last window + topk tokens or entries, also where a context has fewer entries.
return {
  doc = "A window, and entries of several tokens that layers share.",
  source = "https://huggingface.co/deepseek-ai/DeepSeek-V4.1-Flash/blob/main/inference/model.py",
  parameters = {
    heads = { default = "heads", min = 1, doc = "Of queries." },
    head_dim = { default = "head_dim", min = 1, unit = "elements", doc = "Of the vector of a token." },
    q_lora_rank = { min = 1, unit = "elements", doc = "Of compressed queries." },
    o_lora_rank = { min = 1, unit = "elements", doc = "Between the output projections, of a group of heads." },
    o_groups = { default = 1, min = 1, doc = "Of heads." },
    window = { min = 1, unit = "tokens", doc = "The last ones, itself included." },
    ratio = { default = 0, unit = "tokens", doc = "Of an entry; 0: the window alone." },
    topk = { default = 0, unit = "entries", doc = "That are selected." },
    owns_entries = { default = false, doc = "Whether the layer computes and keeps entries." },
    owns_index = { default = false, doc = "Whether the layer selects." },
    index_heads = { default = 0, doc = "Of the index." },
    index_head_dim = { default = 0, unit = "elements", doc = "Of a head of the index." },
    entry_bytes = { default = 584, unit = "bytes", min = 1, doc = "Of an entry, and of a token of the window." },
    index_bytes = { default = 68, unit = "bytes", min = 1, doc = "Of an entry of the index." },
  },
  weights = function(p, model)
    local hidden, d = model.hidden_size, p.head_dim
    local out = {
      { name = "q_a", rows = hidden, columns = p.q_lora_rank, class = "attention" },
      { name = "kv", rows = hidden, columns = d, class = "attention" },
      { name = "q_b", rows = p.q_lora_rank, columns = p.heads * d, class = "attention", split = "columns",
        heads = p.heads },
      { name = "o_a", rows = p.heads * d / p.o_groups, columns = p.o_groups * p.o_lora_rank, class = "attention_output",
        split = "columns", heads = p.o_groups },
      { name = "o", rows = p.o_groups * p.o_lora_rank, columns = hidden, class = "attention_output", split = "rows",
        heads = p.o_groups },
      { name = "norms", columns = p.q_lora_rank + d, class = "small" },
    }
    if p.owns_entries then
      local wide = (p.ratio > 1 and 2 or 1) * d -- keys, and gates where several tokens become one entry
      out[#out + 1] = { name = "compressor", rows = hidden, columns = wide, class = "attention" }
      out[#out + 1] = { name = "index_k", rows = hidden, columns = p.index_head_dim, class = "index" }
    end
    if p.owns_index then
      local wide = p.index_heads * p.index_head_dim
      out[#out + 1] = { name = "index_q", rows = p.q_lora_rank, columns = wide, class = "index" }
    end
    return out
  end,
  cache = function(p)
    local out = { { kind = "window", window = p.window, elements = p.entry_bytes, format = "fp8" } }
    if p.owns_entries then
      out[2] = { kind = "token", elements = p.entry_bytes, format = "fp8", every = p.ratio }
      out[3] = { kind = "token", elements = p.index_bytes, format = "fp8", every = p.ratio }
    end
    return out
  end,
  ops = function(p, ask)
    local out = { ask.gemm { "q_a", "kv", name = "qkv_a" } }
    local function add(op) out[#out + 1] = op end
    add(ask.elementwise { name = "latent_norm", elements = 2 * (p.q_lora_rank + p.head_dim) })
    add(ask.gemm { "q_b" })
    add(ask.elementwise { name = "kv_write", elements = 2 * p.head_dim })
    if p.owns_entries then
      add(ask.gemm { "compressor" })
      add(ask.gemm { "index_k" })
    end
    if p.owns_index then
      add(ask.gemm { "index_q" })
      add(ask.compute { name = "index_scores", format = "fp8", mfu = 0.38,
        flop = 2 * p.index_heads * p.index_head_dim / p.ratio * ask.pairs {},
        bytes = p.index_bytes / p.ratio * ask.context {} + 12 / p.ratio * ask.pairs {} })
    end
    local pairs = p.ratio > 0 and ask.pairs { top = p.window + p.topk } or ask.pairs { window = p.window }
    add(ask.attention { pairs = pairs, heads = p.heads, kv_heads = 1, dims = p.head_dim, one_vector = true })
    add(ask.gemm { "o_a" })
    add(ask.gemm { "o" })
    return out
  end,
}
