-- The kind of attention "@STEM@": the last `window` tokens, and the first `sinks` ones. Its words: docs/LAYERS.md
return {
  doc = "The last `window` tokens, and the first `sinks` ones.",
  --- What a group of layers states beside kind and layers. A default may be a figure of the model.
  parameters = {
    window = { default = 4096, unit = "tokens", min = 1, doc = "The last tokens, itself included." },
    sinks = { default = 4, unit = "tokens", min = 0, doc = "The first tokens." },
    heads = { default = "heads", min = 1, doc = "Of queries." },
    kv_heads = { default = "kv_heads", min = 1, doc = "Of keys and values." },
    head_dim = { default = "head_dim", min = 1, doc = "Of a head." },
  },
  --- Matrices of [rows, columns]: their class decides their format, their split what a rank holds.
  weights = function(p, model)
    local hidden, d = model.hidden_size, p.head_dim
    local function to_heads(name, heads)
      return { name = name, rows = hidden, columns = heads * d, class = "attention", split = "columns", heads = heads }
    end
    return {
      to_heads("q", p.heads), to_heads("k", p.kv_heads), to_heads("v", p.kv_heads),
      { name = "o", rows = p.heads * d, columns = hidden, class = "attention_output", split = "rows", heads = p.heads },
    }
  end,
  --- What a layer keeps: of each token, of the tokens of a window, or of a request.
  cache = function(p)
    return { { kind = "window", window = p.window + p.sinks, elements = 2 * p.kv_heads * p.head_dim, split = "heads",
      heads = p.kv_heads } }
  end,
  --- What a pass does, in symbols of a step: ask.tokens, ask.requests, ask.pairs, ask.context.
  ops = function(p, ask)
    return {
      ask.gemm { "q", "k", "v", name = "qkv" },
      ask.elementwise { name = "rope", elements = 2 * (p.heads + p.kv_heads) * p.head_dim, split = "heads" },
      ask.attention { pairs = ask.pairs { window = p.window + p.sinks }, heads = p.heads, kv_heads = p.kv_heads,
        dims = p.head_dim },
      ask.gemm { "o" },
    }
  end,
}
