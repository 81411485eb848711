-- Does a planner order deployments as measurements do? Of every model, GPU and lengths with five measured deployments
-- or more: Kendall's tau of the most output tokens per second and GPU with a mean TPOT within a limit.
--
--     rooflua validate FILE.csv --wide --json errors.json
--     rooflua lua tests/fidelity/plan_order.lua errors.json FILE.csv [TPOT in ms]
local json = require "rooflua.json"
local rows = require "rooflua.validate.closed_loops.rows"

local errors_path, path = arg[1], arg[2]
local most_tpot_s, fewest = (tonumber(arg[3]) or 30) / 1e3, 5

local function read(name)
  local file = assert(io.open(name))
  local text = file:read "*a"
  file:close()
  return json.decode(text)
end

local function gpus_of(question)
  local sum = 0
  for _, part in ipairs(question.parts) do sum = sum + part.engines * part.widths.tp * part.widths.dp end
  return sum
end

local function speed(question, ttft_s, tpot_s)
  if tpot_s > most_tpot_s then return 0 end
  return question.clients * question.osl / (ttft_s + (question.osl - 1) * tpot_s) / gpus_of(question)
end

local function collect()
  local simulated, groups = {}, {}
  for _, each in ipairs(read(errors_path).questions) do simulated[each.question] = each.simulated end
  for _, question in ipairs(rows.read(path)) do
    local found = not question.problem and simulated[question.id]
    if found then
      local name = table.concat({ question.family, question.system, question.isl, question.osl }, " ")
      groups[name] = groups[name] or {}
      local key = question.key
      for _, part in ipairs(question.parts) do key = key .. "|" .. part.engines end
      local own = groups[name][key] or { measured = 0, simulated = 0 }
      groups[name][key] = own
      own.measured = math.max(own.measured, speed(question, question.measured.ttft, question.measured.tpot))
      own.simulated = math.max(own.simulated, speed(question, found.ttft_mean, found.tpot_mean))
    end
  end
  return groups
end

local function sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end

--- Kendall's tau-b.
local function tau_of(list)
  local agree, only_a, only_b = 0, 0, 0
  for i = 1, #list do
    for j = i + 1, #list do
      local a, b = sign(list[i].measured - list[j].measured), sign(list[i].simulated - list[j].simulated)
      agree = agree + a * b
      only_a, only_b = only_a + a * a, only_b + b * b
    end
  end
  return agree / math.sqrt(only_a * only_b)
end

local function best_of(list, key)
  local best = list[1]
  for _, each in ipairs(list) do
    if each[key] > best[key] then best = each end
  end
  return best
end

local groups, names, sum, same, share = collect(), {}, 0, 0, 0
for name, deployments in pairs(groups) do
  local list = {}
  for _, each in pairs(deployments) do
    if each.measured > 0 then list[#list + 1] = each end
  end
  if #list >= fewest then names[#names + 1], groups[name] = name, list end
end
table.sort(names)
for _, name in ipairs(names) do
  local list = groups[name]
  local tau, chosen, best = tau_of(list), best_of(list, "simulated"), best_of(list, "measured")
  sum, same = sum + tau, same + (chosen == best and 1 or 0)
  share = share + chosen.measured / best.measured
  print(("%-44s %3d deployments, tau %5.2f, the chosen one has %3.0f %% of the best"):format(name, #list, tau,
    100 * chosen.measured / best.measured))
end
print(("%d groups: mean tau %.3f, the same best in %d, the chosen one has %.1f %% of the best"):format(#names,
  sum / #names, same, 100 * share / #names))
