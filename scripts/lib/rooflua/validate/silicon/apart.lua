-- Settings of deployments whose prefill and decode run on engines of their own. They are part of the table of
-- settings.lua and written as its entries are: `role` is the engines for which an entry holds. The launch scripts of
-- InferenceX for one engine do not hold here; its recipes for prefill and decode apart are those of srt-slurm.
--
--     transfer_bytes_per_s    of one GPU, to a GPU of another engine
--     transfer_s              of a prompt beside its bytes: what the engines say to each other
local apart = {}

local both = { "prefill", "decode" }
local hopper, boards = { "h100_sxm", "h200_sxm" }, { "b200_sxm", "b300_sxm" }
local racks = { "gb200", "gb300" }

local network_source = "GB/s per GPU and direction: network cards, NVLink; latency unsourced"
local generator_source = "aiconfigurator 095f58a5: rule_plugin/benchmark/"
local recipe_source = "srt-slurm: "
local fitted_source = "fitted to TTFT of the engine's deployments; docs/VALIDATION.md, \"Handing over\""

--- Requests of one decode rank, where all are in decode.
local function batch(question) return question.clients_per_rank end

--- TensorRT-LLM's budget is a multiple of a block.
local function whole_blocks(tokens) return math.ceil(tokens / 32) * 32 end

--- Recipes that serve several numbers of clients, in FP4 with whole experts on the ranks of one attention. Engines are
--- those of decode.
local several = {
  { system = "b200_sxm", tp = 8, engines = 5, isl = 1024, clients = { 10, 15, 25, 45, 90, 180 } },
  { system = "b200_sxm", tp = 8, engines = 5, isl = 8192, clients = { 10, 15, 25, 50, 100 } },
  { system = "b300_sxm", tp = 4, engines = 5, isl = 1024, clients = { 5, 10, 15, 25 } },
  { system = "b300_sxm", tp = 8, engines = 5, isl = 1024, clients = { 60, 110, 195, 395 } },
  { system = "gb200", tp = 8, engines = 4, isl = 1024, clients = { 12, 24, 48, 96, 192 } },
  { system = "gb200", tp = 8, engines = 4, isl = 8192, clients = { 12, 44, 76 } },
  { system = "gb300", tp = 8, engines = 4, isl = 1024, clients = { 12, 48, 96, 192 } },
  { system = "gb300", tp = 4, engines = 5, isl = 8192, clients = { 5, 15, 30 } },
}

--- The most clients of the recipe that a question belongs to.
local function most_clients(question)
  if question.format ~= "fp4" or question.widths.dp > 1 or question.osl ~= 1024 then return question.clients end
  for _, each in ipairs(several) do
    if each.system == question.system and each.tp == question.widths.tp and each.engines == question.engines
      and each.isl == question.isl then
      for _, clients in ipairs(each.clients) do
        if clients == question.clients then return each.clients[#each.clients] end
      end
    end
  end
  return question.clients
end

--- Whether a recipe has room for all clients in each engine: those in FP8 for H200, and for B200 with prompts of 8,192
--- tokens or without expert parallelism.
local function has_room(question)
  if question.format ~= "fp8" then return false end
  return question.system == "h200_sxm" or question.widths.ep == 1 and question.widths.dp == 1
    or question.system == "b200_sxm" and question.isl == 8192
end

local uneven = { 48, 192, 768 }  -- batches of data-parallel ranks that are no powers of two

--- max_batch_size of a recipe, as its name tells (ctx1_gen3_tep8_batch4). Recipes have a few clients more than seats:
--- the batch is the largest power of two that the clients of a rank fill, and in FP8 1 for two clients. One name says
--- 8 where this rule says 16 (B200 with 100 clients).
local function recipe_batch(question)
  if has_room(question) then return 2 ^ math.ceil(math.log(question.clients / question.engines) / math.log(2)) end
  local each = most_clients(question) / question.ranks
  if each <= 2 and question.format == "fp8" then return 1 end
  local found = 2 ^ math.floor(math.log(math.max(each, 1)) / math.log(2) + 1e-9)
  for _, one in ipairs(question.widths.dp > 1 and uneven or {}) do
    if one <= each then found = math.max(found, one) end
  end
  return found
end

local prefill_tokens = 16384

--- max_batch_size and max_num_tokens of TensorRT-LLM's engines for prompts in FP8, where they are not those of racks.
local steps_of_fp8 = {
  b200_sxm = { [8192] = { 1, 8320 } },
  h200_sxm = { [1024] = { 8, 8192 }, [8192] = { 2, 16640 } },
  h100_sxm = { [1024] = { 2, 2048 }, [8192] = { 1, 8224 } },
}

local function step_of_fp8(question)
  return question.format == "fp8" and (steps_of_fp8[question.system] or {})[question.isl] or nil
end

local function prompts_of_a_step(question)
  local own = step_of_fp8(question)
  return own and own[1] or math.max(1, math.floor(prefill_tokens / question.isl))
end

local function tokens_of_a_step(question)
  local own = step_of_fp8(question)
  return own and own[2] or math.max(prefill_tokens, question.isl)
end

--- mem_fraction_static: engines of four GPUs have little room beside the weights.
local function memory_of_a_rack(question)
  return { "static", question.widths.tp * question.widths.dp <= 4 and 0.95 or 0.85 }
end

--- A setting of each rank, where an engine with one rank has another one.
local function by_rank(of_one, of_a_rank)
  return function(question) return question.widths.dp > 1 and of_a_rank or of_one end
end

--- The same for settings that SGLang divides by dp.
local function by_width(of_one, of_a_rank)
  return function(question) return question.widths.dp > 1 and of_a_rank * question.widths.dp or of_one end
end

--- max-num-seqs of vLLM's recipes. The one for prompts of 8,192 tokens on four GPUs has fewer than its clients fill;
--- the rows with 1,024 tokens show none that wait.
local function seats_of_vllm(question) return question.widths.dp == 1 and question.isl >= 8192 and 16 or 512 end

--- Experts that tokens travel to by DeepEP need DeepGEMM, and the recipes leave it on there; all others turn it off.
local function block_gemm_of_a_rack(question)
  return question.widths.dp > 1 and question.widths.ep > 1 and "own" or "flashinfer"
end

--- Attention on DP ranks, and experts whole or split among them.
local function on_ranks(given, whole)
  local gpus = given.tp * given.dp
  return { tp = 1, dp = gpus, moe_tp = whole and 1 or gpus, ep = whole and gpus or 1, text = given.text }
end

--- The widths of an engine, where recipes have others than the file.
---
--- - vLLM on racks: the file has the GPUs as tp. Recipes (srt-slurm, recipes/vllm/kimi-k2.5: disagg-gb200-1p4d-tep4,
---   -3p1d, -6p1d-dep16) have attention on DP ranks in every engine that prefills, and in decode engines of 16 GPUs.
--- - TensorRT-LLM in FP8: engines that prefill have attention on DP ranks, with split experts (recipes/trtllm/b200-fp8,
---   8k1k: moe_expert_parallel_size 1) or whole ones (recipes/trtllm/h200, 1k1k). The file spells one engine in three
---   ways.
function apart.widths(question, role)
  local given = question[role]
  if not question.is_export then return given end
  if question.engine == "vllm" then
    local is_rack = question.system:find "^gb" and given.dp == 1
    return is_rack and (role == "prefill" or given.tp >= 16) and on_ranks(given, true) or given
  end
  if question.engine ~= "trtllm" or question.format ~= "fp8" or role ~= "prefill" then return given end
  if question.system == "b200_sxm" and question.isl == 8192 then return on_ranks(given, false) end
  if question.system == "h200_sxm" and question.isl == 1024 then return on_ranks(given, true) end
  return given
end

apart.entries = {
  { role = both, system = hopper, values = { transfer_bytes_per_s = 50e9, transfer_s = 10e-6 },
    source = network_source },
  { role = both, system = boards, values = { transfer_bytes_per_s = 100e9, transfer_s = 10e-6 },
    source = network_source },
  { role = both, system = racks, values = { transfer_bytes_per_s = 900e9, transfer_s = 10e-6 },
    source = network_source .. "; engines are in one NVLink domain" },
  -- What aiconfigurator's generator writes.
  { export = false, role = "prefill", engine = "vllm", values = { seats = 1, largest_graph = 1,
      budget = function(question) return question.isl + 1500 end }, source = generator_source .. "vllm.rule" },
  { export = false, role = "decode", engine = "vllm", values = { seats = batch, budget = batch,
      largest_graph = batch }, source = generator_source .. "vllm.rule" },
  { export = false, role = "prefill", engine = "trtllm", values = { seats = 1, largest_graph = 1,
      budget = function(question) return whole_blocks(question.isl + 1500) end },
    source = generator_source .. "trtllm.rule" },
  { export = false, role = "decode", engine = "trtllm", values = { seats = batch, largest_graph = batch,
      budget = function(question) return whole_blocks(batch(question)) end },
    source = generator_source .. "trtllm.rule" },
  { export = false, role = "prefill", engine = "sglang", values = { seats = 1, largest_graph = 1, mixed_chunk = false,
      budget = function(question) return question.isl + 1500 end }, source = generator_source .. "sglang.rule" },
  { export = false, role = "decode", engine = "sglang", values = { seats = batch, largest_graph = batch,
      mixed_chunk = false, budget = function(question) return question.isl + 1500 end },
    source = generator_source .. "sglang.rule" },
  -- Recipes for InferenceX.
  { export = true, role = "prefill", engine = "trtllm", values = { seats = prompts_of_a_step,
      budget = tokens_of_a_step, memory = { "free", 0.6 }, kv = "fp8", largest_graph = 0 },
    source = recipe_source .. "gb200/1k1k/stp, gb200/8k1k/stp; in FP8 trtllm/b200-fp8, h200, h100-fp8" },
  { export = true, role = "decode", engine = "trtllm", values = { seats = recipe_batch, largest_graph = recipe_batch,
      budget = function(question) return whole_blocks(recipe_batch(question)) end, memory = { "free", 0.8 },
        kv = "fp8" }, source = recipe_source .. "names of recipes/trtllm, such as ctx1_gen1_dep8_batch512_eplb0_mtp0" },
  { export = true, role = both, engine = "sglang", values = { chunk = by_width(32768, 16384),
      budget = by_rank(32768, 16384), seats = by_width(512, 128), memory = { "static", 0.85 }, kv = "fp8",
      block_size = 64, largest_graph = 512 },
    source = recipe_source .. "recipes/b200-fp8/8k1k-stp.yaml; with dp 8k1k/stp/max-tpt-dep8-1p1d.yaml" },
  { export = true, role = both, engine = "sglang", values = { transfer_s = 0.12 }, source = fitted_source },
  { export = true, role = both, engine = "vllm", values = { transfer_s = 0.22 }, source = fitted_source },
  { export = true, role = "prefill", engine = "vllm", system = racks, values = { seats = 64, budget = 16384,
      largest_graph = 0, largest_prefill_graph = 0, kv = "fp8", block_size = 64 },
    source = recipe_source .. "recipes/vllm/kimi-k2.5/disagg-gb200-1p4d-tep4.yaml" },
  { export = true, role = "decode", engine = "vllm", system = racks, values = { seats = seats_of_vllm, budget = 10240,
      largest_graph = 512, kv = "fp8", block_size = 64 },
    source = recipe_source .. "recipes/vllm/kimi-k2.5/disagg-gb200-1p4d-tep4.yaml, -6p1d-dep16.yaml" },
  { role = "prefill", engine = { "sglang", "vllm" }, values = { prompt_overhead = 0 },
    source = "none is seen in engines that only prefill; docs/VALIDATION.md, \"Prompts under load\"" },
  { export = true, role = both, engine = "sglang", system = racks, values = { memory = memory_of_a_rack },
    source = recipe_source .. "recipes/gb200-fp8/1k1k/low-latency.yaml, recipes/gb200-fp4/1k1k/low-latency.yaml" },
  { export = true, role = "decode", engine = "sglang", system = racks, values = { exchange = "deepep" },
    source = recipe_source .. "max-tpt and high-tpt recipes: moe-a2a-backend deepep, deepep-mode low_latency" },
  { export = true, role = both, engine = "sglang", system = racks, tp = 4, values = { chunk = 8192, budget = 16384,
      largest_graph = 256, recv_interval = 10 }, source = recipe_source .. "the same" },
  { export = true, role = "prefill", engine = "sglang", system = racks, format = "fp8",
    values = { exchange = "deepep" },
    source = recipe_source .. "recipes/gb200-fp8/1k1k/max-tpt.yaml, 8k1k/max_tpt.yaml: deepep-mode normal" },
  { export = true, role = both, engine = "sglang", system = boards, format = "fp8",
    values = { block_gemm = "flashinfer" },
    source = recipe_source .. "recipes/b200-fp8/8k1k-stp.yaml, 8k1k/stp/max-tpt-dep8-1p1d.yaml: DeepGEMM is off" },
  { export = true, role = both, engine = "sglang", system = racks, format = "fp8",
    values = { block_gemm = block_gemm_of_a_rack },
    source = recipe_source .. "recipes/gb200-fp8/8k1k/low-latency.yaml: fp8-gemm-backend; max_tpt.yaml" },
  { export = true, role = "prefill", engine = "sglang", values = { largest_graph = 0 },
    source = recipe_source .. "recipes/b200-fp8/8k1k-stp.yaml: disable-cuda-graph" },
}

return apart
