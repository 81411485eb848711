-- Constants of the kernel model that were fitted to rows of one GPU: family.toml beside its hardware.toml, which
-- `rooflua data family --write` makes. What it does not state is its family's (bench_data/families).
--
--     title = "my-gpu"
--     answers = "model"   or "tables": what prices kernels, as was nearer to rows that were left out
--     [rows]           kernels by kind (family/rows.lua) that the constants were fitted to
--     [constants]      name = value
--     [sources]        name = "..."
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local specs = require "rooflua.border.specs"

local own_family = {}
local fail = core.fail

own_family.file = "family.toml"

local known = core.set { "answers", "title", "rows", "constants", "sources" }
--- What kinds of kernels are called.
own_family.titles = { gemm = "GEMM", attention = "attention", moe = "experts", all_reduce = "all-reduce" }
local titles = own_family.titles
local needed = { "gemm", "attention", "moe" } -- of a family whose answers rest on its own rows

local rows_of = setmetatable({}, { __mode = "k" }) -- Hardware -> rows by kind
local is_modelled = setmetatable({}, { __mode = "k" })

--- The rows that the constants of a GPU were fitted to, {kind = number}; nil of one without constants of its own.
function own_family.rows(hardware) return rows_of[hardware] end

--- Whether the fitted model answers in place of a GPU's tables.
function own_family.is_modelled(hardware) return is_modelled[hardware] == true end

--- Whether a kind of kernels of this GPU was fitted to rows of its own.
function own_family.is_whole(rows)
  for _, kind in ipairs(needed) do
    if not rows[kind] then return false end
  end
  return true
end

local function checked(path)
  local read = native.read_toml(path)
  for key in core.sorted_pairs(read) do
    if not known[key] then fail("%s: %s", path, core.unknown_name("key", key, core.sorted_keys(known))) end
  end
  for _, key in ipairs { "rows", "constants", "sources" } do
    if type(read[key]) ~= "table" then fail("%s: %s: is missing", path, key) end
  end
  if read.answers ~= "model" and read.answers ~= "tables" then
    fail("%s: answers: expected \"model\" or \"tables\", found %s", path, core.describe(read.answers))
  end
  for kind, count in core.sorted_pairs(read.rows) do
    if not titles[kind] then fail("%s: rows: %s", path, core.unknown_name("kind", kind, core.sorted_keys(titles))) end
    core.whole(count, path .. ": rows." .. kind, 1)
  end
  for name in core.sorted_pairs(read.constants) do
    if type(read.sources[name]) ~= "string" then fail("%s: sources: has none of %s", path, name) end
  end
  return read
end

--- What is said of a GPU whose constants are in part its own: {fitted_on} or {lender, title}.
local function described(hardware, rows)
  if own_family.is_whole(rows) or hardware.fit_note == "" then return { fitted_on = hardware.name } end
  local parts = {}
  for kind, count in core.sorted_pairs(rows) do parts[#parts + 1] = ("%d of %s"):format(count, titles[kind]) end
  return { lender = ("own rows (%s), else on %s"):format(core.join(parts, ", "), hardware.fitted_on),
    title = "other kernels of " .. hardware.name }
end

--- A GPU with the constants that lie beside it; the same GPU where there are none.
--- @param source string? the hardware.toml that is asked; that of the GPU
--- @error naming the file and what is wrong in it
function own_family.applied(hardware, source)
  local folder = (source or hardware.source):match "^(.*)/[^/]*%.toml$"
  local path = folder and folder .. "/" .. own_family.file
  if not path or not native.file_exists(path) then return hardware end
  local read = checked(path)
  local out = specs.with_constants(hardware, read.constants, described(hardware, read.rows), path .. ": constants")
  rows_of[out], is_modelled[out] = read.rows, read.answers == "model"
  return out
end

return own_family
