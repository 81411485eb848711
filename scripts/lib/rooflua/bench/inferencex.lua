-- Rows of InferenceX's matrix as a workload: `conc` clients who send `isl` tokens and get `osl`; several numbers of
-- clients in a row follow each other. Keys: github.com/SemiAnalysisAI/InferenceX, utils/matrix_logic/validation.py.
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local fields = require "rooflua.formats.fields"
local loads = require "rooflua.bench.loads"
local results = require "rooflua.formats.inferencex"

local inferencex = {}

local read = core.set { "isl", "osl", "conc" }
--- What serves, and evaluations, which come after the load.
local without_effect = core.set { "image", "model", "model-prefix", "precision", "framework", "spec-decoding",
  "runner", "hardware", "tp", "pp", "dcp-size", "pcp-size", "ep", "dp-attn", "worker", "prefill", "decode",
  "node-count", "max-model-len", "exp-name", "disagg", "run-eval", "eval-only", "eval-conc", "eval-all-concs",
  "eval-framework", "eval-suite", "router", "kv-p2p-transfer", "recipe-fingerprint", "benchmark-client" }

function inferencex.tells(document)
  local row = documents.is_map(document) and document or document[1]
  return documents.is_map(row) and row.conc ~= nil
end

---@param wanted string? number of a row
function inferencex.workload(document, told, wanted)
  local rows = documents.is_map(document) and { document } or document
  local number = tonumber(wanted) or not wanted and #rows == 1 and 1
  if not rows[number] then
    core.fail("has %d rows: name one by its number, as in FILE#%d", #rows, #rows)
  end
  local row, where, unread = rows[number], ("[%d]"):format(number), {}
  if not documents.is_map(row) then core.fail("%s: expected a row, found %s", where, core.describe(row)) end
  for key in core.sorted_pairs(core.plain(row)) do
    if not read[key] and not without_effect[key] then unread[#unread + 1] = where .. "." .. tostring(key) end
  end
  loads.tell(told, "not known, and nothing follows from it", unread)
  local about = { prompt_tokens = fields.whole(where, row, "isl", 1),
    output_tokens = fields.whole(where, row, "osl", 1) }
  local list, stages = type(row.conc) == "table" and row.conc or { row.conc }, {}
  for i = 1, math.max(1, #list) do
    local clients = fields.whole(where, { conc = list[i] }, "conc", 1)
    stages[i] = { clients = clients, requests = results.requests_per_client * clients }
  end
  told[#told + 1] = ("--bench: %d requests a client, each of isl and osl tokens exactly: a row states no range"):format(
    results.requests_per_client)
  if #stages > 1 then
    about.stages = stages
  else
    about.clients, about.count = stages[1].clients, stages[1].requests
  end
  return loads.of(about, told)
end

return inferencex
