-- The files of a plan: for every rank a command, manifests, the benchmark that would prove it wrong, and its scenario.
-- What was priced is what is written.
local catalogue = require "rooflua.engines.catalogue"
local chunks = require "rooflua.sandbox.chunks"
local bench = require "rooflua.plan.bench"
local candidates = require "rooflua.plan.candidates"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local flags = require "rooflua.plan.flags"
local kubernetes = require "rooflua.plan.kubernetes"
local options = require "rooflua.plan.options"
local policy = require "rooflua.policy"
local words = require "rooflua.plan.words"

local artefacts = {}

--- Words of a command, an option and its values on one line each.
local function command_text(list)
  local lines = {}
  for _, word in ipairs(list) do
    if #lines == 0 or word:sub(1, 2) == "--" then
      lines[#lines + 1] = word
    else
      lines[#lines] = lines[#lines] .. " " .. word
    end
  end
  return table.concat(lines, " \\\n  ")
end

local function roles_of(candidate, replicas)
  if not candidate.split then return { { count = replicas } } end
  return { { role = "prefill", count = replicas * candidate.split.prefill },
    { role = "decode", count = replicas * candidate.split.decode } }
end

local function words_of(engine, model, more)
  local out = {}
  if engine.model ~= "" then out[1] = engine.model end
  out[#out + 1] = model
  for _, each in ipairs(more) do out[#out + 1] = each end
  return out
end

local function gpus_text(question, item)
  return words.gpus(question, item.candidate, item.result, candidates.widths_text(item.candidate))
end

local function header(question, item, rank, note)
  local lines = { "#!/usr/bin/env bash", ("# Rank %d: %s"):format(rank, gpus_text(question, item)) }
  if note then lines[#lines + 1] = "# " .. note end
  return table.concat(lines, "\n")
end

--- serve.sh: how one replica is started; of a split deployment one of each role.
local function serve_text(question, item, rank, about)
  local candidate = item.candidate
  local engine, lines = about.engine, { header(question, item, rank, about.note), "set -euo pipefail" }
  if not about.model then
    lines[#lines + 1] = "MODEL=${MODEL:?the Hugging Face name or the folder of " .. question.model.name .. "}"
  end
  local model = about.model or '"$MODEL"'
  local yaml = flags.yaml(question, candidate, about.version)
  if yaml then lines[#lines + 1] = "cat > options.yaml <<'END'\n" .. yaml .. "END" end
  for _, each in ipairs(roles_of(candidate, item.result.replicas)) do
    local list = words_of(engine, model, flags.words(question, candidate, about.version, each.role))
    local text = command_text({ flags.command(question, candidate, about.version), unpack(list) })
    local gpus = candidate.tp * candidate.dp * candidate.pp
    local what = ("# %s: %d, each on %d GPU%s"):format(each.role and each.role .. " engines" or "replicas",
      each.count, gpus, gpus == 1 and "" or "s")
    if each.role then
      lines[#lines + 1] = ("%s\nif [ \"${ROLE:?prefill or decode}\" = %s ]; then\n  exec %s\nfi"):format(what,
        each.role, (text:gsub("\n", "\n  ")))
    else
      lines[#lines + 1] = what .. "\nexec " .. text
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function plain_words(list)
  local out = {}
  for i, each in ipairs(list) do out[i] = each:gsub("^'(.*)'$", "%1") end
  return out
end

local function kubernetes_text(question, item, about)
  local candidate, list = item.candidate, {}
  for _, each in ipairs(roles_of(candidate, item.result.replicas)) do
    local more = plain_words(flags.words(question, candidate, about.version, each.role))
    for i, word in ipairs(more) do
      if word == "options.yaml" then more[i] = "/options/options.yaml" end
    end
    local command = {}
    for word in flags.command(question, candidate, about.version):gmatch "%S+" do command[#command + 1] = word end
    local name = question.model.name:lower():gsub("[^%w]+", "-")
    list[#list + 1] = { name = each.role and name .. "-" .. each.role or name, replicas = each.count,
      gpus = candidate.tp * candidate.dp * candidate.pp, image = about.engine.image:format(about.version),
      command = command, args = words_of(about.engine, about.model or "MODEL", more), port = about.engine.port,
      config = flags.yaml(question, candidate, about.version) }
  end
  return kubernetes.text(list)
end

local function bench_text(question, item, rank, about, predicted)
  local lines = { header(question, item, rank), "# Predicted for this benchmark, with 90 % intervals:" }
  for _, name in ipairs(core.sorted_keys(predicted)) do
    local own = predicted[name]
    lines[#lines + 1] = ("#   %-22s %s (%s to %s)"):format(name, words.value(name, own.value),
      words.value(name, own.low), words.value(name, own.high))
  end
  lines[#lines + 1] = "# Then: rooflua plan --verify result.json ../plan.json"
  lines[#lines + 1] = "set -euo pipefail"
  if not about.model then lines[#lines + 1] = "MODEL=${MODEL:?the name that the server has}" end
  lines[#lines + 1] = command_text(bench.words(question, about.model or '"$MODEL"', item.result.scale))
  return table.concat(lines, "\n") .. "\n"
end

--- A policy as a node of options.text, with the parameters that were given; nil where it has no file.
local function node_of(folder, instance)
  local name = policy.describe(instance).name
  if not chunks.is_there(folder .. "." .. name) then return nil end
  if policy.class_of(instance) ~= chunks.require(folder .. "." .. name) then return nil end
  local params = {}
  for key, value in pairs(policy.parameters(instance)) do
    if policy.is_given(instance, key) then params[key] = value end
  end
  return { module = folder .. "." .. name, params = params }
end

--- The scenario of the deployment, which `rooflua run` simulates. Keys that have no text are named.
local function scenario_text(question, item)
  local given = deploy.scenario(question, item.candidate, item.result.replicas, { requests = question.requests,
    scale = item.result.scale })
  local out, left_out = { rooflua = 1, seed = question.seed }, {}
  local folders = { scheduler = "schedulers", workload = "workloads", steps = "steps", router = "routers" }
  for key, value in core.sorted_pairs(given) do
    if key == "model" then
      out.model = value.name
    elseif key == "hardware" then
      out.hardware = value.name
    elseif policy.is_instance(value) then
      out[key] = node_of(folders[key] or key, value)
      if out[key] == nil then left_out[#left_out + 1] = key end
    elseif key ~= "mfu" and key ~= "kind" and key ~= "plan" then
      if key == "corrections" or key == "speculation" or key == "metrics" then left_out[#left_out + 1] = key
      else out[key] = value end
    end
  end
  local text = options.lua_text(out)
  local note = #left_out > 0
    and "-- Not here, as in the plan's own scenario: " .. core.join(left_out, ", ") .. "\n" or ""
  return "-- The deployment that was priced: `rooflua run` simulates it.\n" .. note .. "return " .. text .. "\n"
end

local function readme_text(question, item, rank, about)
  local lines = { ("Rank %d of a plan for %s"):format(rank, words.asked(question)), "",
    gpus_text(question, item) .. ", " .. words.settings(item.candidate),
    ("%s per hour; SLO: %s"):format(words.dollars(item.result.cost_per_hour), words.slo(question.bounds)), "",
    "serve.sh          starts one replica" .. (item.candidate.split and " (ROLE=prefill or ROLE=decode)" or ""),
    "kubernetes.yaml   all of them, without the gateway in front",
    "bench.sh          the benchmark that would prove the prediction wrong (BASE_URL=...)",
    "scenario.lua      what was simulated",
    ("flags of %s %s%s"):format(item.candidate.engine, about.version, about.note and "; " .. about.note or "") }
  return table.concat(lines, "\n") .. "\n"
end

--- Files of every rank as {path, text}. A rank that cannot be written has a README with the reason. Adds what the
--- benchmark should measure to each rank's document.
function artefacts.files(done)
  local question, out = done.question, {}
  for rank, item in ipairs(done.plan.ranks) do
    local function add(name, text) out[#out + 1] = { path = rank .. "/" .. name, text = text } end
    local engine = flags.engine(item.candidate.engine)
    local version, note = flags.version(engine, deploy.release(question, item.candidate))
    local about = { engine = engine, version = version, note = note, model = flags.model_id(question.model) }
    local ok, problem = pcall(flags.words, question, item.candidate, version,
      item.candidate.split and "prefill" or nil)
    if ok then
      local predicted = bench.predict(question, item)
      done.document.ranks[rank].bench = predicted
      add("serve.sh", serve_text(question, item, rank, about))
      add("kubernetes.yaml", kubernetes_text(question, item, about))
      add("bench.sh", bench_text(question, item, rank, about, predicted))
      add("scenario.lua", scenario_text(question, item))
      add("README", readme_text(question, item, rank, about))
    else
      add("README", "This deployment is not written: " .. tostring(problem) .. "\n")
    end
  end
  return out
end

--- Finds versions that no table knows, before anything runs.
function artefacts.check(question)
  for name, version in core.sorted_pairs(question.engines) do
    if not catalogue.has(name) then
      question.reader:fail("plan.engines", "%s", core.unknown_name("engine", tostring(name), catalogue.names()))
    end
    question.reader:at("plan.engines." .. name, flags.version, flags.engine(name), version)
  end
end

return artefacts
