-- What documents say of bench_data: Markdown tables for tests/generated.lua, made from every tables.toml and its rows.
local core = require "rooflua.base.core"
local grouped = require("rooflua.text.units").grouped
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local spec = require "rooflua.spec"

local shipped = {}

--- The entries of a tables.toml: {name, op, dtype, engine, library, project, rows}; none if there is no such file.
--- Watts are no table of an op.
local function entries_of(gpu)
  local path, out = "bench_data/" .. gpu .. "/tables.toml", {}
  if not native.file_exists(path) then return out end
  for name, entry in core.sorted_pairs(native.read_toml(path)) do
    entry.name = name
    if entry.op ~= "power" then out[#out + 1] = entry end
  end
  return out
end

--- Whose libraries a GPU's tables timed, by the project that published them: "p: vLLM 0.22.0, 0.24.0; q: ...".
local function measured_by(entries)
  local projects = {}
  for _, entry in ipairs(entries) do
    local project = entry.project:match "[^/]+$"
    local first = entry.library:match "^[^,]+"  -- beside it, what it was built with
    local library, version = first:match "^(.-) ([%d.]+[%w+.]*)$"
    library = library or first
    projects[project] = projects[project] or {}
    projects[project][library] = projects[project][library] or {}
    projects[project][library][version or ""] = true
  end
  local out = {}
  for _, project in ipairs(core.sorted_keys(projects)) do
    local libraries = {}
    for _, library in ipairs(core.sorted_keys(projects[project])) do
      local versions = table.concat(core.sorted_keys(projects[project][library]), ", ")
      libraries[#libraries + 1] = library .. (versions ~= "" and " " .. versions or "")
    end
    out[#out + 1] = project .. ": " .. table.concat(libraries, "; ")
  end
  return table.concat(out, ". ")
end

--- Every GPU: how many rows are shipped, what was timed by whom, and where modelled kernels have their constants from.
function shipped.gpus(markdown_table)
  local rows = {}
  for _, gpu in ipairs(spec.gpus()) do
    local entries, count = entries_of(gpu), 0
    for _, entry in ipairs(entries) do count = count + entry.rows end
    local hardware = spec.hardware(gpu)
    local origin = measured_by(entries)
    if #entries == 0 then
      origin = hardware.tables_from == "" and "datasheet only"
        or "datasheet only; utilisation of the " .. hardware.tables_from
    end
    rows[#rows + 1] = { gpu, count > 0 and grouped(count) or "", origin,
      hardware.fit_note == "" and "fitted on H100, H200" or "Hopper's" }
  end
  return markdown_table({ "GPU", "rows", "measured by", "constants of modelled kernels" }, rows)
end

local letters = { vllm = "V", sglang = "S", trtllm = "T", nccl = "N", deepep = "D", infersim = "I", blis = "B",
  rooflua = "R", aiter = "A", oneccl = "O" }

--- Every op, and for each GPU the letters of those that timed it, small where lookups do not use the rows. Formats that
--- the same ones timed share a row.
function shipped.tables(markdown_table)
  local gpus, cells = {}, {}
  for _, gpu in ipairs(spec.gpus()) do
    local entries = entries_of(gpu)
    if #entries > 0 then gpus[#gpus + 1] = gpu end
    for _, entry in ipairs(entries) do
      local origin = entry.name:match "[^_]+$"
      local key = entry.op .. " " .. entry.dtype
      cells[key] = cells[key] or {}
      local letter = assert(letters[origin], "no letter for " .. entry.name)
      cells[key][gpu] = (cells[key][gpu] or "") .. (entry.answers == false and letter:lower() or letter)
    end
  end
  local rows, row_of = {}, {}
  for _, key in ipairs(core.sorted_keys(cells)) do
    local op, dtype = key:match "^(%S+) (%S+)$"
    local row = {}
    for i, gpu in ipairs(gpus) do row[i] = cells[key][gpu] or "" end
    local alike = op .. table.concat(row, ",")
    if row_of[alike] then
      row_of[alike][2] = row_of[alike][2] .. ", " .. dtype
    else
      row_of[alike] = { op, dtype, unpack(row) }
      rows[#rows + 1] = row_of[alike]
    end
  end
  return markdown_table({ "op", "formats", unpack(gpus) }, rows)
end

--- Every op with shipped rows: the columns of its tables, along which they are thinned, and what a row times.
function shipped.columns(markdown_table)
  local entry_of, docs, rows = {}, {}, {}
  for _, op in ipairs((mfu.ops())) do docs[op.name] = op.doc end
  for _, gpu in ipairs(spec.gpus()) do
    for _, entry in ipairs(entries_of(gpu)) do
      entry.path = ("bench_data/%s/%s.csv"):format(gpu, entry.name)
      entry_of[entry.op] = entry_of[entry.op] or entry
    end
  end
  for _, op in ipairs(core.sorted_keys(entry_of)) do
    local file = assert(io.open(entry_of[op].path))
    local columns = file:read("*l"):gsub("%s+$", ""):gsub(",latency_us.*$", "")
    file:close()
    rows[#rows + 1] = { op, (columns:gsub(",", ", ")), entry_of[op].axis, docs[op] or "" }
  end
  return markdown_table({ "op", "columns before latency_us", "axis", "a row times" }, rows)
end

--- {shape as written = latency in us} of a table; its shape columns, as written.
local function latencies(gpu, name)
  local out, file = {}, assert(io.open(("bench_data/%s/%s.csv"):format(gpu, name)))
  local columns, behind = file:read("*l"):match "^(.-),latency_us(.*)$"
  for line in file:lines() do
    local shape, us = line:match("^(.*),([^,]+)" .. (",[^,]+"):rep(select(2, behind:gsub(",", ""))) .. "$")
    out[shape] = tonumber(us)
  end
  file:close()
  return out, columns
end

--- Our rows over the published ones of the same shape: quantiles of the ratio, and its median by published latency.
function shipped.own(markdown_table)
  local rows, below, above = {}, 20, 200
  local function quantile(list, share)
    table.sort(list)
    return #list == 0 and "" or ("%.2f"):format(list[math.max(1, math.ceil(share * #list))])
  end
  local function add(gpu, own, other)
    local mine, columns = latencies(gpu, own.name)
    local theirs, same = latencies(gpu, other.name)
    local all, short, long = {}, {}, {}
    for shape, us in pairs(columns == same and theirs or {}) do
      local ratio = mine[shape] and mine[shape] / us
      all[#all + 1] = ratio
      if us < below then short[#short + 1] = ratio elseif us >= above then long[#long + 1] = ratio end
    end
    if #all == 0 then return end
    rows[#rows + 1] = { gpu, own.name, other.name, grouped(#all), quantile(all, 0.5),
      quantile(all, 0.1) .. " to " .. quantile(all, 0.9), quantile(short, 0.5), quantile(long, 0.5) }
  end
  for _, gpu in ipairs(spec.gpus()) do
    local entries = entries_of(gpu)
    for _, own in ipairs(entries) do
      for _, other in ipairs(own.project == "rooflua" and entries or {}) do
        if other.op == own.op and other.dtype == own.dtype and other ~= own then add(gpu, own, other) end
      end
    end
  end
  return markdown_table({ "GPU", "our table", "published table", "rows in both", "median ratio", "10 to 90 %",
    ("median below %d us"):format(below), ("median from %d us"):format(above) }, rows)
end

return shipped
