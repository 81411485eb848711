-- What the engine declares as data, as text: the metrics of a run and the small vocabularies. `rooflua help metrics`
-- and the tables of docs/SERVING.md are made of it.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local words = require "rooflua.base.words"

local declared = {}

local vocabularies = { "bound", "evidence", "latency", "outcome", "phase", "refusal" }

--- Name, unit, better and help of every metric that has a name in sweeps, searches and comparisons.
local function metric_rows()
  local rows = {}
  for _, metric in ipairs(metrics.declared.run) do
    if metric.kind ~= "other" or metric.unit == "s" then
      local name = metric.kind == "distribution" and metric.name .. "_*" or metric.name
      rows[#rows + 1] = { name, metric.unit, metric.better, metric.help }
    end
  end
  for _, metric in ipairs(metrics.declared.derived) do
    rows[#rows + 1] = { metric.name, metric.unit, metric.better, metric.help }
  end
  return rows
end

local function word_rows(kind)
  local rows = {}
  for i, word in ipairs(words.declared(kind)) do
    rows[i] = { word.name, word.help .. (word.unsupported and " (unsupported)" or "") }
  end
  return rows
end

local function metrics_text()
  local rows = { { "metric", "unit", "better", "" } }
  for _, row in ipairs(metric_rows()) do rows[#rows + 1] = row end
  return columns.text(rows) .. "\n* is one of " .. core.join(metrics.declared.figures, ", ")
    .. ".\nA scenario adds its own (rooflua list metrics): metrics = { NAME = require \"metrics.ttft_above_frac\" {} }"
end

--- Metrics whose names are no names in sweeps: {list, of what}.
local others = {
  { metrics.declared.run, "" }, { metrics.declared.replicas, " of a replica" },
  { metrics.declared.groups, " of a class or a tenant" }, { metrics.declared.sessions, " of sessions" },
}

--- "busy_frac (1) of a replica: ...", with the figures of a distribution; nil where no metric has the name.
local function other_text(topic)
  for _, each in ipairs(others) do
    for _, metric in ipairs(each[1]) do
      if metric.name == topic then
        local figures = metric.kind == "distribution"
          and ("\n  %s_* with %s"):format(topic, core.join(metrics.declared.figures, ", ")) or ""
        return ("%s (%s)%s: %s%s"):format(topic, metric.unit, each[2], metric.help, figures)
      end
    end
  end
end

--- A part of a run with its metrics, or one of them: "gate", "gate.held"; nil of anything else.
local function part_text(topic)
  for _, part in ipairs(metrics.declared.parts) do
    local rows = {}
    for i, metric in ipairs(part.metrics) do
      rows[i] = { "  " .. part.name .. "." .. metric.name, metric.unit, metric.help }
      if topic == part.name .. "." .. metric.name then
        return ("%s (%s): %s"):format(topic, metric.unit, metric.help)
      end
    end
    if topic == part.name then
      return ("%s, a part of a result: %s\n%s"):format(topic, part.help, columns.text(rows))
    end
  end
end

--- The text of "metrics", of a metric's name, of a part of a result, or of a vocabulary; nil of any other topic.
function declared.help(topic)
  if topic == "metrics" then return metrics_text() end
  if core.is_among(topic, vocabularies) then return columns.after(2, word_rows(topic)) end
  local about = metrics.about(topic)
  return about and ("%s (%s): %s"):format(topic, about.unit, about.help) or other_text(topic)
end

--- The same for parts of a result, whose names other topics may have.
declared.part_help = part_text

--- Everything that declared.help has a text for.
function declared.topics()
  local out = { "metrics" }
  for _, name in ipairs(vocabularies) do out[#out + 1] = name end
  for _, name in ipairs(metrics.names) do out[#out + 1] = name end
  for _, each in ipairs(others) do
    for _, metric in ipairs(each[1]) do out[#out + 1] = metric.name end
  end
  for _, part in ipairs(metrics.declared.parts) do
    for _, metric in ipairs(part.metrics) do out[#out + 1] = part.name .. "." .. metric.name end
  end
  return out
end

--- Rows of the documentation's table of metrics.
declared.metric_rows = metric_rows
--- Rows of the documentation's table of a vocabulary.
declared.word_rows = word_rows

return declared
