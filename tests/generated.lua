-- Parts of documents that are generated from declarations: compares each with what the declarations say today.
-- Run from the source tree:
--   rooflua lua tests/generated.lua              compares
--   rooflua lua tests/generated.lua --write      writes the parts that differ
--
-- A part stands between a line that holds "generated: NAME" and a line that holds "end of NAME", each written as a
-- comment of its file: <!-- generated: NAME --> in Markdown, "-- generated: NAME" in Lua.
-- A new part is one entry of `parts` and these two lines.
local core = require "rooflua.base.core"
local commands = require "rooflua.repl.commands"
local manual = require "rooflua.help.scenario"
local declared = require "rooflua.measure.declared"
local metrics = require "rooflua.measure.metrics"
local native = require "rooflua.native"
local rooflua = require "rooflua"
local shipped = dofile "tests/shipped_tables.lua"
local schema_of_parts = dofile "tests/schema_of_parts.lua"
local expectations = dofile "tests/reference/engines/all.lua"
local spec = require "rooflua.spec"
local words = require "rooflua.base.words"

--- A Markdown table. A "|" inside a cell is escaped.
local function markdown_table(head, rows)
  local lines = {}
  local function add(cells)
    for i, cell in ipairs(cells) do cells[i] = (cell:gsub("|", "\\|")) end
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
  end
  add(head)
  lines[#lines + 1] = "|" .. ("---|"):rep(#head)
  for _, row in ipairs(rows) do add(row) end
  return table.concat(lines, "\n")
end

local of_engines = dofile "tests/generated_engines.lua"(markdown_table)

--- A value as a scenario writes it; nothing for no value.
local function code(value)
  if value == nil then return "" end
  return "`" .. (type(value) == "string" and ("%q"):format(value) or tostring(value)) .. "`"
end

--- The values, bounds and unit that a declared parameter accepts.
local function accepted(parameter)
  local choices = {}
  for _, value in ipairs(parameter.values or {}) do choices[#choices + 1] = code(value) end
  if parameter.policy then choices[#choices + 1] = ("a policy of scripts/%s"):format(parameter.policy) end
  local out = table.concat(choices, ", ")
  if parameter.min then out = out .. ("from %g"):format(parameter.min) end
  if parameter.max then out = out .. (" to %g"):format(parameter.max) end
  if parameter.unit and parameter.unit ~= "1" then out = out .. (out == "" and "" or " ") .. parameter.unit end
  if out == "" and type(parameter.default) == "boolean" then out = "true, false" end
  return out
end

--- The declared parameters of a policy: policy_parameters("steps", "roofline_v2").
local function policy_parameters(folder, name)
  for _, described in ipairs(rooflua.list(folder)) do
    if described.name == name then
      local rows = {}
      for _, key in ipairs(core.sorted_keys(described.params)) do
        local parameter = described.params[key]
        rows[#rows + 1] = { "`" .. key .. "`", code(parameter.default), accepted(parameter), parameter.doc,
          parameter.source or "" }
      end
      return markdown_table({ "parameter", "default", "accepts", "meaning", "source" }, rows)
    end
  end
  error(("there is no policy %s in scripts/%s"):format(name, folder))
end

--- Parameters of all policies of some folders, one row each.
local function folder_parameters(folders)
  local rows = {}
  for _, folder in ipairs(folders) do
    for _, described in ipairs(rooflua.list(folder)) do
      for _, key in ipairs(core.sorted_keys(described.params)) do
        local parameter = described.params[key]
        rows[#rows + 1] = { ("%s.%s"):format(folder, described.name), "`" .. key .. "`",
          type(parameter.default) == "table" and "" or code(parameter.default), parameter.doc, parameter.source or "" }
      end
    end
  end
  return markdown_table({ "policy", "parameter", "default", "meaning", "source" }, rows)
end

--- The alias of a stub for the names of all metrics.
local function metric_alias()
  local lines = { "---A metric by name (`rooflua help metrics` says what each is).", "---@alias rooflua.Metric" }
  for _, name in ipairs(metrics.names) do lines[#lines + 1] = ('---| "%s"'):format(name) end
  return table.concat(lines, "\n")
end

--- The aliases of a stub for evidence, and for what bounds an operation (never "unknown", the first word).
local function word_aliases()
  local bounds = words.names "bound"
  assert(table.remove(bounds, 1) == "unknown")
  return ('---@alias rooflua.Evidence "%s"\n---@alias rooflua.Bound "%s"'):format(
    table.concat(words.names "evidence", '"|"'), table.concat(bounds, '"|"'))
end

--- Adds words in lines as long as they may be, each as the first or as a further one of its line.
local function filled(out, words_of, first, further)
  for i, word in ipairs(words_of) do
    local more = further:format(word)
    if i > 1 and #out[#out] + #more <= 118 then
      out[#out] = out[#out] .. more
    else
      out[#out + 1] = first:format(word)
    end
  end
end

--- The alias of a stub for the kinds of policies.
local function kind_alias()
  local out, known = { "---@alias rooflua.PolicyKind" }, require("rooflua.policy.kinds").folders()
  known[#known + 1] = "engines"
  filled(out, known, '---| "%s"', '|"%s"')
  return table.concat(out, "\n")
end

--- The keys that take a policy, for the package of Python.
local function policy_keys()
  local out = {}
  filled(out, manual.policy_folders(), "    %s,", " %s,")
  return table.concat(out, "\n")
end

--- The declared ranges of figures. A row has the figures of one kind that have one range.
local function range_rows()
  local rows, row_of = {}, {}
  for _, range in ipairs((native.ranges())) do
    local kind, key = range.key:match "^(%w+)%.(.+)$"
    local bounds = ("%.10g to %.10g"):format(range.least, range.most)
    local alike = kind .. range.unit .. bounds
    if row_of[alike] then
      row_of[alike][2] = row_of[alike][2] .. ", `" .. key .. "`"
    else
      row_of[alike] = { kind, "`" .. key .. "`", bounds, range.unit }
      rows[#rows + 1] = row_of[alike]
    end
  end
  return markdown_table({ "of a", "figures", "range", "unit" }, rows)
end

--- The tables of figures of models, by name, and their names in order: parts in front of the whole.
local function figure_tables()
  local tables, names = {}, {}
  for _, each in ipairs((native.model_figures())) do
    tables[each.name] = each
    table.insert(names, 1, each.name)
  end
  return tables, names
end

--- The type of a figure in a stub.
local function figure_type(row)
  local out = row.part and "rooflua." .. row.part .. (row.list and "[]" or "?") or row.type
  local values = row.values or {}
  if #values > 0 and #values < 8 then out = '"' .. table.concat(values, '"|"') .. '"' end
  return row.optional and not row.part and out .. "?" or out
end

--- The classes of a model and its parts, for stubs. What a description says in the short form belongs to the model.
local function model_classes()
  local tables, names = figure_tables()
  local lines = {}
  local function add_fields(rows)
    local seen = {}
    for _, row in ipairs(rows) do
      if row.shown and not seen[row.name] then
        lines[#lines + 1] = ("---@field %s %s %s"):format(row.name, figure_type(row), row.doc)
      end
      seen[row.name] = seen[row.name] or row.shown
    end
  end
  for _, name in ipairs(names) do
    if name ~= "ShortForm" then
      lines[#lines + 1] = ("%s---@class rooflua.%s %s"):format(#lines > 0 and "\n" or "", name, tables[name].doc)
      add_fields(tables[name].rows)
    end
  end
  add_fields(tables.ShortForm.rows)
  return table.concat(lines, "\n")
end

--- The keys of a model's .toml: table, key, what it accepts, what it means where it is left out.
local function model_key_rows()
  local tables = figure_tables()
  local rows, seen = {}, {}
  local function left_out(row)
    if row.needed then return "needed" end
    local value = row.default
    local told = type(value) == "boolean" or type(value) == "string" and value ~= ""
      or type(value) == "number" and value >= row.least
    return told and code(value) or ""
  end
  local function add(where, name, of, among)
    if seen[where .. name] then return end
    seen[where .. name] = true
    for _, row in ipairs(tables[name].rows) do
      local own = row.part and (row.list and ("[[%s]]"):format(row.key) or ("[%s]"):format(row.key))
      if row.part and row.among then
        add(where, row.part, row.doc, true)
      elseif row.part then
        add("`" .. own .. "`", row.part)
      elseif not row.computed and not (row.apart and among) and row.doc ~= "" then
        local range = row.unit and ("%.10g to %.10g %s"):format(row.least, row.most, row.unit)
        local accepts = row.values and table.concat(row.values, ", ") or range or row.type
        rows[#rows + 1] = { where, "`" .. row.key .. "`", accepts, left_out(row), (of and of .. ": " or "") .. row.doc }
      end
    end
  end
  add("", "Model")
  add("", "ShortForm")
  return markdown_table({ "table", "key", "accepts", "left out", "meaning" }, rows)
end

--- The kinds of attention, and the shipped models that have layers of them.
local function kind_rows()
  local models = {}
  for _, name in ipairs(spec.models()) do
    local seen = {}
    for _, kind in ipairs(spec.model(name).attention) do
      local list = models[kind.kind] or {}
      models[kind.kind] = list
      if not seen[kind.kind] then list[#list + 1] = name end
      seen[kind.kind] = true
    end
  end
  local rows = {}
  for _, kind in ipairs { "full", "window", "chunk", "latent", "latent_sparse", "block_sparse", "compressed", "delta",
                          "mamba2" } do
    local list = models[kind]
    local text = #list > 24 and ("%d of %d"):format(#list, #spec.models()) or table.concat(list, ", ")
    rows[#rows + 1] = { ("[%s](#%s)"):format(kind, kind), text }
  end
  return markdown_table({ "kind", "models" }, rows)
end

--- The :commands of the prompt.
local function prompt_rows()
  local rows = {}
  for i, each in ipairs(commands.described()) do rows[i] = { "`" .. each[1] .. "`", each[2] } end
  return markdown_table({ "command", "what it does" }, rows)
end

-- Each entry: the file, the name of the part, and a function that gives its text (without a final line break), or the
-- folders whose parameters it lists.
local parts = {
  {
    file = "docs/MODELS.md", name = "parameters of steps/roofline_v2",
    text = function() return policy_parameters("steps", "roofline_v2") end,
  },
  { file = "docs/SPECULATION.md", name = "parameters of speculation",
    folders = { "speculators", "acceptance", "drafters" } },
  { file = "docs/TIERS.md", name = "parameters of tiers", folders = { "tiers", "eviction" } },
  { file = "docs/EXPERT_DRIFT.md", name = "parameters of balancers", folders = { "balancers" } },
  { file = "docs/DISAGGREGATION.md", name = "parameters of deciders", folders = { "deciders" } },
  { file = "docs/CONTROL.md", name = "parameters of admission", folders = { "admission" } },
  { file = "docs/CONTROL.md", name = "parameters of clients", folders = { "clients" } },
  { file = "docs/CONTROL.md", name = "parameters of faults", folders = { "faults" } },
  { file = "docs/LUA_API.md", name = "scenario keys", text = manual.rows },
  { file = "docs/LUA_API.md", name = "commands of the prompt", text = prompt_rows },
  { file = "docs/ENGINES.md", name = "engines", text = of_engines.known },
  { file = "docs/ENGINES.md", name = "options of engines", text = of_engines.options },
  { file = "docs/ENGINES.md", name = "code of engines", text = of_engines.code },
  {
    file = "docs/SERVING.md", name = "metrics",
    text = function() return markdown_table({ "metric", "unit", "better", "" }, declared.metric_rows()) end,
  },
  {
    file = "docs/SERVING.md", name = "words of evidence",
    text = function() return markdown_table({ "evidence", "" }, declared.word_rows "evidence") end,
  },
  {
    file = "docs/SERVING.md", name = "words of outcome",
    text = function() return markdown_table({ "outcome", "" }, declared.word_rows "outcome") end,
  },
  { file = "docs/GPUS.md", name = "measured GPUs", text = function() return shipped.gpus(markdown_table) end },
  { file = "docs/ROBUSTNESS.md", name = "declared ranges", text = range_rows },
  { file = "docs/DATA.md", name = "keys of a model", text = model_key_rows },
  { file = "scripts/meta/spec.lua", name = "classes of models", text = model_classes },
  { file = "docs/ATTENTION.md", name = "models by kind of attention", text = kind_rows },
  { file = "docs/DATA.md", name = "columns of tables", text = function() return shipped.columns(markdown_table) end },
  { file = "docs/DATA.md", name = "tables of each GPU", text = function() return shipped.tables(markdown_table) end },
  {
    file = "docs/DATA.md", name = "our rows and published ones",
    text = function() return shipped.own(markdown_table) end,
  },
  {
    file = "docs/VALIDATION.md", name = "expectations by engine",
    text = function()
      return markdown_table({ "engine", "subject", "expectations", "pending" }, expectations.rows())
    end,
  },
  { file = "scripts/meta/measure.lua", name = "names of metrics", text = metric_alias },
  { file = "scripts/meta/cost.lua", name = "words", text = word_aliases },
  { file = "docs/schema/result.json", name = "parts of a run", text = schema_of_parts.keys },
  { file = "docs/schema/result.json", name = "figures of parts", text = schema_of_parts.figures },
  { file = "scripts/meta/rooflua.lua", name = "kinds of policies", text = kind_alias },
  { file = "scripts/python/rooflua/kinds.py", name = "keys of policies", text = policy_keys },
  { file = "scripts/meta/serve.lua", name = "scenario keys", text = manual.classes },
  { file = "scripts/meta/plan.lua", name = "keys of a plan", text = manual.plan_class },
  { file = "scripts/meta/plan.lua", name = "fields of a candidate", text = manual.candidate_class },
  {
    file = "scripts/meta/spec.lua", name = "fields of a GPU",
    text = function() return manual.spec_class "Hardware" end,
  },
  {
    file = "scripts/meta/spec.lua", name = "fields of a deployment",
    text = function() return manual.spec_class "Deployment" end,
  },
  {
    file = "scripts/meta/spec.lua", name = "options of a deployment",
    text = function() return manual.spec_class "DeploymentOptions" end,
  },
}

--- The text of a file with the part replaced; nil and the reason if its two marks are not there.
local function with_part(text, name, body)
  local _, first = text:find("generated: " .. name, 1, true)
  local last = text:find("end of " .. name, first, true)
  if not first or not last then return nil, ("no lines 'generated: %s' and 'end of %s'"):format(name, name) end
  local line_end = text:find("\n", first, true)
  local line_start = last
  while text:sub(line_start - 1, line_start - 1) ~= "\n" do line_start = line_start - 1 end
  if line_start <= line_end then return nil, ("the marks of '%s' are on one line"):format(name) end
  return text:sub(1, line_end) .. body .. "\n" .. text:sub(line_start)
end

local passed, failed = 0, 0
local function check(ok, message)
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
  if not ok then print("FAIL " .. message) end
end

-- The comparison itself: a text with marks, one that is up to date, one that is not, and one without marks.
local sample = "a\n<!-- generated: n -->\nold\nlines\n<!-- end of n -->\nb\n"
check(with_part(sample, "n", "new") == "a\n<!-- generated: n -->\nnew\n<!-- end of n -->\nb\n", "a part is replaced")
check(with_part(sample, "n", "old\nlines") == sample, "a part that is up to date is not changed")
check(with_part(sample, "m", "new") == nil, "a part needs its marks")
check(markdown_table({ "a" }, { { "b|c" } }) == "| a |\n|---|\n| b\\|c |", "a table escapes its bars")

local write = arg[1] == "--write"
for _, part in ipairs(parts) do
  local handle = assert(io.open(part.file))
  local found = handle:read "*a"
  handle:close()
  local wanted, problem = with_part(found, part.name, (part.text or folder_parameters)(part.folders))
  check(wanted, ("%s: %s"):format(part.file, tostring(problem)))
  if wanted and wanted ~= found and write then
    handle = assert(io.open(part.file, "w"))
    handle:write(wanted)
    handle:close()
    print("wrote " .. part.file .. ": " .. part.name)
  elseif wanted then
    check(wanted == found, ("%s: '%s' differs from the declarations; rooflua lua tests/generated.lua --write")
      :format(part.file, part.name))
  end
end
print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
