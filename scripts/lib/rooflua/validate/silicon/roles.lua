-- The engines of a deployment by what they do, and the ranks of each that schedule requests of their own.
--
--     one engine          one role; a rank per copy of its attention (dp); a few rows are of several engines
--     prefill and decode  two roles, each with engines of its own widths
--
-- A rank is a replica; the ranks of an engine step together. Copies of a dense model's attention are engines of their
-- own.
local apart = require "rooflua.validate.silicon.apart"

local roles = {}

--- Widths of one rank's engine. A dense model's copies are engines of their own.
local function widths_of(widths, model)
  if model.moe or widths.dp == 1 then return widths end
  return { tp = widths.tp, dp = 1, moe_tp = widths.tp, ep = 1, text = widths.text }
end

local function role(question, name, widths, engines, model)
  local ranks = engines * widths.dp
  local own = widths_of(widths, model)
  return setmetatable({ role = name, widths = own, engines = ranks / own.dp, ranks = ranks,
    clients_per_engine = math.ceil(question.clients * own.dp / ranks),
    clients_per_rank = math.ceil(question.clients / ranks) }, { __index = question })
end

--- GPUs of rows whose clients are those of several engines. aiconfigurator's generator measures its configurations with
--- workers x batch clients (rule_plugin/benchmark/trtllm.rule at 581e4591, estimated_concurrency), and rows of one role
--- do not say how many workers. The row with prefill and decode apart of this release does: 40 and 6, on 64 GPUs.
local shared = { engine = "trtllm", version = "1.3.0rc5", gpus = 64 }

--- Engines of a row of one role.
local function engines_of(question)
  local is_shared = not question.is_export and question.engine == shared.engine and question.version == shared.version
  local gpus = question.widths.tp * question.widths.dp
  return is_shared and math.max(1, math.floor(shared.gpus / gpus)) or 1
end

--- The question as each role sees it: with `role` (nil for one engine), `widths`, `engines`, `ranks` of all engines,
--- `clients_per_engine` and `clients_per_rank`.
function roles.of(question, model)
  if question.mode ~= "pd" then return { role(question, nil, question.widths, engines_of(question), model) } end
  return { role(question, "prefill", apart.widths(question, "prefill"), question.prefill_engines, model),
    role(question, "decode", apart.widths(question, "decode"), question.decode_engines, model) }
end

--- SGLang reserves less for running requests where attention is data parallel.
--- Source: SGLang server_args.py, schedule_conservativeness * 0.3 with enable_dp_attention.
local sglang_conservativeness = 0.3

--- Settings of an engine as settings of each of its ranks. SGLang divides them; the others state them for a rank.
function roles.of_rank(values, question)
  local dp = question.widths.dp
  if question.engine == "sglang" and dp > 1 then
    values.chunk, values.seats = math.ceil(values.chunk / dp), math.ceil(values.seats / dp)
    values.conservativeness = sglang_conservativeness
  end
  return values
end

--- Prompts go round between engines, and in SGLang and TensorRT-LLM between the ranks of an engine, too; vLLM looks at
--- the counts of its ranks.
--- @param list table of roles.of
function roles.router(list)
  local ranks = list[1].mode ~= "pd"
  for _, each in ipairs(list) do ranks = ranks or each.widths.dp > 1 end
  return ranks and list[1].engine == "vllm" and "vllm_dp" or "round_robin"
end

--- The key `network` between prefill and decode. Heads are divided among the ranks of a TP group, and each rank has a
--- link. The latent of MLA is whole on every rank, and every rank of the decode group reads all of it.
function roles.network(prefill, decode, model, values)
  local links = math.min(prefill.widths.tp, decode.widths.tp)
  if model.mla then links = math.min(1, prefill.widths.tp / decode.widths.tp) end
  return { alpha_s = values.transfer_s, bytes_per_s = links * values.transfer_bytes_per_s }
end

return roles
