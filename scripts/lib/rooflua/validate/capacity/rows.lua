-- The rows of a file of measured start-ups: one row is one engine that started, or refused to, with what its log says
-- of the memory of a GPU. An empty cell is not stated; "d:name=value" in `notes` is a default that the row does not
-- state. A row with scored = yes counts. A measured column with `error` is compared under that name: the difference to
-- the simulated figure of the column's name, in GiB.
local columns = require "rooflua.validate.columns"

--- The kind of a model by the note of the file; of several the one that matters most for the memory.
local function kind_of(cells)
  local note = (cells.family_note or ""):lower()
  if (cells.speculation or "") ~= "" and cells.speculation ~= "none" then return "draft" end
  if note:find("hybrid g", 1, true) or note:find("hybrid m", 1, true) then return "hybrid" end
  if note:find("window", 1, true) then return "window" end
  if note:find("mla", 1, true) then return "MLA" end
  if note:find("vision", 1, true) then return "vision" end
  return note:find("moe", 1, true) and "MoE" or "dense"
end

return columns.of({ what = "measured start-ups", manual = "docs/VALIDATION.md", id = "case",
  default = function(cells, name) return (cells.notes or ""):match("d:" .. name .. "=([%d.]+)") end,
  case = function(case, cells)
    case.kind = kind_of(cells)
    case.share = case.static_fraction or case.utilization
    case.notes, case.weights, case.kv = case.notes or "", case.weights or "", case.kv or ""
    case.speculation = case.speculation or "none"
  end,
  broken = function(cells) return { is_scored = cells.scored == "yes", measured = {}, kind = "unknown" } end,
}, {
  { names = "case", type = "text", required = true, own = true },
  { names = "engine release model hardware", type = "text", required = true },
  { names = "memory_gib", type = "number", above = 0, unit = "GiB", required = true },
  { names = "tp", type = "whole", least = 1, required = true },
  { names = "pp dp ep", type = "whole", least = 1 },
  { names = "weights_format", type = "text", required = true, setting = "weights" },
  { names = "kv_format", type = "text", required = true, setting = "kv" },
  { names = "utilization static_fraction", type = "number", remarks = true, unit = "1", required = true },
  { names = "max_model_len max_num_seqs max_num_batched_tokens chunk", type = "whole", least = 1, remarks = true,
    unit = "tokens, requests", required = true },
  { names = "eager", type = "is", word = "yes", required = true },
  { names = "speculation", type = "text", required = true },
  { names = "weights_gib", type = "number", unit = "GiB", required = true, tells = true, measured = true },
  { names = "kv_gib", type = "number", unit = "GiB", required = true, measured = true },
  { names = "kv_tokens", type = "number", unit = "tokens", required = true, tells = true, measured = true },
  { names = "max_concurrency", type = "number", unit = "requests", required = true, measured = true },
  { names = "activation_gib", type = "number", unit = "GiB", remarks = true, measured = true, error = "activations" },
  { names = "nontorch_gib", type = "number", unit = "GiB", remarks = true, measured = true },
  { names = "starts", type = "text", required = true, tells = true, measured = true },
  { names = "scored", type = "is", word = "yes", required = true, setting = "is_scored" },
  { names = "notes", type = "text", required = true },
  { names = "model_hf", type = "text", setting = "name" },
})
