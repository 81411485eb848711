-- The scenario that `rooflua attach --write` writes: the server with what was calibrated and a load like the one that
-- was measured. Each value has a comment: the file and the line that it came from. It runs without the files.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local quoting = require "rooflua.text.quoting"
local range_lines = require "rooflua.attach.range_lines"
local statistics = require "rooflua.base.statistics"
local template = require "rooflua.applied.template"

local scenario = {}

local function comment(text) return "-- " .. quoting.line(native.printable(text)) end

--- Lengths as a workload declares them: one number, or a lognormal with the mean and spread of the requests.
local function lengths(requests, field)
  local values = {}
  for i, each in ipairs(requests) do values[i] = each[field] end
  table.sort(values)
  local least, most, mean = values[1], values[#values], statistics.mean(values)
  if least == most then return native.number_text(most) end
  local squares = 0
  for _, each in ipairs(values) do squares = squares + (each - mean) * (each - mean) end
  local sigma = math.sqrt(math.log(1 + squares / #values / (mean * mean)))
  return ("{ distribution = \"lognormal\", mean = %.6g, sigma = %.3g, min = %d, max = %d }"):format(mean, sigma, least,
    most)
end

local function rate_of(run)
  local first, last = run.requests[1].arrival_s, run.requests[#run.requests].arrival_s
  return last > first and (#run.requests - 1) / (last - first) or nil
end

--- Lines of a workload like a measured run.
local function load_lines(run)
  if run.range then return range_lines.of(run) end
  local rate, from = run.rate_per_s or run.recorded_times and rate_of(run), comment(run.path .. ", " .. run.how)
  local kind = rate and "poisson" or "closed_loop"
  local how = rate and ("rate_per_s = %.6g"):format(rate) or ("clients = %d"):format(run.clients or #run.requests)
  return { ("  workload = require \"workloads.%s\" { %s"):format(kind, from),
    ("    %s, num_requests = %d,"):format(how, #run.requests),
    "    prompt_tokens = " .. lengths(run.requests, "prompt_tokens") .. ",",
    "    output_tokens = " .. lengths(run.requests, "output_tokens") .. ",", "  },",
    run.burstiness and run.burstiness ~= 1 and rate and
      comment(("arrivals had a burstiness of %g; those of this workload have 1"):format(run.burstiness)) or nil }
end

--- A parameter of a workload: a number, a word, or how lengths are distributed.
local function parameter_text(value)
  if value == math.huge then return "math.huge" end
  if type(value) ~= "table" then return template.value_text(value) end
  local parts = {}
  for name, each in core.sorted_pairs(value) do
    parts[#parts + 1] = quoting.lua_key(name) .. " = " .. template.value_text(each)
  end
  return "{ " .. core.join(parts, ", ") .. " }"
end

--- Lines of a workload that no run was measured of.
local function asked_lines(workload, said)
  local kind = policy.definition(workload).name
  local lines = { ("  workload = require \"workloads.%s\" { %s"):format(kind, comment(said)) }
  for name, value in core.sorted_pairs(policy.parameters(workload)) do
    if policy.is_given(workload, name) then
      lines[#lines + 1] = ("    %s = %s,"):format(quoting.lua_key(name), parameter_text(value))
    end
  end
  lines[#lines + 1] = "  },"
  return lines
end

local function place(each) return each.line and ("%s:%d"):format(each.file, each.line) or each.file end

--- Options that something here reads, each with the line that says it.
local function engine_lines(about)
  local engine, keys, found = about.deployment.engine, about.keys, about.deployment.found
  local release = found.facts.release
  local lines = { ("  engine = { %s, %s"):format(quoting.lua(keys.engine[1]), comment(release and place(release)
    or "no line names the release")) }
  for name, value in core.sorted_pairs(keys.engine) do
    if name ~= 1 and not engine.option[name].no_effect then
      local own = found.option[name]
      lines[#lines + 1] = ("    %s = %s,%s"):format(quoting.lua_key(name), template.value_text(value),
        own and " " .. comment(place(own)) or "")
    end
  end
  lines[#lines + 1] = "  },"
  return lines
end

--- Lines of what a fit changed, and how far the fitted scenario is from what was measured.
local function fitted_lines(fit)
  if not fit then return {} end
  local lines = { "  " .. comment(("calibrated: %.1f %% off before, %.1f %% after"):format(
    100 * fit.result.error.before, 100 * fit.result.error.after)) }
  for line in (fit.block .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = "  " .. line end
  return lines
end

--- The text.
---@param about table {keys, deployment, hardware, hardware_from, run, workload, said, fit, sources, file}
function scenario.text(about)
  local found = about.deployment.found
  local model = found.option.model or found.option.model_path or found.option.model_tag or found.facts.model
  local file = quoting.line(quoting.shell(about.file))
  local lines = { "--- A server as its files describe it: " .. quoting.line(core.join(about.sources, ", ")) .. ".",
    "---",
    ("---   rooflua run %s    what it does under a load like that one"):format(file),
    ("---   rooflua run %s --set engine.%s    what another setting does"):format(file,
      template.example(about.deployment.engine, about.keys)),
    "return {", "  rooflua = 1,", "  seed = 1,",
    ("  model = %s,%s"):format(quoting.lua(about.keys.model), model and " " .. comment(place(model)) or ""),
    ("  hardware = %s, %s"):format(quoting.lua(about.hardware), comment(about.hardware_from)) }
  local function add(list) for _, line in ipairs(list) do lines[#lines + 1] = line end end
  add(engine_lines(about))
  local more = template.more_text(about.deployment.engine, about.keys)
  if more ~= "" then add { (more:gsub("\n$", "")) } end
  add(fitted_lines(about.fit))
  add(about.run and load_lines(about.run) or asked_lines(about.workload, about.said))
  lines[#lines + 1] = "}\n"
  return core.join(lines, "\n")
end

--- Whether a workload can be written: its parameters are numbers and words.
function scenario.can_write(workload)
  if not policy.is_instance(workload) then return false end
  for _, value in pairs(policy.parameters(workload)) do
    if type(value) == "table" and not value.distribution then return false end
  end
  return true
end

return scenario
