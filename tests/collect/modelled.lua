-- Times of the modelled kernel as a stub of a rehearsal: FOLDER of a GPU without GEMMs, FILE with a list of {m, k, n}.
local json = require "rooflua.json"
local mfu = require "rooflua.mfu"

local folder, file = ...
local database, out = mfu.open { hardware = folder }, {}
for _, row in ipairs(json.decode(assert(io.open(file)):read "*a")) do
  local m, k, n = row[1], row[2], row[3]
  local _, estimate = database:gemm(m, k, n, "bf16")
  assert(estimate.evidence == "modelled")
  out[("gemm_bf16/%d/%d/%d"):format(m, k, n)] = 1e6 * estimate.latency_s
end
print(json.encode(out))
