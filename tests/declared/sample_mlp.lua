--- A kind of MLP that is an example: add.lua puts it into scripts/layers/mlp of the copy.
return {
  doc = "Two matrices, the first of which is a sum of two.",
  parameters = { width = { default = "intermediate_size", min = 1, doc = "Between both." } },
  weights = function(p, model)
    return {
      { name = "into", rows = model.hidden_size, columns = p.width, class = "dense_mlp", split = "columns" },
      { name = "out_of", rows = p.width, columns = model.hidden_size, class = "dense_mlp", split = "rows" },
    }
  end,
  ops = function(p, ask)
    return {
      ask.gemm { "into" },
      ask.elementwise { name = "bend", elements = 2 * p.width, split = "heads" },
      ask.gemm { "out_of" },
    }
  end,
}
