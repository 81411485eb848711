-- The price of AFD: the pipeline against a simulation of it, laws on random batches.
-- mutations_test.lua takes operations out of the model and expects a failure here.
local afd = require "steps.kernels.afd"
local spec = require "rooflua.spec"
local setup = dofile "tests/scripts/afd/setup.lua"
local test = dofile "tests/scripts/harness.lua"

math.randomseed(46)

local cases, merged, priced, random_batch, sum = setup.cases, setup.merged, setup.priced, setup.random_batch, setup.sum

-- The pipeline ----------------------------------------------------------------------------------------------------

--- A naive simulation: four servers, each with a queue in the order of arrival. @return seconds until the last
--- micro-batch has left its last layer
local function simulated(stages, layers, batches)
  local free, arrivals, last = { 0, 0, 0, 0 }, {}, 0
  for i = 1, batches do arrivals[i] = { at = 0, order = i, stage = 1, layer = 1 } end
  local order = batches
  while #arrivals > 0 do
    table.sort(arrivals, function(x, y) return x.at < y.at or x.at == y.at and x.order < y.order end)
    local job = table.remove(arrivals, 1)
    local stage = job.stage
    free[stage] = math.max(free[stage], job.at) + stages[stage]
    order = order + 1
    job.at, job.order, job.stage = free[stage], order, stage + 1
    if job.stage > #stages then job.stage, job.layer = 1, job.layer + 1 end
    last = math.max(last, job.at)
    if job.layer <= layers then arrivals[#arrivals + 1] = job end
  end
  return last
end

local function random_stages()
  local scale = ({ 1, 1, 10, 0.1 })[math.random(4)]
  return { math.random() * scale, math.random() * math.random(0, 2), math.random(), math.random() * math.random(0, 2) }
end

--- Stages of whole ticks: sums are exact, so that equal times are equal.
local function ticks(stages)
  for i, each in ipairs(stages) do stages[i] = math.floor(each * 2 ^ 20) / 2 ^ 20 end
  return stages
end

test("the closed form of the pipeline is what a simulation of its queues gives", function()
  for _ = 1, 400 do
    local s, layers, batches = ticks(random_stages()), math.random(1, 12), math.random(1, 7)
    local time_s = afd.pipeline(s[1], s[2], s[3], s[4], layers, batches)
    test.near(time_s, simulated(s, layers, batches), 1e-12, ("%g %g %g %g, %d layers, %d batches"):format(s[1], s[2],
      s[3], s[4], layers, batches))
  end
end)

--- Laws of a closed form; an error names the one that does not hold.
local function pipeline_laws(pipeline)
  for _ = 1, 200 do
    local s, layers, batches = random_stages(), math.random(1, 61), math.random(1, 8)
    local time_s, alone_s = pipeline(s[1], s[2], s[3], s[4], layers, batches)
    local cycle = s[1] + s[2] + s[3] + s[4]
    local one_s = pipeline(s[1], s[2], s[3], s[4], layers, 1)
    test.near(one_s, layers * cycle, 1e-12, "one micro-batch takes the sum")
    for i = 1, 4 do test.check(time_s >= batches * layers * s[i] * (1 - 1e-12), "no stage is busier than the step") end
    test.check(time_s >= layers * cycle * (1 - 1e-12), "no micro-batch is faster than its own way")
    test.check(time_s <= batches * layers * cycle * (1 + 1e-12), "overlap makes nothing longer")
    test.check(alone_s <= time_s * (1 + 1e-12) and alone_s >= batches * layers * s[1] * (1 - 1e-12), "queues only add")
    test.near(pipeline(s[1], 0, 0, 0, layers, batches), layers * batches * s[1], 1e-12, "attention alone")
    local i = math.random(4)
    s[i] = s[i] * 1.1
    test.check(pipeline(s[1], s[2], s[3], s[4], layers, batches) >= time_s * (1 - 1e-12), "slower is not faster")
  end
end

test("laws of the pipeline hold on random stages", function() pipeline_laws(afd.pipeline) end)

test("a closed form that is wrong breaks a law or differs from the simulation", function()
  local max = math.max
  local function form(change)
    return function(a, d, e, r, layers, m)
      local function of(slowest)
        local cycle = a + d + e + r
        return change(cycle, slowest, layers, m)
      end
      return of(max(a, d, e, r)), of(a)
    end
  end
  local wrong = {
    ["no fill"] = function(c, s, L, m) return L * max(c, m * s) end,
    ["no last micro-batches"] = function(c, s, L, m) return (L - 1) * max(c, m * s) + c end,
    ["a sum"] = function(c, _, L, m) return L * m * c end,
    ["the slowest alone"] = function(_, s, L, m) return L * m * s end,
    ["a layer too many"] = function(c, s, L, m) return L * max(c, m * s) + c + (m - 1) * s end,
    ["all micro-batches at the end"] = function(c, s, L, m) return (L - 1) * max(c, m * s) + c + m * s end,
    ["no queue"] = function(c, s, L, m) return L * c + (m - 1) * s end,
    ["a bubble in each layer"] = function(c, s, L, m) return L * (c + (m - 1) * s) end,
  }
  for name, change in pairs(wrong) do
    local mutant = form(change)
    local caught = not pcall(pipeline_laws, mutant)
    for _ = 1, 50 do
      local s, layers, batches = ticks(random_stages()), math.random(2, 12), math.random(2, 7)
      local time_s, expected = mutant(s[1], s[2], s[3], s[4], layers, batches), simulated(s, layers, batches)
      caught = caught or math.abs(time_s - expected) > 1e-9 * expected
    end
    test.check(caught, "not caught: %s", name)
  end
end)

-- Prices ----------------------------------------------------------------------------------------------------------

test("off is the price without the keys, to the last bit", function()
  for _, model in ipairs { "deepseek-v3", "qwen3-30b-a3b" } do
    for _ = 1, 3 do
      local batch, changes = random_batch(true, true), { model = model }
      test.equal(priced({ tp = 2, expert_gpus = 0, micro_batches = 1 }, batch, changes).time_s,
        priced({ tp = 2 }, batch, changes).time_s)
    end
  end
end)

--- Rows of the GPUs of attention, of experts, of links, and of queues.
local function parts_of(found)
  local out = { attention = 0, experts = 0, links = 0, wait = 0 }
  for _, row in ipairs(found.rows) do
    local name = (row.name:find "^experts$" or row.name:find "^experts@") and "experts"
      or row.name:find "^afd_[dc]" and "links" or row.name == "afd_wait" and "wait" or "attention"
    out[name] = out[name] + row.time_s * (row.count or 1)
  end
  return out
end

test("every second of a step has a row, and one micro-batch is the sum of its parts", function()
  for _, case in ipairs(cases) do
    for _, batches in ipairs { 1, 2, 3 } do
      local batch = random_batch(math.random(2) == 1, true)
      local found = priced(merged(case[2], { micro_batches = batches }), batch, { model = case[1], hardware = case[3] })
      local parts = parts_of(found)
      test.near(parts.attention + parts.experts + parts.links + parts.wait, found.time_s, 1e-9, case[1])
      test.check(parts.links > 0 and parts.experts > 0)
      if batches == 1 then test.equal(parts.wait, 0) end
      test.equal(sum(found.rows, "^not_itemised", "count") + sum(found.rows, "^overlap", "count"), 0)
    end
  end
end)

test("rows travel there and back: copies of each row, in the format of the experts and in 16 bit", function()
  for _, each in ipairs { { cases[1], 7168, 8, 58, 1 + 1 / 32, 4 }, { cases[2], 7168, 8 * 2, 58, 1 + 1 / 32, 4 },
    { cases[3], 2048, 4, 48, 2, 2 }, { cases[4], 4096, 8, 94, 2, 8 },
    { { "qwen3-30b-a3b", { tp = 2, ep = 4, expert_gpus = 4, weights = "nvfp4" }, "gb200" }, 2048, 4, 48, 9 / 16,
      2 } } do
    local case, width, copies, layers, element, gpus = unpack(each)
    for _, batches in ipairs { 1, 2, 3 } do
      local batch = random_batch(false, true)
      local rows = priced(merged(case[2], { micro_batches = batches }), batch,
        { model = case[1], hardware = case[3] }).rows
      local tokens = batch.decodes * (case[2].dp or 1)
      test.near(sum(rows, "^afd_dispatch", "bytes"), layers * tokens * copies * width * element / gpus, 1e-9, case[1])
      test.near(sum(rows, "^afd_combine", "bytes"), layers * tokens * copies * width * 2 / gpus, 1e-9, case[1])
    end
  end
end)

test("GPUs of experts do the work of the experts of all ranks, however many micro-batches there are", function()
  for _, batches in ipairs { 1, 2, 4 } do
    local batch = random_batch(false, true)
    local rows = priced({ tp = 2, ep = 4, expert_gpus = 4, micro_batches = batches }, batch,
      { model = "qwen3-30b-a3b" }).rows
    test.near(sum(rows, "^experts$", "flop"), 48 * batch.decodes * 8 * 6 * 2048 * 768 / 4, 1e-9)
    for _, row in ipairs(rows) do
      if row.name == "mlp_all_reduce" then test.equal(row.count, 48 * batches) end
    end
    test.equal(sum(rows, "^expert_exchange", "count"), 0)
  end
end)

test("attention computes the same pairs and reads the same keys in micro-batches", function()
  for _, case in ipairs { cases[1], cases[3] } do
    local batch = random_batch(true, true)
    local one = priced(merged(case[2], {}), batch, { model = case[1] }).rows
    local sorted_s = 1.4e-10 * spec.model(case[1]).vocab_size * (batch.decodes + #batch.prefills)
    test.near(sum(one, "^sampler", "time_s"), 150e-6 + sorted_s, 1e-9)
    for _, batches in ipairs { 2, 3, 4 } do
      local own = priced(merged(case[2], { micro_batches = batches }), batch, { model = case[1] }).rows
      for _, pattern in ipairs { "^attention_decode", "^attention_prefill", "^o$" } do
        test.near(sum(own, pattern, "flop") / sum(one, pattern, "flop"), 1, 1e-9, case[1] .. " " .. pattern)
      end
      test.near(sum(own, "^attention_decode", "bytes") / sum(one, "^attention_decode", "bytes"), 1, 1e-9)
      test.near(sum(own, "^sampler", "time_s") / sum(one, "^sampler", "time_s"), 1, 1e-9)
    end
  end
end)

local function with_links(name, factor)
  local base = spec.hardware(name)
  return spec.hardware { from = name, link_bytes_per_s = base.link_bytes_per_s * factor,
    network_bytes_per_s = base.network_bytes_per_s > 0 and base.network_bytes_per_s * factor or nil }
end

test("faster links never make a step slower, and free ones leave attention and experts", function()
  for _, case in ipairs(cases) do
    for _, batches in ipairs { 1, 3 } do
      local batch, before = random_batch(false, true), math.huge
      local name = case[3] or "h200-sxm"
      for _, factor in ipairs { 0.5, 1, 2, 8 } do
        local time_s = priced(merged(case[2], { micro_batches = batches }), batch,
          { model = case[1], hardware = with_links(name, factor) }).time_s
        test.check(time_s <= before * (1 + 1e-9), "%s: %g after %g", case[1], time_s, before)
        before = time_s
      end
    end
  end
end)

--- Seconds of what a step takes once, whatever its micro-batches are.
local function once_of(found)
  return sum(found.rows, "^lm_head", "time_s") + sum(found.rows, "^logits_gather", "time_s")
    + sum(found.rows, "^sampler", "time_s")
end

--- One of `count` micro-batches, as a batch of its own.
local function part_of(batch, count)
  local out = { prefills = {}, decodes = batch.decodes / count,
    decode_context_tokens = batch.decode_context_tokens / count }
  for i, chunk in ipairs(batch.prefills) do
    local piece = chunk.new_tokens / count
    out.prefills[i] = { new_tokens = piece, context_tokens = chunk.context_tokens + (chunk.new_tokens - piece) / 2 }
  end
  if batch.group then
    local group = batch.group
    out.group = { ranks = group.ranks, tokens = group.tokens / count, max_tokens = group.max_tokens / count,
      prefills = group.prefills }
  end
  return out
end

local moe_layers = { ["deepseek-v3"] = 58, ["qwen3-30b-a3b"] = 48, ["qwen3-235b-a22b"] = 94, ["gpt-oss-120b"] = 36 }

test("a step is the pipeline of what a micro-batch takes alone, and what is sampled once", function()
  local compared, queued = 0, 0
  for round = 1, 4 do
    for _, case in ipairs(cases) do
      local batch, layers = random_batch(round > 2, true), moe_layers[case[1]]
      local dp = case[2].dp
      if dp and round % 2 == 0 then
        local tokens = batch.decodes
        for _, chunk in ipairs(batch.prefills) do tokens = tokens + chunk.new_tokens end
        batch.group = { ranks = dp, tokens = tokens + (dp - 1) * 120, max_tokens = math.max(tokens, 120),
          prefills = #batch.prefills > 0 and 1 or 0 }
      end
      for _, batches in ipairs { 2, 3, 4 } do
        local changes = { model = case[1], hardware = case[3], engine = case[1]:find "^qwen" and "vllm 0.24" or nil }
        local one = priced(merged(case[2], {}), part_of(batch, batches), changes)
        local all = priced(merged(case[2], { micro_batches = batches }), batch, changes)
        local on_host = sum(one.rows, "^host", "count") + sum(one.rows, "^eager", "count")
          + sum(all.rows, "^host", "count") + sum(all.rows, "^eager", "count")
        if on_host == 0 then
          local parts = parts_of(one)
          local time_s, alone_s = afd.pipeline((parts.attention - once_of(one)) / layers,
            sum(one.rows, "^afd_dispatch", "time_s") / layers, parts.experts / layers,
            sum(one.rows, "^afd_combine", "time_s") / layers, layers, batches)
          test.near(all.time_s, time_s + once_of(all), 1e-9, ("%s x %d"):format(case[1], batches))
          test.near(parts_of(all).wait, time_s - alone_s, 1e-6)
          compared, queued = compared + 1, queued + (time_s > alone_s and 1 or 0)
        end
      end
    end
  end
  test.check(compared >= 20 and queued >= 3, "%d, %d of them with queues", compared, queued)
end)

test("a way takes its latency and its bytes over the link of a GPU, in a domain or over the network", function()
  for _, each in ipairs { { cases[3], "NVLink" }, { cases[1], "network" }, { cases[2], "NVLink" } } do
    local case, name = each[1], each[2]
    local hardware = spec.hardware(case[3] or "h200-sxm")
    local latency_s, bytes_per_s = 15e-6, 0.8 * hardware.network_bytes_per_s
    if name == "NVLink" then
      latency_s = hardware.constants.all_to_all_small_s
      bytes_per_s = hardware.constants.all_to_all_link_share * hardware.link_bytes_per_s
    end
    local seen = 0
    local batch = { prefills = {}, decodes = 48, decode_context_tokens = 48 * 3000 } -- as large as a graph
    for _, row in ipairs(priced(merged(case[2], {}), batch, { model = case[1], hardware = case[3] }).rows) do
      if row.name:find "^afd_[dc]" then
        test.near(row.time_s, latency_s + row.bytes / bytes_per_s, 1e-9, row.name)
        test.check(row.note:find(name .. "; 0 %% of its time is hidden"), row.note)
        seen = seen + 1
      end
    end
    test.equal(seen, 2)
  end
end)

test("experts get sorted rows where the exchange is DeepEP's", function()
  local batch, Kernels = { prefills = {}, decodes = 48, decode_context_tokens = 48 * 3000 }, require "steps.kernels"
  local function price(deployment)
    local rows = priced(deployment, batch, { hardware = "gb200", steps = Kernels { exchange = "deepep" } }).rows
    for _, row in ipairs(rows) do
      if row.name == "experts" then return row.time_s, row.kind end
    end
  end
  local apart_s, kind = price { dp = 16, ep = 16, expert_gpus = 16 }
  test.equal(kind, "moe_experts")
  test.near(apart_s, price { dp = 16, ep = 16 }, 1e-9, "the same rows of as many ranks")
  test.check(price { dp = 16, ep = 32, expert_gpus = 32 } < apart_s)
end)

test("experts of uneven ranks see the rows that there are, by the engine's rule of padding", function()
  local batch = { prefills = {}, decodes = 40, decode_context_tokens = 40 * 3000,
    group = { ranks = 4, tokens = 100, max_tokens = 40, prefills = 0 } }
  for engine, tokens in pairs { ["sglang 0.5.14"] = "tokens=100 ", ["vllm 0.24"] = "tokens=100 as tokens=160 " } do
    local rows = priced(merged(cases[1][2], {}), batch, { engine = engine }).rows
    for _, row in ipairs(rows) do
      if row.name == "afd_dispatch" then test.check(row.shape:find(tokens, 1, true), engine .. ": " .. row.shape) end
    end
  end
end)

test("ranks add up the results that come back, and rows that are padded count as what they are", function()
  local batch = { prefills = {}, decodes = 37, decode_context_tokens = 37 * 2000 }
  local rows = priced({ tp = 2, ep = 4, expert_gpus = 4 }, batch, { model = "qwen3-30b-a3b" }).rows
  test.near(sum(rows, "^afd_reduce", "bytes"), 48 * 37 * (4 + 1) / 2 * 2 * 2048, 1e-9)
  test.near(sum(rows, "^afd_combine", "bytes"), 48 * 37 * 4 * 2048 * 2 / 2, 1e-9)
  test.near(sum(rows, "^o$", "flop"), 48 * 37 * 2 * 2048 * 2048, 1e-9)
  for _, row in ipairs(rows) do
    if row.name == "afd_combine" then
      test.check(row.shape:find "tokens=37 as tokens=40 copies=4 gpus=2%+4", row.shape)
    end
  end
end)

test("more requests, tokens and context never make a step cheaper", function()
  for _, case in ipairs(cases) do
    for _, batches in ipairs { 1, 2, 3 } do
      local batch, deployment = random_batch(true, true), merged(case[2], { micro_batches = batches })
      local base_s = priced(deployment, batch, { model = case[1], hardware = case[3] }).time_s
      local function check(what)
        local time_s = priced(deployment, batch, { model = case[1], hardware = case[3] }).time_s
        test.check(time_s >= base_s * (1 - 1e-4), "%s x %d: %s: %.9g after %.9g", case[1], batches, what, time_s,
          base_s)
      end
      local first = batch.prefills[1]
      first.new_tokens = first.new_tokens + math.random(1, 50)
      check "a longer chunk"
      first.context_tokens = first.context_tokens + math.random(1, 5000)
      check "more cached tokens"
      batch.decodes, batch.decode_context_tokens = batch.decodes + 1, batch.decode_context_tokens + 2000
      check "a further decode"
    end
  end
end)

test("a batch of fewer tokens than micro-batches is cut into as many", function()
  local batch = { prefills = {}, decodes = 1, decode_context_tokens = 5000 }
  local changes = { model = "qwen3-30b-a3b" }
  test.equal(priced({ ep = 4, expert_gpus = 4, micro_batches = 4 }, batch, changes).time_s,
    priced({ ep = 4, expert_gpus = 4 }, batch, changes).time_s)
end)

test("constants of the network are those of published dispatches, and predict published ways back", function()
  -- DeepEP, docs/legacy.md: microseconds of 128 tokens, top 8, 7168 wide, on H800 with 50 GB/s of network for each.
  local dispatch = { [64] = 173, [128] = 192, [256] = 194 }
  local combine = { [64] = 314, [128] = 369, [256] = 360 }
  local steps = require "steps.kernels" {}
  for ranks, published in pairs(dispatch) do
    local function taken(element)
      local bytes = 128 * 8 * 7168 * element * (ranks - 8) / ranks -- eight ranks are in a node
      return 1e6 * (steps.afd_network_latency_s + bytes / (steps.afd_network_share * 50e9))
    end
    test.near(taken(1 + 1 / 32), published, 0.06, ranks .. " ranks")
    test.near(taken(2), combine[ranks], 0.09, ranks .. " ranks, on the way back")
  end
end)

test.finish()
