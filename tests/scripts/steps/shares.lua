-- Shares of a step's time that rest on measured rows, for tests and for the table of docs/DATA.md.
local rooflua = require "rooflua"
local cost, mfu, spec = rooflua.cost, rooflua.mfu, rooflua.spec
local policy = require "rooflua.policy"
local Kernels = require "steps.kernels"

local shares = {
  --- Shipped models whose shapes of attention the publishers timed at every tp.
  published = { "codellama-34b", "llama-2-70b", "llama-3.1-70b", "llama-3.1-8b", "llama-3.3-70b", "mistral-7b",
                "mistral-nemo", "qwen2.5-32b", "qwen3-14b", "qwen3-32b", "qwen3-8b" },
}

--- No project published rows of these: norms, rope, activation, embedding, cache writes; sampler and host are assumed.
local function has_rows(row)
  return row.kind ~= "elementwise" and row.kind ~= "sampler" and row.kind ~= "host" and row.kind ~= "memory"
    and row.kind ~= "floor" or row.name:find "^quantize_" ~= nil
end

local batches = {
  decode = { decodes = 64, decode_context_tokens = 64 * 2048 },
  prefill = { prefills = { { new_tokens = 4096, context_tokens = 0 } } },
}

--- What prompts take besides their kernels is fitted, not a kernel that could have rows: it is left out, and
--- docs/DATA.md says how much it is.
local function is_kernel(row) return row.name ~= "prompts_beside" end

--- {decode, prefill}, each {good_s, all_s, tabled_s, of_all, of_tabled}; nil where the model does not divide.
function shares.of(model, gpu, tp, weights)
  local ok, deployment = pcall(spec.deployment, { model = model, hardware = gpu, tp = tp, weights = weights,
    kv_blocks = 100000 })
  if not ok then return nil end
  local steps, out = policy.fresh(Kernels {}), {}
  steps:bind { model = deployment.model, deployment = deployment, hardware = deployment.hardware, mfu = mfu.open(gpu) }
  for phase, batch in pairs(batches) do
    local good_s, tabled_s, all_s = 0, 0, 0
    for _, row in ipairs(cost.explain(function() return steps:time(cost.batch(batch)) end).rows) do
      local time_s = is_kernel(row) and row.time_s * row.count or 0
      local good = row.evidence == "measured" or row.evidence == "interpolated"
      all_s = all_s + time_s
      good_s = good_s + (good and time_s or 0)
      tabled_s = tabled_s + (has_rows(row) and time_s or 0)
    end
    out[phase] = { good_s = good_s, all_s = all_s, tabled_s = tabled_s, of_all = good_s / all_s,
                   of_tabled = good_s / tabled_s }
  end
  return out
end

local with_tables = { "a100-sxm-80gb", "b200", "b300", "gb200", "gb300", "h100-sxm", "h20", "h200-sxm", "h800", "l40s",
                      "rtx-pro-6000" }

local function range(values)
  table.sort(values)
  if #values == 0 then return "" end
  return ("%.0f to %.0f"):format(100 * values[1], 100 * values[#values])
end

--- Rows of docs/DATA.md: a model, then for each GPU the share of the time of operations that have rows somewhere, in
--- percent, from the least to the most over decode, prefill and tp 1, 2, 4, 8, in its own format of weights.
function shares.print_table()
  io.write("| model | ", table.concat(with_tables, " | "), " |\n|---", ("|---"):rep(#with_tables), "|\n")
  for _, model in ipairs(spec.models()) do
    local cells = {}
    for i, gpu in ipairs(with_tables) do
      local values = {}
      for _, tp in ipairs { 1, 2, 4, 8 } do
        for _, each in pairs(shares.of(model, gpu, tp) or {}) do values[#values + 1] = each.of_tabled end
      end
      cells[i] = range(values)
    end
    io.write("| ", model, " | ", table.concat(cells, " | "), " |\n")
  end
end

return shares
