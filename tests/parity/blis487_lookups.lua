-- Compares the lookup blis487 with recorded answers of inference-sim 487017bc, bit for bit, one
-- comparison per row.
--   rooflua lua tests/parity/blis487_lookups.lua GOLDEN.json TABLES_DIR
local golden_path, tables = ...
if not tables then
  print "usage: blis487_lookups.lua GOLDEN.json TABLES_DIR (the folder that holds bench_data)"
  os.exit(2)
end
local rooflua = require "rooflua"
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local compare = dofile(here .. "/compare.lua")

local database = rooflua.mfu.open {
  path = tables .. "/bench_data", layout = "blis", gpu = "h100", lookup = "blis487",
}

--- "32-8-128" -> 32, 8, 128
local function heads(config)
  local h, g, d = config:match "^(%d+)%-(%d+)%-(%d+)$"
  return tonumber(h), tonumber(g), tonumber(d)
end

local ask = {}

function ask.prefill(row)
  local h, g, d = heads(row.config)
  return (database:prefill(h, g, d, row.seq_len))
end

function ask.decode(row)
  local h, g, d = heads(row.config)
  return (database:decode(h, g, d, row.batch, row.kv, row.tp))
end

function ask.gemm(row) return (database:gemm(row.m, row.k, row.n)) end

local counter = compare.counter()
for i, row in ipairs(compare.read(golden_path)) do
  local differences = {}
  local ok, found = pcall(ask[row.op], row)
  if ok then
    counter:value(differences, "mfu", row.mfu, found, 0)
  else
    differences[1] = "failed: " .. tostring(found)
  end
  counter:count(("%s row %d"):format(row.op, i), differences)
end
counter:finish()
