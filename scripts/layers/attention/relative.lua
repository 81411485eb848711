--- Attention of Inkling: no rotary positions, but a bias for each backward distance below `extent`, which every head
--- makes of a projection of its own (16 wide); keys, values and the outputs of attention and MLP pass short
--- convolutions, whose last inputs a request keeps in 16 bit. With `window` > 0 over the last tokens only.
--- Engines differ in how they keep the inputs: vLLM as a window of tokens, SGLang as a recurrent state
--- (engines/vllm/memory_rules.lua).
local function of_window(window) return window > 0 and { window = window } or {} end

return {
  doc = "Grouped heads with a learned bias for each distance, and short convolutions.",
  -- What the convolutions keep: vLLM, vllm/models/inkling/nvidia/sconv_swa_attn.py, InklingConvState (bfloat16 alone)
  source = "transformers: models/inkling/modeling_inkling.py",
  parameters = {
    window = { default = 0, unit = "tokens", doc = "The last tokens, itself included; 0: all." },
    extent = { default = 1024, unit = "tokens", min = 1, doc = "Distances that have a bias." },
    bias_dim = { default = 16, min = 1, doc = "Of a head's projection for the bias." },
    kernel = { default = 4, unit = "tokens", min = 2, doc = "Of a short convolution, itself included." },
    heads = { default = "heads", min = 1, doc = "Of queries." },
    kv_heads = { default = "kv_heads", min = 1, doc = "Of keys and values." },
    head_dim = { default = "head_dim", min = 1, doc = "Of a head." },
  },
  weights = function(p, model)
    local hidden, d = model.hidden_size, p.head_dim
    local function to_heads(name, heads, width)
      return { name = name, rows = hidden, columns = heads * width, class = "attention", split = "columns",
        heads = heads }
    end
    return {
      to_heads("q", p.heads, d), to_heads("k", p.kv_heads, d), to_heads("v", p.kv_heads, d),
      to_heads("bias", p.heads, p.bias_dim),
      { name = "o", rows = p.heads * d, columns = hidden, class = "attention_output", split = "rows", heads = p.heads },
      { name = "bias_of_distance", rows = p.bias_dim, columns = p.extent, class = "small" },
      { name = "convolutions", rows = p.kernel, columns = 2 * p.kv_heads * d + 2 * hidden, class = "small" },
    }
  end,
  cache = function(p, model)
    local entry = { kind = "token", elements = 2 * p.kv_heads * p.head_dim, split = "heads", heads = p.kv_heads }
    if p.window > 0 then entry.kind, entry.window = "window", p.window end
    local inputs = p.kernel - 1
    return {
      entry,
      { kind = "state", elements = inputs * 2 * p.kv_heads * p.head_dim, inputs = inputs, format = "bf16",
        split = "heads", heads = p.kv_heads },
      { kind = "state", elements = inputs * 2 * model.hidden_size, inputs = inputs, format = "bf16", split = "heads" },
    }
  end,
  ops = function(p, ask)
    local written, hidden = 2 * p.kv_heads * p.head_dim, ask.model.hidden_size
    return {
      ask.gemm { "q", "k", "v", "bias", name = "qkv" },
      ask.elementwise { name = "kv_convolutions", elements = 4 * p.kv_heads * p.head_dim, split = "heads",
        heads = p.kv_heads },
      ask.elementwise { name = "kv_write", elements = written, cache_elements = written, split = "heads",
        heads = p.kv_heads },
      ask.compute { name = "bias", split = "heads", heads = p.heads,
        flop = 2 * p.heads * p.bias_dim * p.extent * ask.tokens, bytes = 2 * p.heads * p.bias_dim * ask.tokens },
      ask.attention { pairs = ask.pairs(of_window(p.window)), heads = p.heads, kv_heads = p.kv_heads,
        dims = p.head_dim },
      ask.gemm { "o" },
      ask.elementwise { name = "output_convolutions", elements = 2 * 2 * hidden },
    }
  end,
}
