--- Attention-FFN disaggregation (AFD): attention and experts on GPUs of their own (deployment.expert_gpus,
--- micro_batches).
---
--- GPUs of attention run everything but the routed experts, for the requests that they hold. GPUs of experts run the
--- routed experts for the rows of all ranks of attention. A step is cut into m equal micro-batches. In each of L layers
--- with routed experts a micro-batch goes through four stages, of which each serves one micro-batch at a time:
---
---     a   attention and all else on its GPUs, with a part of the layers that have no routed experts
---     d   dispatch: its rows to the experts
---     e   the experts
---     r   results on the way back
---
--- Stages serve in the order of arrival, and their times are the same in each layer. With c = a + d + e + r, and s the
--- longest of the four, the pipeline is filled once and then repeats itself:
---
---     step(s) = (L - 1) max(c, m s) + c + (m - 1) s         and the head and the sampler, of the whole step
---
--- m = 1 gives L c. The rows of a step add up to its time. Attention counts in full. Dispatch, experts and results
--- count as far as no other micro-batch's attention hides them: step(a) - L m a. What is left is afd_wait, in which
--- micro-batches queue for experts or links: step(s) - step(a).
---
--- A row goes to `copies` = min(experts per token, ep) x moe_tp GPUs, in the format of the experts' input, and as many
--- results come back in 16 bit. A GPU has one link in each direction; the pool with fewer GPUs has the busier links:
---
---     d, r = latency + rows x copies x bytes of a row / (GPUs of the smaller pool x share of the link x bandwidth)
---
--- Within one NVLink domain these are the family's constants of an all-to-all; else both pools are joined by the
--- network, at afd_network_latency_s and afd_network_share. A rank of attention adds up its own results (afd_reduce).
--- With exchange = "deepep" experts get sorted rows, and their kernels are those after DeepEP.
--- Ranks of dp price their own contexts; their step is that of the slowest one (engine/serve/core/group.h).
--- Source: arXiv 2504.02263 (MegaScale-Infer: ping-pong, M2N), 2507.19427 (Step-3); vllm-project/afd-plugin, README.
local cost = require "rooflua.cost"
local exchange = require "steps.kernels.exchange"
local experts = require "steps.kernels.experts"
local graphs = require "steps.kernels.graphs"
local group = require "steps.kernels.group"

local afd = {}

local ceil, max, min = math.ceil, math.max, math.min

--- Bytes of an element on the way to experts, with scales of blocks: 4 for 128 elements of FP8, 1 for 16 of NVFP4.
local dispatch_bytes = { bf16 = 2, fp8 = 1 + 4 / 128, nvfp4 = 0.5 + 1 / 16 }
local combine_bytes = 2

--- The parameters of a step model with those of this part.
function afd.with_parameters(params)
  params.afd_network_latency_s = {
    default = 15e-6, unit = "s", min = 0,
    source = "DeepEP, docs/legacy.md: dispatches of 128 tokens to 64 to 256 ranks (kernels/afd.lua)",
    doc = "What rows between GPUs of attention and of experts take besides their bytes, over the network.",
    idle = { "no expert GPUs" },
  }
  params.afd_network_share = {
    default = 0.8, unit = "1", min = 0.01, max = 1, source = "the same",
    doc = "Share of the network's bandwidth that they reach.",
    idle = { "no expert GPUs" },
  }
  return params
end

-- The pipeline ----------------------------------------------------------------------------------------------------

--- Time of a step whose stages take as long as `slowest` at most, or as if only that stage served one at a time.
local function filled(cycle, slowest, layers, batches)
  return (layers - 1) * max(cycle, batches * slowest) + cycle + (batches - 1) * slowest
end

--- Seconds of a step: all of it, and what would be left if only attention served one micro-batch at a time.
--- @param a number attention of one micro-batch in one layer; d dispatch, e experts, r results
--- @param layers integer with routed experts
--- @param batches integer micro-batches
--- @return number time_s
--- @return number alone_s
function afd.pipeline(a, d, e, r, layers, batches)
  local cycle = a + d + e + r
  return filled(cycle, max(a, d, e, r), layers, batches), filled(cycle, a, layers, batches)
end

-- Links -----------------------------------------------------------------------------------------------------------

--- How both pools are joined: {name, latency_s, bytes_per_s} of a GPU and direction.
local function link_of(steps)
  local hardware = steps.hardware
  if steps.ranks + steps.expert_gpus <= hardware.domain_gpus then
    return { name = "NVLink", latency_s = hardware.constants.all_to_all_small_s,
      bytes_per_s = hardware.constants.all_to_all_link_share * hardware.link_bytes_per_s }
  end
  return { name = "network", latency_s = steps.afd_network_latency_s,
    bytes_per_s = steps.afd_network_share * hardware.network_bytes_per_s }
end

--- One direction of one layer with so many rows of all ranks.
--- @param way table {name, op, bytes}: bytes of a row with its copies
local function price_way(steps, way, rows, part, there, count)
  local link, gpus = steps.afd_link, min(steps.ranks, steps.expert_gpus)
  local bytes = rows * way.bytes / gpus
  local time_s = link.latency_s + bytes / link.bytes_per_s
  if part == nil then return time_s end
  local shape, note
  if cost.shapes_wanted() then
    shape = ("tokens=%.14g copies=%.14g gpus=%d+%d"):format(rows, way.copies, steps.ranks, steps.expert_gpus)
    note = ("%s; %.0f %% of its time is hidden by attention"):format(link.name, 100 * (1 - part))
  end
  local paid_s = cost.record(way.name, time_s * part, "modelled", count, 0, bytes, nil, "link", note, "afd_exchange",
    shape)
  if cost.listening() then
    cost.counted { bytes = there * way.bytes / gpus, field = "tokens", there = there, asked = rows }
  end
  return paid_s
end

--- What travels for the routed experts of a layer, there and back.
local function ways_of(steps, op)
  local _, width = experts.of(steps, op)
  local copies = min(op.rows_per_token, steps.ep) * steps.moe_tp
  local out = dispatch_bytes[exchange.format_of("afd", op.dtype)]
  return { count = op.count, copies = copies, width = width,
    { name = "afd_dispatch", copies = copies, bytes = copies * width * out },
    { name = "afd_combine", copies = copies, bytes = copies * width * combine_bytes } }
end

-- Micro-batches ---------------------------------------------------------------------------------------------------

--- One of `count` equal micro-batches, as a batch. A chunk is divided into equal pieces of the mean context, which have
--- as many query-key pairs.
--- @param batch rooflua.Batch
local function divided(batch, count)
  local prefills, tokens = {}, ceil(batch.decodes / count)
  local decodes = tokens
  for i, chunk in ipairs(batch.prefills) do
    local piece = ceil(chunk.new_tokens / count)
    prefills[i] = { new_tokens = piece, completes = chunk.completes,
      context_tokens = chunk.context_tokens + max(0, chunk.new_tokens - piece) / 2 }
    tokens = tokens + piece
  end
  local function shared(method)
    return function(_, cap)
      local sum, exact = batch[method](batch, cap)
      return sum / count, exact
    end
  end
  return { prefills = prefills, decodes = decodes, decode_tokens = decodes, tokens = tokens,
    decode_context_tokens = batch.decode_context_tokens / count, requests = decodes + #prefills,
    group_ranks = batch.group_ranks, group_prefills = batch.group_prefills, group_tokens = batch.group_tokens / count,
    group_max_tokens = max(tokens, ceil(batch.group_max_tokens / count)),
    bounded_tokens = shared "bounded_tokens", chunk_tokens = shared "chunk_tokens" }
end

--- Rows of a rank and of all ranks, and tokens of the fullest rank.
local function rows_of(steps, micro)
  if steps.dp == 1 then
    local rows = graphs.padded(micro.tokens, steps.graph_tokens)
    return rows, rows, micro.tokens, micro.tokens
  end
  local own, all = steps.padding(micro, steps.dp, steps.graph_tokens, steps.ep > 1)
  return own, all, group.own_tokens(micro, steps.dp), micro.group_max_tokens
end

--- The step model with operations that run once for each of `count` micro-batches.
local function pass_of(steps, count)
  local pass, layers = setmetatable({ count = count }, { __index = steps }), steps.afd_layers()
  local ways, moe_layers = {}, 0
  for _, op in ipairs(layers) do
    if op.rows ~= "requests" then op.count = op.count * count end
    if op.op == "grouped_gemm" then
      ways[#ways + 1] = ways_of(steps, op)
      moe_layers = moe_layers + op.count / count
    end
  end
  for _, each in ipairs(ways) do
    layers[#layers + 1] = { name = "afd_reduce", op = "elementwise", count = each.count, rows = "tokens",
      dtype = steps.dtype, flop_per_row = 0, weight_bytes = 0,
      bytes_per_row = (each.copies + 1) / steps.tp * 2 * each.width }
  end
  pass.whole_moe_layers, pass.ways, pass.moe_layers, pass.known = {}, ways, moe_layers, {}
  pass:bind_operations(layers, steps.afd_deployment)
  for _, name in ipairs { "prompt_token_s", "eager_s", "verify_s" } do pass[name] = steps[name] * count end
  pass.sorted_row_s = 0 -- requests are sampled once, whatever pieces their prompts have
  return pass
end

-- The step --------------------------------------------------------------------------------------------------------

--- What the experts take for so many rows: {time_s, rows} of an explanation, which charges nothing.
local function experts_of(pass, rows, there)
  local function price() return pass.experts_time(rows, there) end
  if cost.shapes_wanted() then return cost.explain(price) end
  local known = pass.known[rows]
  if not known then
    known = cost.apart(cost.explain, price)
    pass.known[rows] = known
  end
  return known
end

--- Enters the part of the experts' time that attention does not hide.
local function enter_experts(found, part)
  local time_s = 0
  local note = cost.shapes_wanted() and ("%.0f %% of its time is hidden by attention"):format(100 * (1 - part)) or nil
  for _, row in ipairs(found.rows) do
    local priced = row.priced or row
    time_s = time_s + cost.record(row.name:match "[^.]*$", row.time_s * part, row.evidence, row.count, priced.flop,
      priced.bytes, priced.mfu, row.bound, note, row.kind, priced.shape)
    if row.kind ~= "floor" then cost.counted(row) end
  end
  return time_s
end

--- Mean time of a layer's dispatch and of its results.
local function way_times(pass, rows)
  local out = { 0, 0 }
  for _, ways in ipairs(pass.ways) do
    for i = 1, 2 do
      out[i] = out[i] + price_way(pass, ways[i], rows) * ways.count / (pass.count * pass.moe_layers)
    end
  end
  return out[1], out[2]
end

--- Enters what experts, links and queues add to attention.
--- @param busy_s number of the GPUs of attention, in the layers of all micro-batches
--- @param rows number of all ranks in a micro-batch
local function enter_rest(pass, busy_s, rows, there)
  local found, runs = experts_of(pass, rows, there), pass.count * pass.moe_layers
  local d, r = way_times(pass, rows)
  local e = found.time_s / runs
  local time_s, alone_s = afd.pipeline(busy_s / runs, d, e, r, pass.moe_layers, pass.count)
  local part = pass.count == 1 and 1 or (alone_s - busy_s) / (runs * (d + e + r))
  local entered_s = enter_experts(found, part)
  for _, ways in ipairs(pass.ways) do
    for i = 1, 2 do entered_s = entered_s + price_way(pass, ways[i], rows, part, there, ways.count) end
  end
  if pass.count == 1 or time_s == alone_s then return entered_s end
  local slowest = e >= max(d, r) and "experts" or "links"
  local evidence = slowest == "experts" and found.rows[1].evidence or "modelled"
  return entered_s + cost.record("afd_wait", time_s - alone_s, evidence, 1, 0, 0, nil, nil,
    "micro-batches queue for " .. slowest, "wait")
end

--- A method of steps.Kernels in place of its own: what every request of the step takes once.
local function rows_time(self, batch) return self.head_time(batch.requests), batch.tokens end

--- The same: the layers of all micro-batches, and the sampler.
local function gpu_time(self, batch, head_s)
  local count = min(self.micro_batches, self.dp > 1 and batch.group_max_tokens or batch.tokens)
  local pass = self.passes[count]
  if not pass then
    pass = cost.apart(pass_of, self, count)
    self.passes[count] = pass
  end
  local micro = count == 1 and batch or divided(batch, count)
  local own, all, there, fullest = rows_of(pass, micro)
  local layers_s = pass.layers_time(own, batch.tokens / count)
  pass.sampler_s = self.sampler_s + self.sorted_row_s * batch.requests
  local attention_s = self.plain_gpu_time(pass, micro, head_s + layers_s, fullest)
  local once_s = head_s + pass.sampler_s
  if self.dp == 1 then there = batch.tokens / count end
  return attention_s + enter_rest(pass, max(0, attention_s - once_s), all, there)
end

--- Puts both pools into a step model whose operations are bound.
--- @param steps steps.Kernels
function afd.bind(steps, deployment)
  steps.expert_gpus = deployment.expert_gpus
  if steps.expert_gpus == 0 then return end
  local sorted = steps.exchange == "deepep" and steps.travels
  if steps.exchange ~= "own" and not sorted then
    error(("steps.kernels: exchange = \"%s\": with deployment.expert_gpus there is own, and of data-parallel ranks in "
      .. "front of whole experts deepep, whose experts get sorted rows"):format(steps.exchange), 0)
  end
  steps.micro_batches, steps.passes, steps.afd_deployment = deployment.micro_batches, {}, deployment
  steps.afd_link, steps.travels = link_of(steps), sorted or nil
  function steps.afd_layers() return cost.layers(steps.model, deployment) end
  steps.plain_gpu_time = steps.gpu_time
  steps.rows_time, steps.gpu_time = rows_time, gpu_time
end

return afd
