--- A policy of a kind that is an example: add.lua puts it into scripts/samples of the copy.
return require("rooflua.policy").define { name = "first", doc = "Decides nothing.",
  params = { share = { default = 0.5, unit = "1", doc = "Part of nothing." } } }
