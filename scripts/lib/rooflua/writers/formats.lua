-- Results in the formats of other tools, and policies in those of the projects that have them, by the name of the
-- format.
local core = require "rooflua.base.core"
local dynamo_planner = require "rooflua.handover.dynamo_planner"
local endpoint_picker = require "rooflua.handover.endpoint_picker"
local hpa = require "rooflua.handover.hpa"
local inference_objective = require "rooflua.handover.inference_objective"
local json = require "rooflua.json"
local keda = require "rooflua.handover.keda"
local quoting = require "rooflua.text.quoting"
local rows = require "rooflua.formats.rows"
local aiperf = require "rooflua.writers.aiperf"
local guidellm = require "rooflua.writers.guidellm"
local inferencex = require "rooflua.writers.inferencex"
local llm_d = require "rooflua.writers.llm_d"
local otlp = require "rooflua.writers.otlp"

local formats = {}

--- Each format has one of
---     document(variant, facts, requests)  the document that the file is
---     lines(variant, facts, requests)     a list of documents, one per line
---     text(facts)                         the file, which says what the scenario's policies are, and not the results
--- and may have requests = true (it needs them), ready(facts), which raises an error where it cannot be written, and
--- reads, which names what it takes of a variant: {key = true or, of an object, its members as {key = true}}.
formats.by_name = {
  ["dynamo-planner"] = { text = dynamo_planner.text },
  ["endpoint-picker"] = { text = endpoint_picker.text },
  hpa = { text = hpa.text },
  ["inference-objective"] = { text = inference_objective.text },
  keda = { text = keda.text },
  aiperf = { lines = aiperf.lines, requests = true },
  guidellm = { document = guidellm.document, requests = true },
  inferencex = { document = inferencex.row, ready = inferencex.ready },
  ["llm-d"] = { document = llm_d.report, reads = llm_d.reads },
  otlp = { lines = otlp.lines, requests = true },
}

--- Formats that other options write.
local elsewhere = { vllm = "--requests FILE.json", vllm_bench = "--requests FILE.json", csv = "--requests FILE.csv",
  perfetto = "--trace FILE", chrome = "--trace FILE", json = "--json FILE", html = "--html FILE",
  prometheus = "--results FILE, then `rooflua results export FILE --format prometheus`", parquet =
  "--results FILE, then `rooflua results export`" }

--- The format of that name; raises an error for one that nothing writes.
local function format_of(name)
  local format = formats.by_name[name]
  if format then return format end
  if elsewhere[name] then core.fail("--write: '%s' is written by %s", name, elsewhere[name]) end
  return core.fail("--write: %s", core.unknown_name("format", name, core.sorted_keys(formats.by_name)))
end

--- {requests = whether the format needs the requests of the run}
function formats.check(name) return { requests = format_of(name).requests == true } end

--- Raises an error where the facts of a scenario (serving/facts.lua) cannot be written.
function formats.ready(name, facts)
  local format = format_of(name)
  if format.ready then format.ready(facts) end
  if format.text then format.text(facts) end
  return true
end

--- What the format takes of a variant, as `reads` above.
function formats.reads(name) return format_of(name).reads end

--- The document of one variant of a result, for formats that need no requests.
--- @param name string
--- @param variant table of a result document
--- @param facts table {uid, build, scenario, title, seed}
function formats.document(name, variant, facts) return format_of(name).document(variant, facts) end

--- What a file of one variant holds: {lines = whether each document is a line, documents = list}, or {text}.
--- @param facts table as above, with serving/facts.lua
--- @param path string? the requests of the run, as the engine wrote them
function formats.file(name, variant, facts, path)
  local format = format_of(name)
  if format.text then return { text = quoting.comment("Written by rooflua from " .. facts.scenario) .. "\n"
    .. format.text(facts) } end
  local requests = format.requests and rows.read(path) or nil
  if format.lines then return { lines = true, documents = format.lines(variant, facts, requests) } end
  return { lines = false, documents = json.array { format.document(variant, facts, requests) } }
end

return formats
