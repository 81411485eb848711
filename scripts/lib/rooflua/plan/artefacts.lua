-- The files of a plan: for every rank a command, manifests, the benchmark that would prove it wrong, and its scenario.
-- What was priced is what is written.
local basis = require "rooflua.plan.basis"
local bench = require "rooflua.plan.bench"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local flags = require "rooflua.plan.flags"
local items = require "rooflua.plan.page.items"
local kubernetes = require "rooflua.manifests.deployments"
local pools = require "rooflua.plan.pools"
local quoting = require "rooflua.text.quoting"
local rerun = require "rooflua.plan.rerun"
local scaled = require "rooflua.plan.scaled"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local artefacts = {}

--- Words of a command, an option and its values on one line each; each word is quoted.
local function command_text(list)
  local lines = {}
  for _, word in ipairs(list) do
    if #lines == 0 or type(word) == "string" and word:sub(1, 2) == "--" then
      lines[#lines + 1] = quoting.word(word)
    else
      lines[#lines] = lines[#lines] .. " " .. quoting.word(word)
    end
  end
  return table.concat(lines, " \\\n  ")
end

local gpus_of_engine = deploy.gpus_of_engine

local function roles_of(candidate, replicas)
  if not candidate.split then
    return pools.added(candidate, { { count = replicas, gpus = gpus_of_engine(candidate) } })
  end
  return pools.added(candidate, { { role = "prefill", count = replicas * candidate.split.prefill,
    gpus = gpus_of_engine(deploy.pool(candidate, "prefill")) },
    { role = "decode", count = replicas * candidate.split.decode, gpus = gpus_of_engine(candidate) } })
end

--- "ROLE=prefill or ROLE=decode": what starts one engine of each kind; nil where all are alike.
local function asked_roles(candidate)
  local list = roles_of(candidate, 1)
  if #list == 1 then return nil end
  local out = {}
  for i, each in ipairs(list) do out[i] = each.label or each.role end
  return out
end

--- All words of the command that starts an engine of a role; `model` stands for the checkpoint.
local function engine_words(question, candidate, about, role, model)
  local out = flags.command(question, candidate, about.version)
  if about.engine.model ~= "" then out[#out + 1] = about.engine.model end
  out[#out + 1] = model
  for _, each in ipairs(flags.words(question, candidate, about.version, role)) do out[#out + 1] = each end
  return out
end

local function header(question, item, rank, notes)
  local lines = { "#!/usr/bin/env bash", quoting.comment(("Rank %d: %s"):format(rank, items.title(question, item))) }
  for _, note in ipairs(notes or {}) do lines[#lines + 1] = quoting.comment(note) end
  return table.concat(lines, "\n")
end

--- Lines that ask for a name which no file of the model has. What the model is called stands in a comment.
local function ask_for_model(question, about, what)
  return quoting.comment(("MODEL: %s of %s, with weights in %s"):format(what, question.model.name, about.start.format))
    .. '\n: "${MODEL:?the model}"'
end

local function model_word(about) return about.start.name or quoting.verbatim '"$MODEL"' end

--- serve.sh: how one replica is started; of a split deployment one of each role.
local function serve_text(question, item, rank, about)
  local candidate = item.candidate
  local lines = { header(question, item, rank, about.notes), "set -euo pipefail" }
  if not about.start.name then
    lines[#lines + 1] = ask_for_model(question, about, "the Hugging Face name or the folder")
  end
  local yaml, asked = flags.yaml(question, candidate, about.version), asked_roles(candidate)
  if yaml then lines[#lines + 1] = "printf '%s' " .. quoting.shell(yaml) .. " > options.yaml" end
  for _, each in ipairs(roles_of(candidate, item.result.replicas)) do
    local text = command_text(engine_words(question, candidate, about, each.role, model_word(about)))
    local label = each.label or each.role
    local what = ("# %s: %d, each on %s"):format(label and label .. " engines" or "replicas", each.count,
      units.counted(each.gpus, "GPU"))
    if label then
      lines[#lines + 1] = ("%s\nif [ \"${ROLE:?%s}\" = %s ]; then\n%s  exec %s\nfi"):format(what,
        table.concat(asked, " or "), label, pools.asked(candidate, about.engine, text), (text:gsub("\n", "\n  ")))
    else
      lines[#lines + 1] = what .. "\nexec " .. text
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

local function kubernetes_text(question, item, about)
  local candidate, list = item.candidate, {}
  for _, each in ipairs(roles_of(candidate, item.result.replicas)) do
    local all = engine_words(question, candidate, about, each.role, about.start.name or kubernetes.model)
    for i, word in ipairs(all) do
      if word == "options.yaml" then all[i] = "/options/options.yaml" end
    end
    list[#list + 1] = { name = quoting.name(question.model.name, "model", each.role and "-" .. each.role),
      replicas = each.count, gpus = each.gpus,
      image = about.engine.image:format(about.version), words = all, command_words = #about.command,
      port = about.engine.port, asks_for_model = not about.start.name,
      config = flags.yaml(question, candidate, about.version) }
  end
  local notes = {}
  if about.no_bench then -- of adapters, which the words of the command do not name
    for i, note in ipairs(about.notes) do notes[i] = quoting.comment(note) .. "\n" end
  end
  return table.concat(notes) .. kubernetes.text(list) .. scaled.text(question, item)
end

local function bench_text(question, item, rank, about, predicted)
  local lines = { header(question, item, rank), "# Predicted for this benchmark, with 90 % intervals:" }
  for _, name in ipairs(core.sorted_keys(predicted)) do
    local own = predicted[name]
    lines[#lines + 1] = quoting.comment(("  %-22s %s (%s to %s)"):format(name, words.value(name, own.value),
      words.value(name, own.low), words.value(name, own.high)))
  end
  lines[#lines + 1] = "# Then: rooflua plan --verify result.json ../plan.json"
  lines[#lines + 1] = "set -euo pipefail"
  if not about.start.name then lines[#lines + 1] = ask_for_model(question, about, "the name that the server has") end
  lines[#lines + 1] = command_text(bench.words(question, model_word(about), item.result.scale))
  return table.concat(lines, "\n") .. "\n"
end

local function readme_text(question, item, rank, about)
  local lines = { ("Rank %d of a plan for %s"):format(rank, words.asked(question)), "",
    items.title(question, item) .. ", " .. words.settings(item.candidate),
    ("%s per hour; SLO: %s"):format(words.dollars(item.result.cost_per_hour), words.slo(question.bounds)),
    words.sure(item.sure), "evidence: " .. basis.evidence(item.result) }
  local function add(text) lines[#lines + 1] = text end
  for _, note in ipairs(basis.notes(question, item.candidate, item.result)) do add("note: " .. note) end
  add ""
  if about.problem then
    add("The commands of this deployment are not written: " .. about.problem)
  else
    local asked = asked_roles(item.candidate)
    add("serve.sh          starts one replica"
      .. (asked and (" (ROLE=%s)"):format(table.concat(asked, " or ROLE=")) or ""))
    add(about.no_manifests or "kubernetes.yaml   all of them, without the gateway in front")
    add(about.no_bench or "bench.sh          the benchmark that would prove the prediction wrong (BASE_URL=...)")
  end
  add "scenario.lua      what was simulated; run it in the folder in which the plan ran"
  add(("flags of %s %s"):format(item.candidate.engine, about.version))
  if about.start then add("checkpoint: " .. (about.start.name or "MODEL=...")) end
  for _, note in ipairs(about.notes) do add(note) end
  for i, each in ipairs(lines) do lines[i] = quoting.line(each) end
  return table.concat(lines, "\n") .. "\n"
end

--- What the files of a rank share: its engine and release, the checkpoint, notes; or why there are no commands.
local function about_of(question, candidate)
  local engine = flags.engine(candidate.engine)
  local version, newer = flags.version(engine, deploy.release(question, candidate))
  local out = { engine = engine, version = version, notes = { newer } }
  if question.base.adapters ~= nil and engine.adapters then
    out.notes[#out.notes + 1] = ("adapters are not named here: add %s, or load them while the server runs"):format(
      engine.adapters.names)
    out.no_bench = "bench.sh is not written: the benchmark cannot ask for adapters as `adapters` draws them"
  end
  if question.drawn.has_items then
    out.no_bench = "bench.sh is not written: the benchmark cannot send images as the workload draws them"
  end
  if candidate.encoders then
    out.no_manifests = "kubernetes.yaml is not written: addresses of engines that encode, or a folder that all see, "
      .. "are the cluster's to say"
    for _, note in ipairs(pools.notes(candidate, engine)) do out.notes[#out.notes + 1] = note end
  end
  local ok, problem = pcall(function()
    flags.words(question, candidate, version, candidate.split and "prefill" or nil)
    out.command = flags.command(question, candidate, version)
    out.start = flags.checkpoint(question, candidate)
  end)
  if not ok then
    out.problem = tostring(problem)
  end
  return out
end

--- Files of every rank as {path, text}. A rank without commands has a README with the reason. Adds what the benchmark
--- should measure to each rank's document.
function artefacts.files(done)
  local question, out = done.question, {}
  for rank, item in ipairs(done.plan.ranks) do
    local function add(name, text) out[#out + 1] = { path = rank .. "/" .. name, text = text } end
    local about = about_of(question, item.candidate)
    if not about.problem then
      add("serve.sh", serve_text(question, item, rank, about))
      if not about.no_manifests then add("kubernetes.yaml", kubernetes_text(question, item, about)) end
    end
    if not about.problem and not about.no_bench then
      local predicted = bench.predict(question, item)
      done.document.ranks[rank].bench = predicted
      done.document.ranks[rank].bench_asked = bench.asked(question, item.result.scale)
      add("bench.sh", bench_text(question, item, rank, about, predicted))
    end
    add("scenario.lua", rerun.text(question, item))
    add("README", readme_text(question, item, rank, about))
  end
  return out
end

--- Finds versions that no table knows, before anything runs.
function artefacts.check(question)
  for name, version in core.sorted_pairs(question.engines) do
    if not catalogue.has(name) then
      question.reader:fail("plan.engines", "%s", core.unknown_name("engine", name, catalogue.names()))
    end
    question.reader:at("plan.engines." .. name, flags.version, flags.engine(name), version)
  end
end

return artefacts
