--- A kind of attention that is an example: add.lua puts it into scripts/layers/attention of the copy.
return {
  doc = "The last `reach` tokens, and a decay in place of a softmax.",
  parameters = {
    reach = { default = 1024, unit = "tokens", min = 1, doc = "The last tokens, itself included." },
    heads = { default = "heads", min = 1, doc = "Of queries, keys and values." },
    head_dim = { default = "head_dim", min = 1, doc = "Of a head." },
  },
  weights = function(p, model)
    local wide = p.heads * p.head_dim
    return {
      { name = "qkv", rows = model.hidden_size, columns = 3 * wide, class = "attention", split = "columns",
        heads = p.heads },
      { name = "o", rows = wide, columns = model.hidden_size, class = "attention_output", split = "rows",
        heads = p.heads },
    }
  end,
  cache = function(p)
    return { { kind = "window", window = p.reach, elements = 2 * p.heads * p.head_dim, split = "heads",
      heads = p.heads } }
  end,
  ops = function(p, ask)
    local wide = p.heads * p.head_dim
    return {
      ask.gemm { "qkv" },
      ask.compute { name = "decayed", split = "heads", heads = p.heads,
        flop = 4 * wide * ask.pairs { window = p.reach },
        bytes = 4 * wide * (ask.context { window = p.reach } + ask.tokens) },
      ask.gemm { "o" },
    }
  end,
}
