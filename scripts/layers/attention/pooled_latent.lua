-- Latent attention without positions over the tokens that an index selects, whose keys are averaged over `pool` tokens
-- (GLM-5.3-Flash: IndexPool). Prompts are absorbed as decodes are. The index is whole on every rank; its entries are
-- FP8 with an fp32 scale, as those of latent_sparse.
return {
  doc = "Latent attention at the tokens that an index of pooled keys selects.",
  source = "https://github.com/huggingface/transformers/tree/main/src/transformers/models/glm5_next",
  parameters = {
    heads = { default = "heads", min = 1, doc = "Of queries." },
    q_lora_rank = { min = 1, unit = "elements", doc = "Of compressed queries." },
    kv_lora_rank = { min = 1, unit = "elements", doc = "Of the vector of a token, which is key and value." },
    qk_head_dim = { min = 1, unit = "elements", doc = "Of queries and keys." },
    v_head_dim = { min = 1, unit = "elements", doc = "Of values." },
    index_heads = { min = 1, doc = "Of the index." },
    index_head_dim = { min = 1, unit = "elements", doc = "Of a head of the index." },
    topk = { min = 1, unit = "tokens", doc = "That are selected." },
    pool = { default = 1, min = 1, unit = "tokens", doc = "That share an entry of the index." },
  },
  weights = function(p, model)
    local hidden = model.hidden_size
    local function whole(name, rows, columns, class)
      return { name = name, rows = rows, columns = columns, class = class }
    end
    local function of_heads(name, rows, wide)
      return { name = name, rows = rows, columns = p.heads * wide, class = "attention", split = "columns",
        heads = p.heads }
    end
    return {
      whole("q_a", hidden, p.q_lora_rank, "attention"), whole("kv_a", hidden, p.kv_lora_rank, "attention"),
      of_heads("q_b", p.q_lora_rank, p.qk_head_dim), of_heads("kv_b", p.kv_lora_rank, p.qk_head_dim + p.v_head_dim),
      { name = "o", rows = p.heads * p.v_head_dim, columns = hidden, class = "attention_output", split = "rows",
        heads = p.heads },
      whole("index_q", p.q_lora_rank, p.index_heads * p.index_head_dim, "index"),
      whole("index_k", hidden, p.index_head_dim + p.index_heads, "index"),
      { name = "latent_norms", columns = p.q_lora_rank + p.kv_lora_rank, class = "small" },
    }
  end,
  cache = function(p)
    return {
      { kind = "token", elements = p.kv_lora_rank },
      { kind = "token", elements = p.index_head_dim + 4, format = "fp8", every = p.pool },
    }
  end,
  ops = function(p, ask)
    local index = 2 * p.index_heads * p.index_head_dim / p.pool
    return {
      ask.gemm { "q_a", "kv_a", name = "qkv_a" },
      ask.elementwise { name = "latent_norm", elements = 2 * (p.q_lora_rank + p.kv_lora_rank) },
      ask.gemm { "q_b" },
      ask.elementwise { name = "kv_write", elements = 2 * p.kv_lora_rank },
      ask.gemm { "index_q" },
      ask.gemm { "index_k" },
      ask.compute { name = "index_scores", format = "fp8", mfu = 0.38, flop = index * ask.pairs {},
        bytes = (p.index_head_dim + 4) / p.pool * ask.context {} + 12 / p.pool * ask.pairs {} },
      ask.gemm { "kv_b", name = "absorbed" },
      ask.attention { pairs = ask.pairs { top = p.topk }, heads = p.heads, kv_heads = 1, dims = p.kv_lora_rank,
        one_vector = true },
      ask.gemm { "o" },
    }
  end,
}
