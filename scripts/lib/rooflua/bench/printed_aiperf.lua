-- `--as aiperf`: the table of AIPerf's console of one run, as on a terminal that is wide enough. Columns and numbers:
-- src/aiperf/exporters/console_metrics_exporter.py and metrics/metric_dicts.py of ai-dynamo/aiperf (its main of 2026
-- has two columns more, of latencies with failed requests); rows: metrics/types, in their display_order. Left out is
-- the time to the second token.
local statistics = require "rooflua.base.statistics"

local aiperf = {}

local columns = { "avg", "min", "max", "p99", "p90", "p50", "std" }

--- {avg, min, max, quantiles, std} of the values of requests.
local function figures_of(values)
  table.sort(values)
  local mean, squares = statistics.mean(values), 0
  for _, value in ipairs(values) do squares = squares + (value - mean) * (value - mean) end
  local function quantile(share) return statistics.of_sorted(values, share) end
  return { avg = mean, min = values[1], max = values[#values], p99 = quantile(0.99), p90 = quantile(0.9),
    p50 = quantile(0.5), std = #values > 0 and math.sqrt(squares / #values) or nil }
end

--- 12345.678 as "12,345.68".
local function number(value)
  local whole, rest = ("%.2f"):format(value):match "^(%-?%d+)(%..*)$"
  return whole:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "") .. rest
end

--- The rows: {title, unit, figures}; those without a value are left out.
local function rows_of(summary, requests)
  local ttft, e2e, itl, per_user, output, input = {}, {}, {}, {}, {}, {}
  for i, problem in ipairs(requests.errors) do
    if problem == "" then
      local tokens, n = requests.output_lens[i], #ttft + 1
      ttft[n], e2e[n], output[n], input[n] = 1e3 * requests.ttfts[i], 1e3 * requests.e2els[i], tokens,
        requests.input_lens[i]
      local gap_ms = tokens > 1 and (e2e[n] - ttft[n]) / (tokens - 1) or 0
      if tokens > 1 then itl[#itl + 1] = gap_ms end
      if gap_ms > 0 then per_user[#per_user + 1] = 1e3 / gap_ms end
    end
  end
  local out = {}
  local function add(title, unit, figures)
    if figures.avg then out[#out + 1] = { title = title, unit = "(" .. unit .. ")", figures = figures } end
  end
  add("Time to First Token", "ms", figures_of(ttft))
  add("Time to First Output Token", "ms", figures_of(ttft)) -- differs where a server tells reasoning apart
  add("Request Latency", "ms", figures_of(e2e))
  add("Inter Token Latency", "ms", figures_of(itl))
  add("Output Token Throughput Per User", "tokens/sec/user", figures_of(per_user))
  add("Output Sequence Length", "tokens", figures_of(output))
  add("Input Sequence Length", "tokens", figures_of(input))
  add("Output Token Throughput", "tokens/sec", { avg = summary.output_tokens_per_s })
  add("Request Throughput", "requests/sec", { avg = summary.requests_per_s })
  add("Request Count", "requests", { avg = summary.completed > 0 and summary.completed or nil })
  return out
end

local longest_title = 30 -- of a metric whose unit stands on its line

--- Lines of cells: a metric with a long title takes two.
local function cells_of(rows)
  local out = {}
  for _, row in ipairs(rows) do
    local line, is_long = {}, #row.title > longest_title
    line[1] = is_long and row.title or row.title .. " " .. row.unit
    for i, key in ipairs(columns) do line[i + 1] = row.figures[key] and number(row.figures[key]) or "N/A" end
    out[#out + 1] = line
    if is_long then out[#out + 1] = { row.unit, "", "", "", "", "", "", "" } end
  end
  return out
end

---@param requests table columns of native.serve_requests
function aiperf.text(summary, requests)
  local head, lines, widths, total = { "Metric", unpack(columns) }, cells_of(rows_of(summary, requests)), {}, 1
  for i, cell in ipairs(head) do
    widths[i] = #cell
    for _, line in ipairs(lines) do widths[i] = math.max(widths[i], #line[i]) end
    total = total + widths[i] + 3
  end
  local function drawn(cells, left, between, right)
    local out = {}
    for i, width in ipairs(widths) do out[i] = (" %" .. width .. "s "):format(cells[i]) end
    return left .. table.concat(out, between) .. right
  end
  local function rule(stroke, left, between, right)
    local out = {}
    for i, width in ipairs(widths) do out[i] = stroke:rep(width + 2) end
    return left .. table.concat(out, between) .. right
  end
  local title = "NVIDIA AIPerf | LLM Metrics"
  local out = { (" "):rep(math.floor((total - #title) / 2)) .. title, rule("━", "┏", "┳", "┓"),
    drawn(head, "┃", "┃", "┃"), rule("━", "┡", "╇", "┩") }
  for _, line in ipairs(lines) do out[#out + 1] = drawn(line, "│", "│", "│") end
  out[#out + 1] = rule("─", "└", "┴", "┘")
  return table.concat(out, "\n") .. "\n"
end

return aiperf
