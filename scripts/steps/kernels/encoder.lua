--- What a pass of a model's encoder of images and videos, or of sounds, costs on one rank, as the engine runs it:
--- GEMMs, norms and activations over all patches, attention within each sequence of patches, and what projects its
--- output. An encoder of sounds has convolutions in front, which are GEMMs over their own rows.
---
---     pass = stem(rows) + patches(sum of rows) + attention(each row) + projector(tokens),
---            at least the launches of its operations
---
--- Operations are those of the language model's layers, in 16 bit, and are priced from the same tables. Attention is
--- whole and without a cache: n patches have n * n query-key pairs, as n new tokens after (n - 1) / 2 cached ones have,
--- and the tables of prompts are asked for these. Sequences of one length are one call; those of other lengths are
--- further calls. Where layers have a window, a sequence is cut into windows. The encoder runs outside of CUDA graphs:
--- its operations are one launch each (table "launch", else eager_kernel_s).
--- Source: vllm/model_executor/models/qwen3_vl.py, Qwen3_VisionTransformer; vllm/model_executor/models/vision.py,
--- run_dp_sharded_mrope_vision_model (whole items on ranks).
local collectives = require "steps.kernels.collectives"
local cost = require "rooflua.cost"

local floor, max = math.floor, math.max

local encoder = {}
encoder.__index = encoder

local element = 2 -- bytes: encoders stay in 16 bit, whatever the format of the language model is

--- A GEMM in the form of cost.layers.
local function gemm(name, k, n, count)
  return { name = "encoder_" .. name, op = "gemm", k = k, n = n, groups = 1, count = count, dtype = "bf16",
    rows = "tokens", flop_per_row = 2 * k * n, weight_bytes = element * k * n, bytes_per_row = element * (k + n) }
end

--- A small kernel that reads and writes so many elements of a row.
local function small(name, kernel, elements, count)
  return { name = "encoder_" .. name, op = "elementwise", kernel = kernel, count = count, dtype = "bf16",
    rows = "tokens", flop_per_row = 0, weight_bytes = 0, bytes_per_row = element * elements }
end

local function all_reduce(name, width, count)
  return { name = "encoder_" .. name, op = "all_reduce", count = count, dtype = "bf16", rows = "tokens",
    flop_per_row = 0, weight_bytes = 0, bytes_per_row = element * width }
end

--- Operations over all patches, less attention.
local function of_patches(vision, tp)
  local width, inner, layers = vision.hidden_size, vision.intermediate_size, vision.layers
  local pixels = vision.channels * vision.patch_size * vision.patch_size * vision.patch_frames
  local list = { small("positions", nil, 3 * width, 1),
    small("norm", "norm", 2 * width, 2 * layers), gemm("qkv", width, 3 * width / tp, layers),
    small("rope", "rope", 4 * width / tp, layers), gemm("out", width / tp, width, layers),
    small("add", nil, 3 * width, 2 * layers) }
  local up = vision.gated and gemm("gate_up", width, 2 * inner / tp, layers) or gemm("up", width, inner / tp, layers)
  local activation = vision.gated and small("activation", "silu_mul", 3 * inner / tp, layers)
    or small("activation", nil, 2 * inner / tp, layers)
  for _, op in ipairs { up, activation, gemm("down", inner / tp, width, layers) } do list[#list + 1] = op end
  if tp > 1 then list[#list + 1] = all_reduce("all_reduce", width, 2 * layers) end
  if #(vision.stem or {}) == 0 then table.insert(list, 1, gemm("patch_embed", pixels, width, 1)) end
  return list
end

--- Convolutions in front of the layers, each as a GEMM over its own number of rows: {rows for each patch, operations}.
local function of_stem(vision)
  local out = {}
  for i, each in ipairs(vision.stem or {}) do
    out[i] = { each.rows, { gemm("conv_" .. i, each.inputs, each.outputs, each.times),
      small("conv_activation_" .. i, nil, 2 * each.outputs, each.times) } }
  end
  return out
end

--- Matrices of the projector over patches, or over tokens. Of two in a row the ranks divide the outputs of the first
--- and the inputs of the second; a matrix that is left alone is whole on each.
local function of_projector(vision, tp, per_patch)
  local list, divided = {}, false
  local own = {}
  for _, each in ipairs(vision.projector) do
    if each.per_patch == per_patch then own[#own + 1] = each end
  end
  for i, each in ipairs(own) do
    local k, n = each.inputs, each.outputs
    if divided then
      k, divided = k / tp, false
      list[#list + 1] = gemm("projector_" .. i, k, n, each.times)
      if tp > 1 then list[#list + 1] = all_reduce("projector_all_reduce", n, each.times) end
    else
      divided = own[i + 1] ~= nil
      list[#list + 1] = gemm("projector_" .. i, k, divided and n / tp or n, each.times)
      list[#list + 1] = small("projector_activation_" .. i, nil, 2 * (divided and n / tp or n), each.times)
    end
  end
  return list
end

local function operations_of(lists)
  local count = 0
  for _, list in ipairs(lists) do
    for _, op in ipairs(list) do count = count + op.count end
  end
  return count
end

--- @param steps steps.Kernels bound
--- @param vision rooflua.ItemEncoder with a processor
--- @param whole_items boolean? ranks encode items of their own ("data"), instead of dividing the encoder
function encoder.of(steps, vision, whole_items)
  local ranks = steps.tp
  local tp = whole_items and 1 or ranks
  if vision.heads % tp > 0 then
    error(("the encoder has %d heads, which %d ranks do not divide; engines give whole items to ranks instead "
      .. "(mm_encoder_tp_mode = \"data\")"):format(vision.heads, tp), 0)
  end
  local self = { steps = steps, vision = vision, tp = tp, ranks = whole_items and ranks or 1,
    head_dim = vision.hidden_size / vision.heads }
  local lists = { of_patches(vision, tp), of_projector(vision, tp, true), of_projector(vision, tp, false) }
  self.patches_time, self.per_patch_time, self.tokens_time = steps:sum_of(lists[1]), steps:sum_of(lists[2]),
    steps:sum_of(lists[3])
  self.stem = {}
  for i, each in ipairs(of_stem(vision)) do
    self.stem[i], lists[#lists + 1] = { each[1], steps:sum_of(each[2]) }, each[2]
  end
  self.host_s = (operations_of(lists) + vision.layers) * steps.elementwise.eager_s
  return setmetatable(self, encoder)
end

--- Attention of `batch` sequences of n patches in some layers, one call a layer.
function encoder:attention_time(n, batch, layers, name)
  if layers == 0 then return 0 end
  local vision, steps = self.vision, self.steps
  local query = { op = "attention_prefill", heads = vision.heads, kv_heads = vision.heads, head_dim = self.head_dim,
    tp = self.tp, batch = batch, new_tokens = n, context_tokens = (n - 1) / 2 }
  local time_s = cost.lookup(steps.database, query, layers, name)
  local width = vision.hidden_size / self.tp
  return steps.bounds:at_least(time_s, 4 * width * n * n * batch, 4 * element * width * n * batch, "bf16", layers, name)
end

--- Sequences by their length, longest first: {{patches, count}}.
local function by_length(rows)
  local count, lengths = {}, {}
  for _, n in ipairs(rows) do
    if not count[n] then lengths[#lengths + 1] = n end
    count[n] = (count[n] or 0) + 1
  end
  table.sort(lengths, function(a, b) return a > b end)
  local out = {}
  for i, n in ipairs(lengths) do out[i] = { n, count[n] } end
  return out
end

--- The same sequences, cut into windows.
local function windows_of(rows, window)
  local out = {}
  for _, n in ipairs(rows) do
    for _ = 1, floor(n / window) do out[#out + 1] = window end
    if n % window > 0 then out[#out + 1] = n % window end
  end
  return out
end

--- Attention of all layers.
function encoder:all_attention_time(rows)
  local vision, time_s = self.vision, 0
  local window = vision.window or 0
  local whole = window > 0 and (vision.whole_layers or 0) or vision.layers
  for _, each in ipairs(by_length(rows)) do
    time_s = time_s + self:attention_time(each[1], each[2], whole, "encoder_attention")
  end
  for _, each in ipairs(window > 0 and by_length(windows_of(rows, window)) or {}) do
    time_s = time_s + self:attention_time(each[1], each[2], vision.layers - whole, "encoder_window_attention")
  end
  return time_s
end

--- One pass of one rank over these items.
function encoder:rank_time(items)
  local rows, patches, tokens = {}, 0, 0
  for _, item in ipairs(items) do
    tokens = tokens + item.embeddings
    for _, n in ipairs(item.rows) do rows[#rows + 1], patches = n, patches + n end
  end
  if patches == 0 then return 0 end
  local time_s = 0
  for _, each in ipairs(self.stem) do time_s = time_s + each[2](math.ceil(each[1] * patches)) end
  time_s = time_s + self.patches_time(patches) + self:all_attention_time(rows)
  time_s = time_s + self.per_patch_time(patches) + self.tokens_time(tokens)
  if time_s >= self.host_s then return time_s end
  return time_s + cost.record("encoder_host", self.host_s - time_s, "assumed", 1, 0, 0, nil, "launch",
    "launches outside of CUDA graphs", "host")
end

local function patches_of(item)
  local sum = 0
  for _, n in ipairs(item.rows) do sum = sum + n end
  return sum
end

--- Items as ranks get them: the largest first, each to the rank with the fewest patches so far.
function encoder:shared(items)
  local order, loads, out = {}, {}, {}
  for i, item in ipairs(items) do order[i] = { item = item, patches = patches_of(item), at = i } end
  table.sort(order, function(a, b) return a.patches > b.patches or a.patches == b.patches and a.at < b.at end)
  for rank = 1, self.ranks do loads[rank], out[rank] = 0, {} end
  for _, each in ipairs(order) do
    local least = 1
    for rank = 2, self.ranks do if loads[rank] < loads[least] then least = rank end end
    loads[least] = loads[least] + each.patches
    table.insert(out[least], each.item)
  end
  local fullest = 1
  for rank = 2, self.ranks do if loads[rank] > loads[fullest] then fullest = rank end end
  return out[fullest], out
end

--- Every rank gets the results of all, padded to those of the fullest.
function encoder:gather_time(ranks)
  local most = 0
  for _, items in ipairs(ranks) do
    local tokens = 0
    for _, item in ipairs(items) do tokens = tokens + item.embeddings end
    most = max(most, tokens)
  end
  local bytes = element * most * max(self.steps.model.hidden_size, self.vision.embedding_width) * self.ranks
  return collectives.time(self.steps, "encoder_gather", "all_gather", bytes, self.ranks, 1)
end

--- Time of one pass over items of rooflua.machine.encoder.
function encoder:time(items)
  if self.ranks == 1 then return self:rank_time(items) end
  local fullest, ranks = self:shared(items)
  return self:rank_time(fullest) + self:gather_time(ranks)
end

return encoder
