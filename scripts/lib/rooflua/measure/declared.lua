-- What the engine declares as data, as text: the metrics of a run and the small vocabularies. `rooflua help metrics`
-- and the tables of docs/SERVING.md are made of it.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local metrics = require "rooflua.measure.metrics"
local words = require "rooflua.base.words"

local declared = {}

local vocabularies = { "bound", "evidence", "outcome", "phase", "refusal" }

--- Name, unit, better and help of every metric that has a name in sweeps, searches and comparisons.
local function metric_rows()
  local rows = {}
  for _, metric in ipairs(metrics.declared.run) do
    if metric.kind ~= "other" then
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

--- The text of "metrics", of a metric's name, or of a vocabulary; nil of any other topic.
function declared.help(topic)
  if topic == "metrics" then return metrics_text() end
  if core.is_among(topic, vocabularies) then return columns.after(2, word_rows(topic)) end
  local about = metrics.about(topic)
  return about and ("%s (%s): %s"):format(topic, about.unit, about.help)
end

--- Everything that declared.help has a text for.
function declared.topics()
  local out = { "metrics" }
  for _, name in ipairs(vocabularies) do out[#out + 1] = name end
  for _, name in ipairs(metrics.names) do out[#out + 1] = name end
  return out
end

--- Rows of the documentation's table of metrics.
declared.metric_rows = metric_rows
--- Rows of the documentation's table of a vocabulary.
declared.word_rows = word_rows

return declared
