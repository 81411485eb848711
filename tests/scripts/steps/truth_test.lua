-- steps/kernels against steps that were measured on H100: medians of the relative error of a step's time,
-- with the kernel tables of aiconfigurator and with shipped data alone. No parameter differs between runs.
--
-- blis_stepml      1,374 engine steps, vLLM 0.15.1 (asynchronous). The context of a decode is taken as
--                  input + output / 2 of its run; the context of a prefill is the rest of the input.
-- guidellm         stage 0: one request at a time, vLLM 0.11.0 (not asynchronous). decode_s is the sum of
--                  its decode steps, prefill_s that of its prefill chunks.
local test = dofile "tests/scripts/harness.lua"
local bound = dofile "tests/scripts/bound_steps.lua"
local rooflua = require "rooflua"
local batch = rooflua.cost.batch
local Kernels = require "steps.kernels"

local most_error = 0.105  -- prefill of Llama-2-7B: 10.1 %

--- Rows of a CSV without quoted fields, by column name.
local function read_csv(path)
  local rows, columns = {}, nil
  for line in io.lines(path) do
    local cells = {}
    for cell in (line:gsub("\r", "") .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
    if not columns then
      columns = cells
    else
      local row = {}
      for i, name in ipairs(columns) do row[name] = tonumber(cells[i]) or cells[i] end
      rows[#rows + 1] = row
    end
  end
  return rows
end

local function median(values)
  table.sort(values)
  local middle = #values / 2
  if #values % 2 == 1 then return values[math.ceil(middle)] end
  return (values[middle] + values[middle + 1]) / 2
end

local sources = {
  { name = "tables of aiconfigurator", open = function()
    return rooflua.mfu.open { path = test.shared "tables/aic", layout = "aic", gpu = "h100_sxm" }
  end },
  { name = "shipped data", open = function() return rooflua.mfu.open "h100-sxm" end },
}

local function steps_of(model, tp, mfu, async_depth, seats, budget)
  return bound.bind(Kernels {}, {
    model = model, tp = tp, mfu = mfu, async_depth = async_depth,
    deployment = { max_num_seqs = seats, max_num_batched_tokens = budget },
  })
end

-- Engine steps -----------------------------------------------------------------------------------

--- The batch of a recorded step.
local function recorded_batch(row, input, output)
  local prefills = {}
  local tokens = row.prefill_reqs > 0 and math.floor(row.prefill_tokens / row.prefill_reqs) or 0
  for i = 1, row.prefill_reqs do
    prefills[i] = { new_tokens = math.max(1, tokens), context_tokens = math.max(0, math.floor(input - tokens)) }
  end
  local context = math.floor(row.decode_reqs * (input + output / 2))
  return batch { prefills = prefills, decodes = row.decode_reqs, decode_context_tokens = context }
end

local function engine_steps(mfu)
  local runs, errors = {}, {}
  for _, run in ipairs(read_csv(test.shared "truth/blis_training16/index.csv")) do runs[run.experiment] = run end
  local steps = {}
  for _, row in ipairs(read_csv(test.shared "truth/blis_stepml/consecutive_steps.csv")) do
    local model = row.model:find "70b" and "llama-2-70b" or "codellama-34b"
    steps[model] = steps[model] or steps_of(model, row.tp, mfu, 2, 128, 2048)
    local run = runs[row.experiment] or { input_mean = 592, output_len = 247 }
    local time_s = steps[model]:time(recorded_batch(row, run.input_mean, run.output_len))
    errors[model] = errors[model] or {}
    table.insert(errors[model], time_s / (row.cycle_us * 1e-6) - 1)
  end
  return errors
end

-- One request at a time ----------------------------------------------------------------------------

local function prefill_time(steps, prompt, cached, budget)
  local time_s, done = 0, cached
  while done < prompt do
    local tokens = math.min(budget, prompt - done)
    time_s = time_s + steps:time(bound.prefill(tokens, done))
    done = done + tokens
  end
  return time_s
end

local function decode_time(steps, prompt, output)
  local time_s = 0
  for i = 1, output - 1 do time_s = time_s + steps:time(bound.decodes(1, prompt + i)) end
  return time_s
end

local function single_requests(mfu, file, model, budget, seats, cached)
  local steps = steps_of(model, 1, mfu, 1, seats, budget)
  local prefill, decode = {}, {}
  for _, row in ipairs(read_csv(test.shared("truth/blis_eval_guidellm/" .. file))) do
    local warm = row.index > 0  -- the first request compiles
    if row.stage == 0 and warm then
      prefill[#prefill + 1] = prefill_time(steps, row.prompt_tokens, cached, budget) / row.prefill_s - 1
      if row.output_tokens > 1 then
        decode[#decode + 1] = decode_time(steps, row.prompt_tokens, row.output_tokens) / row.decode_s - 1
      end
    end
  end
  return prefill, decode
end

-- Report -----------------------------------------------------------------------------------------------

local function report(source, what, errors)
  local absolute = {}
  for i, value in ipairs(errors) do absolute[i] = math.abs(value) end
  local error_frac = median(absolute)
  print(("%-26s %-36s %5d  median error %5.2f %%  bias %+6.2f %%"):format(source, what, #errors, error_frac * 100,
                                                                          median(errors) * 100))
  test.check(error_frac < most_error, "%s, %s: median error %.2f %%", source, what, error_frac * 100)
end

for _, source in ipairs(sources) do
  test("engine steps of vLLM 0.15.1 are priced within 10 % in the median, with " .. source.name, function()
    local errors = engine_steps(source.open())
    report(source.name, "steps, Llama-2-70B tp4", errors["llama-2-70b"])
    report(source.name, "steps, CodeLlama-34B tp2", errors["codellama-34b"])
  end)
  test("single requests of vLLM 0.11 are priced within 10 % in the median, with " .. source.name, function()
    local prefill, decode = single_requests(source.open(), "jan21-llama7b-train-1.csv", "llama-2-7b", 4096, 256, 0)
    report(source.name, "prefill, Llama-2-7B", prefill)
    report(source.name, "decode, Llama-2-7B", decode)
    prefill, decode = single_requests(source.open(), "jan20-codellama-prefill-1.csv", "codellama-34b", 64, 32, 1024)
    report(source.name, "prefill in chunks of 64, CodeLlama", prefill)
    report(source.name, "decode, CodeLlama-34B tp1", decode)
  end)
end

--- Static batches of TensorRT-LLM 0.9, another engine of 2024: printed, not judged.
test("static batches of another engine are reported", function()
  local steps, errors = {}, {}
  local models = { ["LLaMA v2 7B"] = "llama-2-7b", ["LLaMA v2 13B"] = "llama-2-13b" }
  for _, row in ipairs(read_csv(test.shared "truth/nim_dli/trt09_static_h100_llama2.csv")) do
    local model = models[row.model]
    if model and row.tp == 1 and tonumber(row.token_to_token_ms) then
      steps[model] = steps[model] or steps_of(model, 1, sources[2].open(), 2, 512, 8192)
      local time_s = steps[model]:time(bound.decodes(row.batch_size, row.input_len + math.floor(row.output_len / 2)))
      errors[#errors + 1] = time_s / (row.token_to_token_ms * 1e-3) - 1
    end
  end
  local absolute = {}
  for i, value in ipairs(errors) do absolute[i] = math.abs(value) end
  if #errors == 0 then return end
  print(("%-26s %-36s %5d  median error %5.2f %%  bias %+6.2f %%  (not judged)"):format("shipped data",
    "TensorRT-LLM 0.9 decode, Llama-2", #errors, median(absolute) * 100, median(errors) * 100))
end)

test.finish()
