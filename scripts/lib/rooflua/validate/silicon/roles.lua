-- The engines of a deployment by what they do, and the ranks of each that schedule requests of their own.
--
--     one engine          one role; a rank per copy of its attention (dp)
--     prefill and decode  two roles, each with engines of its own widths
--
-- A rank is a replica. Its steps are priced as if the other ranks of its engine had as many tokens: ranks do not wait
-- for each other.
local roles = {}

--- Note of a run with several ranks in an engine.
roles.ranks_note = "ranks of attention (dp) are replicas that do not wait for each other"

--- Widths of one rank's engine. A dense model's copies are engines of their own.
local function widths_of(widths, model)
  if model.moe or widths.dp == 1 then return widths end
  return { tp = widths.tp, dp = 1, moe_tp = widths.tp, ep = 1, text = widths.text }
end

local function role(question, name, widths, engines, model)
  local ranks = engines * widths.dp
  return setmetatable({ role = name, widths = widths_of(widths, model), ranks = ranks,
    clients_per_rank = math.ceil(question.clients / ranks) }, { __index = question })
end

--- The question as each role sees it: with `role` (nil for one engine), `widths`, `ranks` and `clients_per_rank`.
function roles.of(question, model)
  if question.mode ~= "pd" then return { role(question, nil, question.widths, 1, model) } end
  return { role(question, "prefill", question.prefill, question.prefill_engines, model),
    role(question, "decode", question.decode, question.decode_engines, model) }
end

--- Settings of an engine as settings of each of its ranks. SGLang divides them; the others state them for a rank.
function roles.of_rank(values, question)
  local dp = question.widths.dp
  if question.engine == "sglang" and dp > 1 then
    values.chunk, values.seats = math.ceil(values.chunk / dp), math.ceil(values.seats / dp)
  end
  return values
end

--- Prompts go round between engines; between the ranks of one vLLM engine, to the one with the fewest requests.
function roles.router(question)
  return question.mode ~= "pd" and question.engine == "vllm" and "least_outstanding" or "round_robin"
end

--- The key `network` between prefill and decode. Heads are divided among the ranks of a TP group, and each rank has a
--- link. The latent of MLA is whole on every rank, and every rank of the decode group reads all of it.
function roles.network(prefill, decode, model, values)
  local links = math.min(prefill.widths.tp, decode.widths.tp)
  if model.mla then links = math.min(1, prefill.widths.tp / decode.widths.tp) end
  return { alpha_s = values.transfer_s, bytes_per_s = links * values.transfer_bytes_per_s }
end

return roles
