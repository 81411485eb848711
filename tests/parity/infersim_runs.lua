-- Compares steps/infersim with recorded runs of InferSim: every value to 1e-12, errors by their kind.
--   rooflua lua tests/parity/infersim_runs.lua GOLDEN.json TABLES_DIR
local golden_path, tables = ...
if not tables then
  print "usage: infersim_runs.lua GOLDEN.json TABLES_DIR (the folder that holds bench_data and hf_configs)"
  os.exit(2)
end
local rooflua = require "rooflua"
local here = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local compare = dofile(here .. "/compare.lua")
local config = require "steps.infersim.config"
local gpus = require "steps.infersim.gpus"
local static = require "steps.infersim.static"

local tolerance = 1e-12
local golden = compare.read(golden_path)
local policy_of_commit = { ["3e99354"] = "infersim_floor", ["f2293da"] = "infersim_head" }
local lookup = policy_of_commit[golden.meta.commit:sub(1, 7)]
if not lookup then error("unknown commit " .. golden.meta.commit .. " (known: 3e99354, f2293da)") end

local databases = {}
local function database(gpu)
  if not databases[gpu] then
    databases[gpu] = rooflua.mfu.open {
      path = tables .. "/bench_data", layout = "infersim", gpu = gpu, lookup = lookup,
    }
  end
  return databases[gpu]
end

local shapes = {}
local function shape(path)
  if not shapes[path] then shapes[path] = config.read(compare.read(tables .. "/" .. path), path) end
  return shapes[path]
end

local function given(value)
  if value == rooflua.json.null then return nil end
  return value
end

---@return infersim.Deployment|infersim.Load
local function arguments(args)
  return {
    device = args.device_type, world_size = args.world_size, tp = args.tp_size, nodes = args.num_nodes,
    max_prefill_tokens = args.max_prefill_tokens, decode_batch = given(args.decode_bs),
    target_tokens_per_s = args.target_tgs, target_tpot_ms = args.target_tpot,
    isl = args.target_isl, osl = args.target_osl, fp8_gemm = args.use_fp8_gemm, fp8_kv = args.use_fp8_kv,
    deepep = args.enable_deepep, two_batch_overlap = args.enable_tbo, sm_ratio = args.sm_ratio,
    prefill_only = args.prefill_only, decode_only = args.decode_only,
  }
end

local counter = compare.counter()

local function compare_values(differences, expected, found)
  for name, value in pairs(expected) do
    if found[name] == nil then
      differences[#differences + 1] = name .. ": missing"
    else
      counter:value(differences, name, value, found[name], tolerance)
    end
  end
  for name in pairs(found) do
    if expected[name] == nil then differences[#differences + 1] = name .. ": the reference does not print it" end
  end
  table.sort(differences)
end

for _, run in ipairs(golden.runs) do
  local args = run.args
  local differences = {}
  local found, problem = static.evaluate(shape(args.config_path), gpus[args.device_type], arguments(args),
                                         database(args.device_type))
  if run.status == "ok" then
    if problem then differences[1] = "failed: " .. problem end
  elseif not problem then
    differences[1] = "did not fail; the reference raises " .. run.error.type
  elseif not compare.fits(run.error.type, problem) then
    differences[1] = ("failed with '%s'; the reference raises %s"):format(problem, run.error.type)
  end
  compare_values(differences, run.values, found)
  counter:count("run " .. run.id .. ": " .. table.concat(run.argv, " "), differences)
end
counter:finish()
