-- Keys of encoders of images, sounds and videos, as keys.lua has entries.
return {
  deployment = { name = "encoder", type = "table", class = "rooflua.ScenarioEncoder", kinds = "serve search plan",
    read_by = "serving.replicas", example = '{ mode = "data" }',
    doc = "how images, sounds and videos are encoded; default as the engine does (docs/ENCODERS.md)",
    fields = {
      { name = "budget_tokens", type = "integer", unit = "tokens", example = "16384",
        doc = "most embeddings of one pass; 0 = no limit; default the engine's" },
      { name = "cache_tokens", type = "integer", unit = "tokens", example = "16384",
        doc = "embeddings that are kept; default the engine's" },
      { name = "mode", type = "choice", values = { "tensor", "data" }, example = '"data"',
        doc = "tensor: all ranks of tp divide each layer; data: they divide the items; default the engine's" },
      { name = "pixel_s", type = "number", unit = "s", range = { min = 0, max = 1 }, example = "6e-9",
        doc = "host time of a pixel, in front of the engine: decoding and scaling an item; default the engine's" },
      { name = "item_s", type = "number", unit = "s", range = { min = 0, max = 1000 }, example = "0.001",
        doc = "host time of an item inside of a pass, as positions take it; default 0, since no source states it" },
    } },
  pool = { name = "encoder", type = "boolean", default = false, kinds = "serve search", read_by = "serving.encoders",
    doc = "these replicas only encode images, sounds and videos, in front of the others (docs/ENCODERS.md)" },
}
