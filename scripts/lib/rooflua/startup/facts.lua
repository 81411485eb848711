-- What a start-up says of a machine: one declaration for each fact. Sizes are of one GPU.
local facts = {}

--- Rows {name, kind, of, what}: `kind` of its value, number, whole or text; `of` how several ranks count together:
--- least, most, or same, where a difference is told.
facts.list = {
  { "release", kind = "text", of = "same", what = "release" },
  { "model", kind = "text", of = "same", what = "model" },
  { "architecture", kind = "text", of = "same", what = "class of the model" },
  { "gpu", kind = "text", of = "same", what = "GPU" },
  { "memory_gib", kind = "number", of = "least", what = "memory of the GPU" },
  { "free_gib", kind = "number", of = "least", what = "free before the start" },
  { "share", kind = "number", of = "same", what = "share of the memory" },
  { "weights_gib", kind = "number", of = "most", what = "weights" },
  { "activation_gib", kind = "number", of = "most", what = "activations" },
  { "non_torch_gib", kind = "number", of = "most", what = "outside of PyTorch" },
  { "consumed_gib", kind = "number", of = "most", what = "weights and outside of PyTorch" },
  { "peak_gib", kind = "number", of = "most", what = "peak of the profiling" },
  { "loaded_gib", kind = "number", of = "most", what = "in PyTorch behind the loading" },
  { "outside_gib", kind = "number", of = "most", what = "outside of PyTorch, with graphs" },
  { "graphs_gib", kind = "number", of = "most", what = "graphs" },
  { "graphs_estimated_gib", kind = "number", of = "most", what = "graphs, estimated" },
  { "left_gib", kind = "number", of = "least", what = "left behind the pools" },
  { "kv_gib", kind = "number", of = "least", what = "KV cache" },
  { "needed_kv_gib", kind = "number", of = "most", what = "KV cache of the longest request" },
  { "kv_tokens", kind = "whole", of = "least", what = "tokens of the KV cache" },
  { "kv_blocks", kind = "whole", of = "least", what = "blocks of the KV cache" },
  { "block_size", kind = "whole", of = "same", what = "tokens of a block" },
  { "concurrency", kind = "number", of = "least", what = "longest requests that fit" },
  { "max_model_len", kind = "whole", of = "least", what = "longest request" },
  { "budget", kind = "whole", of = "same", what = "tokens of a step" },
  { "seats", kind = "whole", of = "same", what = "seats" },
  { "running_requests", kind = "whole", of = "least", what = "requests that run at a time" },
  { "state_requests", kind = "whole", of = "least", what = "requests whose states fit" },
  { "kv_format", kind = "text", of = "same", what = "format of the KV cache" },
  { "attention", kind = "text", of = "same", what = "kernels of attention" },
  { "moe", kind = "text", of = "same", what = "kernels of experts" },
  { "graph_sizes", kind = "text", of = "same", what = "batches with a graph" },
  { "graphs_captured", kind = "whole", of = "most", what = "graphs captured" },
  { "message", kind = "text", of = "same", what = "message" },
}

facts.by_name = {}
for _, each in ipairs(facts.list) do
  each.name = each[1]
  facts.by_name[each.name] = each
end

local most = 2 ^ 53

--- "451,744" without commas; nil where they do not group thousands.
local function ungrouped(text)
  if not text:find(",", 1, true) then return text end
  local first, rest = text:match "^(%-?%d%d?%d?)(,.*)$"
  if not first or rest:gsub(",%d%d%d", "") ~= "" then return nil end
  return (text:gsub(",", ""))
end

--- The value of a text as a fact has it; nil where the text is none.
function facts.value(name, text)
  local kind = facts.by_name[name].kind
  if kind == "text" then return #text <= 4096 and text:match "^%s*(.-)%s*$" or nil end
  local number = tonumber(ungrouped(text) or "")
  if not number or math.abs(number) > most or kind == "whole" and number % 1 ~= 0 then return nil end
  return number
end

--- What counts of two ranks: {value, differs}.
function facts.joined(name, one, other)
  local of = facts.by_name[name].of
  if of == "least" then return math.min(one, other), one ~= other end
  if of == "most" then return math.max(one, other), one ~= other end
  return one, one ~= other
end

return facts
