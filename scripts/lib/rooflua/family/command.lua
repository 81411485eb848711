--- `rooflua data family`: constants of the kernel model that were fitted to the rows of a folder; the report, the
--- document of --json, and the text of family.toml.
local core = require "rooflua.base.core"
local columns = require "rooflua.text.columns"
local family_rows = require "rooflua.family.rows"
local fitted = require "rooflua.family.fitted"
local json = require "rooflua.json"
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local own_family = require "rooflua.border.own_family"
local quoting = require "rooflua.text.quoting"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local units = require "rooflua.text.units"

local command = {}

local most_rows = 1000 -- of a kind

local function in_percent(error) return error and units.percent(error) or "" end

local function verdict(kind)
  if kind.rows == 0 then return "no row: kept" end
  if kind.rows < fitted.fewest then return ("fewer than %d rows: kept"):format(fitted.fewest) end
  return kind.is_fitted and "fitted" or "no better on shapes left out: kept"
end

local function kinds_text(kinds)
  local list = { { "kernels", "rows", "shapes", "error before", "fitted", "left out", "" } }
  for _, kind in ipairs(kinds) do
    list[#list + 1] = { kind.title, tostring(kind.rows), tostring(kind.shapes), in_percent(kind.before),
      in_percent(kind.after), in_percent(kind.left_out), verdict(kind) }
  end
  return columns.text(list)
end

local function number(value) return ("%.4g"):format(value) end

local function constants_text(kinds)
  local list = { { "constant", "before", "after", "from", "to", "" } }
  for _, kind in ipairs(kinds) do
    for _, each in ipairs(kind.is_fitted and kind.constants or {}) do
      list[#list + 1] = { each.name, number(each.before), number(each.after), number(each.min), number(each.max),
        each.at_bound and "at its bound" or "" }
    end
  end
  return #list > 1 and columns.text(list) or "no constant was fitted"
end

--- What answers for a GPU with this file, in words.
local function answers_text(answers)
  if not answers.by then return nil end
  return ("%s: rows by their neighbours in the tables are off by %s, shapes by a fit without them by %s"):format(
    answers.by == "model" and "the model answers, and the rows do not"
      or "the tables answer, and the model beside them", in_percent(answers.tables), in_percent(answers.model))
end

local function text_of(hardware, lender, kinds, answers, path)
  return ("%s: constants of the kernel model, from those of %s\n\n%s\n\n%s\n\n%s%s\n%s\n"):format(hardware.name,
    lender, kinds_text(kinds), constants_text(kinds), answers.by and answers_text(answers) .. "\n" or "",
    "errors: median of |modelled / measured - 1|; left out: each shape by constants that were fitted without it",
    path and "written: " .. path or "nothing was written; --write makes " .. own_family.file)
end

--- The text of family.toml; nil where no kind was fitted.
local function file_text(hardware, lender, kinds, answers)
  local in_quotes, rows, constants, sources = quoting.toml, {}, {}, {}
  for _, kind in ipairs(kinds) do
    if kind.is_fitted then
      rows[#rows + 1] = ("%s = %d"):format(kind.name, kind.rows)
      for _, each in ipairs(kind.constants) do
        constants[#constants + 1] = ("%s = %s"):format(each.name, number(each.after))
        sources[#sources + 1] = ("%s = %s"):format(each.name, in_quotes(("fitted: %d rows of %s, median error %s, of "
          .. "shapes left out %s"):format(kind.rows, kind.title, units.percent(kind.after),
          units.percent(kind.left_out)) .. (each.at_bound and "; at its bound" or "")))
      end
    end
  end
  if #rows == 0 then return nil end
  return core.join({ "# Constants of modelled kernels, fitted to rows of this folder by `rooflua data family`.",
    quoting.comment("What is not here is " .. lender .. "'s."), "", "title = " .. in_quotes(hardware.name),
    quoting.comment(answers_text(answers)), "answers = " .. in_quotes(answers.by), "", "[rows]",
    core.join(rows, "\n"), "", "[constants]", core.join(constants, "\n"), "", "[sources]",
    core.join(sources, "\n"), "" }, "\n")
end

local function document_of(folder, hardware, lender, kinds, answers)
  local out = { schema = 1, answers = answers.by, error_of_tables = answers.tables, error_of_model = answers.model,
    folder = folder, hardware = hardware.name, lender = lender, kinds = json.array {} }
  for i, kind in ipairs(kinds) do
    out.kinds[i] = { kernels = kind.name, rows = kind.rows, shapes = kind.shapes, error_before = kind.before,
      error_after = kind.after, error_left_out = kind.left_out, fitted = kind.is_fitted or false,
      constants = json.array(kind.constants) }
  end
  return out
end

--- Whether the tables of a folder or the fitted model answer: what is nearer to rows that are left out. Of tables a row
--- is left out, so that rows which nothing interpolates do not answer for others: {by = "model" or "tables", tables,
--- model = median errors}; by is nil where nothing was fitted.
local function answers_of(database, folder, kinds, by_kind)
  local of_tables, of_model, fitted_ops = {}, {}, {}
  for _, kind in ipairs(kinds) do
    for i, error in ipairs(kind.is_fitted and kind.apart or {}) do
      of_model[#of_model + 1] = error
      fitted_ops[by_kind[kind.name][i].op] = true
    end
  end
  for _, each in ipairs(#of_model > 0 and database:tables() or {}) do
    if fitted_ops[each.op] and family_rows.lies_in(each, folder) then
      for _, row in ipairs(database:leave_one_out { table = each.name, leave = "row", most_rows = 300 }) do
        of_tables[#of_tables + 1] = row.error > -1 and math.abs(math.log(1 + row.error)) or nil
      end
    end
  end
  if #of_model == 0 then return {} end
  local model = fitted.median_error(of_model)
  local tables = #of_tables > 0 and fitted.median_error(of_tables) or nil
  return { by = tables and tables <= model and "tables" or "model", tables = tables, model = model }
end

--- Rows of the folder's own tables: those of a GPU that lends some are not its.
local function rows_in(folder, database)
  local by_kind = family_rows.of(database, most_rows, folder)
  for name, list in pairs(by_kind) do by_kind[name] = family_rows.spread(list, most_rows) end
  return by_kind
end

--- @param given {folder: string, write: boolean}
--- @return table {text, document, file = {path, text} where something is to be written}
--- @error where the folder has no hardware.toml or no table, and where a shipped GPU would be written
function command.run(given)
  local source = given.folder
  if not native.file_exists(source .. "/hardware.toml") then
    core.fail("%s: holds no hardware.toml (docs/DATA.md, \"Adding a GPU\")", source)
  end
  local hardware = specs.adopt(native.load_hardware(source), "Hardware")
  local folder = hardware.source:match "^(.*)/[^/]*$"
  if given.write and core.set(spec.gpus())[hardware.name] and folder:find "bench_data/[^/]+$" then
    core.fail("%s: is shipped, and its constants are those of bench_data/families; copy it to write some", folder)
  end
  local lender = hardware.fitted_on
  local database = mfu.open { hardware = hardware }
  local by_kind = rows_in(folder, database)
  if next(by_kind) == nil then core.fail("%s: holds no rows of GEMM, attention, experts or all-reduce", source) end
  local kinds = fitted.fit(hardware, by_kind).kinds
  local answers = answers_of(database, folder, kinds, by_kind)
  local file = given.write and file_text(hardware, lender, kinds, answers)
  if given.write and not file then core.fail("%s: no constant was fitted, so nothing is written", source) end
  local path = file and folder .. "/" .. own_family.file or nil
  local out = { text = text_of(hardware, lender, kinds, answers, path),
    document = document_of(source, hardware, lender, kinds, answers) }
  if path then out.file, out.document.written = { path = path, text = file }, path end
  return out
end

return command
