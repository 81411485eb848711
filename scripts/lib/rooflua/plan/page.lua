-- A plan as one page that needs no network: the answer, its ranks with prices that can be changed, every candidate.
local basis = require "rooflua.plan.basis"
local candidates = require "rooflua.plan.candidates"
local quoting = require "rooflua.text.quoting"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local page = {}

local style = [[body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}
table{border-collapse:collapse;width:100%;margin:1em 0}td,th{border-bottom:1px solid #ccc;padding:.3em .6em;
text-align:left;vertical-align:top}pre{background:#f4f4f4;padding:1em;overflow:auto}.n{text-align:right}
@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}pre{background:#222}}]]

local escaped = quoting.html

local function row(cells, tag)
  local out = {}
  for i, each in ipairs(cells) do out[i] = ("<%s>%s</%s>"):format(tag or "td", each, tag or "td") end
  return "<tr>" .. table.concat(out) .. "</tr>"
end

--- The price of each GPU as a field; the script multiplies again, which is exact, because cost is linear in prices.
local script = [[<script>
function again(){const price={};
document.querySelectorAll('input[data-gpu]').forEach(e=>price[e.dataset.gpu]=+e.value);
const body=document.getElementById('ranks');const rows=[...body.rows];
rows.forEach(r=>{r.cost=price[r.dataset.gpu]*r.dataset.paid;
r.querySelector('.cost').textContent='$'+r.cost.toFixed(2)});
rows.sort((a,b)=>a.cost-b.cost).forEach(r=>body.appendChild(r))}
document.querySelectorAll('input[data-gpu]').forEach(e=>e.addEventListener('input',again))</script>]]

--- What the figures of a rank rest on: its evidence, and a line per note.
local function basis_cell(question, item)
  local lines = { escaped(basis.evidence(item.result)) }
  if item.measured then lines[2] = escaped(item.measured.about) end
  for _, note in ipairs(basis.notes(question, item.candidate, item.result)) do lines[#lines + 1] = escaped(note) end
  return table.concat(lines, "<br>")
end

local function rank_rows(done)
  local question, out = done.question, {}
  for rank, item in ipairs(done.plan.ranks) do
    local parts = {}
    for _, bound in ipairs(question.bounds) do
      local name, range = bound.metric, item.sure and item.sure.metrics[bound.metric]
      parts[#parts + 1] = ("%s %s%s"):format(escaped(words.metric(name)), words.value(name, item.result.metrics[name]),
        range and (" (%s to %s)"):format(words.value(name, range.low), words.value(name, range.high)) or "")
    end
    local sure = item.sure and words.sure(item.sure) or "one run"
    if item.too_unsure then
      sure = ("not sure enough, %s is asked: %s"):format(words.percent(question.confidence), sure)
    end
    out[#out + 1] = ('<tr data-gpu="%d" data-paid="%d"><td>%d</td><td>%s<br>%s</td><td class="cost n">%s</td>'
      .. "<td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>"):format(item.candidate.gpu, item.result.paid_gpus, rank,
      escaped(words.gpus(question, item.candidate, item.result, candidates.widths_text(item.candidate))),
      escaped(words.settings(item.candidate)), words.dollars(item.result.cost_per_hour),
      table.concat(parts, "<br>"), escaped(sure), item.holds_to and words.held(question, item) or "-",
      basis_cell(question, item))
  end
  return table.concat(out, "\n")
end

local function price_fields(question)
  local out = {}
  for i, gpu in ipairs(question.gpus) do
    local field = '<label>%s $ <input data-gpu="%d" type="number" step="0.01" min="0" value="%.4g"></label>'
    out[#out + 1] = field:format(escaped(gpu.label), i, gpu.price and gpu.price.typical or 0)
  end
  return table.concat(out, " ")
end

local function candidate_rows(done)
  local out = {}
  for _, each in ipairs(done.found.candidates) do
    local result = each.result or {}
    out[#out + 1] = row { each.index, escaped(each.name), result.replicas or "-",
      result.score and units.significant(result.score, 5) or "-",
      escaped(each.ended or "-"), escaped(each.problem or "") }
  end
  return table.concat(out, "\n")
end

--- The page of what run.all returned; `text` is the plan's text.
function page.of(done, text)
  local question = done.question
  local title = escaped(("%s within %s"):format(words.asked(question), words.slo(question.bounds)))
  return table.concat({ '<!doctype html><html lang="en"><meta charset="utf-8"><title>' .. title .. "</title><style>",
    style, "</style><h1>" .. title .. "</h1>", "<p>Prices per GPU and hour: " .. price_fields(question) .. "</p>",
    "<table><thead>" .. row({ "rank", "deployment", "per hour", "SLO metrics (90 % intervals)", "SLO met",
      "holds up to", "evidence and notes" }, "th") .. '</thead><tbody id="ranks">', rank_rows(done), "</tbody></table>",
    "<h2>Report</h2><pre>" .. escaped(text) .. "</pre>", "<h2>Candidates</h2><table><thead>"
      .. row({ "#", "candidate", "replicas", "objective", "ended", "" }, "th") .. "</thead><tbody>",
    candidate_rows(done), "</tbody></table>", script, "</html>" }, "\n") .. "\n"
end

return page
