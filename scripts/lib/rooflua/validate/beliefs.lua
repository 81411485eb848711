-- The step models that are compared on the same cases (beliefs), each with the kernel tables it was made for.
-- Tables are folders beside the validation data (`tables`). A belief without its tables is an error, and reports
-- name the tables that were opened.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local layers = require "rooflua.validate.layers"
local mfu = require "rooflua.mfu"
local policy = require "rooflua.policy"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"

local beliefs = {}

local all = {
  { name = "kernels", steps = "kernels", tables = { "aic" }, layout = "aic", or_shipped = true,
    doc = "rooflua's default step model" },
  { name = "kernels, plain sampling", steps = "kernels", tables = { "aic" }, layout = "aic", or_shipped = true,
    plain_sampling = true, doc = "the same, without what each model's generation_config.json filters" },
  { name = "kernels, shipped data", steps = "kernels", doc = "the same, with the tables that come with rooflua" },
  { name = "infersim", steps = "infersim", tables = { "infersim" }, layout = "infersim", gpu = "h800",
    doc = "InferSim's static model step by step, its H800 tables" },
  { name = "roofline_v1", steps = "roofline_v1", doc = "calibrated roofline, no tables" },
  { name = "roofline_v2:plan", steps = "roofline_v2:plan", tables = { "blis_h100" }, layout = "blis", gpu = "h100",
    default_mfu = 0.45, doc = "MFU roofline, the design plan, BLIS' H100 tables" },
  { name = "roofline_v2:reviewed", steps = "roofline_v2:reviewed", tables = { "blis_h100" }, layout = "blis",
    gpu = "h100", doc = "the plan with its bugs fixed" },
  { name = "roofline_v2:blis487", steps = "roofline_v2:blis487", tables = { "blis_h100" }, layout = "blis",
    gpu = "h100", doc = "inference-sim 487017bc, the code in BLIS" },
}

--- All beliefs, the default first.
function beliefs.list() return all end

local opened = {}

--- Whether the tables of a belief may be used for a GPU. A belief that names the GPU of its tables is used on that
--- GPU and on H100s.
local function serves(belief, hardware)
  if not belief.gpu then return true end
  return hardware.name:lower():find "^h100" ~= nil or hardware.name:lower():find(belief.gpu, 1, true) ~= nil
end

--- A database, or nil and the reason why there is none. Tables that cannot be read are an error.
local function open_tables(belief, tables, hardware)
  if not tables then return nil, "no folder of kernel tables (--tables)" end
  if not serves(belief, hardware) then return nil, ("no %s tables of %s"):format(belief.tables[1], hardware.name) end
  local path = tables .. "/" .. belief.tables[1]
  if #native.list_folder(path, "") == 0 then return nil, path .. ": there are no tables" end
  local database = mfu.open { path = path, layout = belief.layout, gpu = belief.gpu or hardware.name,
    hardware = hardware, default_mfu = belief.default_mfu }
  if #database:tables() == 0 then return nil, ("%s: no tables of %s"):format(path, hardware.name) end
  return database, belief.tables[1]
end

--- A layer profile of LLMServingSim of this model on this GPU, as a database; nil if there is none.
local function open_profile(options, about, case)
  local folder = options.tables and options.scratch ~= ""
    and layers.find(options.tables .. "/llmservingsim", about.hardware, case.model, case.tp)
  if not folder then return nil end
  layers.write(folder, about.model, case.tp, options.scratch)
  return mfu.open { path = options.scratch, layout = "rooflua", gpu = about.hardware.name, hardware = about.hardware },
    "llmservingsim"
end

--- The name of the tables that come with rooflua for a GPU.
local function shipped(hardware)
  local tables = mfu.open { hardware = hardware }:tables()
  return #tables > 0 and "bench_data of " .. hardware.name or "none"
end

--- The tables of a belief for a GPU, whatever the model; nil and the reason if there are none. They are opened once.
local function of_gpu(belief, tables, hardware)
  local key = belief.name .. "\0" .. hardware.name .. "\0" .. tostring(tables)
  if not opened[key] then
    local database, text = open_tables(belief, tables, hardware)
    opened[key] = { database = database, text = text }
  end
  return opened[key].database, opened[key].text
end

--- The kernel tables of a belief for a case.
--- @param options table {tables = folder, scratch = an empty folder}
--- @return rooflua.Database? nil if the step model opens shipped tables itself, or needs none
--- @return string what was opened: the name of a folder, "bench_data of <GPU>", or "none"
function beliefs.tables(belief, options, about, case)
  if belief.tables then
    local database, text = of_gpu(belief, options.tables, about.hardware)
    if database then return database, text end
    if not belief.or_shipped then core.fail("%s", text) end
    database, text = open_profile(options, about, case)
    if database then return database, text end
  end
  return nil, belief.steps == "kernels" and shipped(about.hardware) or "none"
end

--- The list without repetitions: a belief is left out if an earlier one has the same step model, sampling and tables
--- in every case.
--- @param list table beliefs in order
--- @param results table of cases with {beliefs = {name = {tables}}}
function beliefs.different(list, results)
  local function same(a, b)
    if a.steps ~= b.steps or a.plain_sampling ~= b.plain_sampling then return false end
    for _, result in ipairs(results) do
      if result.beliefs[a.name].tables ~= result.beliefs[b.name].tables then return false end
    end
    return true
  end
  local out = {}
  for _, belief in ipairs(list) do
    local is_new = true
    for _, before in ipairs(out) do is_new = is_new and not same(before, belief) end
    if is_new then out[#out + 1] = belief end
  end
  return out
end

--- The step model of a belief, with the parameters of this run and then those of the user.
function beliefs.steps(belief, of_run, of_user)
  local steps = policies.of(Reader.new "validate", "steps", belief.steps)
  if steps.name == "kernels" and of_run then steps = policy.with(steps, of_run) end
  return of_user and policy.with(steps, of_user) or steps
end

--- The default folder of tables: `tables` beside the folder of measured runs, or in it.
function beliefs.default_tables(folder)
  local parent = folder:match "^(.*)/[^/]+/?$" or (folder:find "/" and "" or ".")
  for _, path in ipairs { parent .. "/tables", folder .. "/tables" } do
    if #native.list_folder(path, "") > 0 then return path end
  end
end

return beliefs
