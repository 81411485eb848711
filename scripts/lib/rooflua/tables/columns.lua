--- Columns of published kernel tables, and what each is to a row of ours. A column is {name, use, field, ...}: `name`
--- as it is published, `field` the column of our own file.
---
---     use        a row of ours
---     number     field = value * scale
---     word       field = our word for the published one, of `words`: {{published, ours}, ...}
---     code       field = our number for the published word, of `words`
---     constant   field = value, a number or a word; there is no such published column
---     nodes      field = value * GPUs of a node
---     kv         the format of the KV cache
---     latency    latency in seconds = value * scale; several columns add up
---     format     the number format of the table: the formats of the kind say which rows
---     select     the row belongs to this table if the word fits `word`
---     some       ... if the number is above 0
---     none       ... if the number is 0, or the column is missing
---
--- A file without a column is an error, unless the column is `optional`; the field is then `otherwise`, or 0. Published
--- words may start or end with '*'.
local columns = {}

local us, ms = 1e-6, 1e-3

function columns.number(name, field, scale)
  return { name = name, use = "number", field = field, scale = scale or 1 }
end
function columns.word(name, field, words) return { name = name, use = "word", field = field, words = words } end
function columns.code(name, field, words) return { name = name, use = "code", field = field, words = words } end
function columns.fixed(field, value) return { use = "constant", field = field, value = value } end
function columns.select(name, word) return { name = name, use = "select", word = word } end
function columns.format(name) return { name = name, use = "format", optional = true } end
function columns.some(name) return { name = name, use = "some" } end
function columns.none(name) return { name = name, use = "none", optional = true } end
function columns.latency_us(name, optional)
  return { name = name, use = "latency", scale = us, optional = optional }
end

--- The column, where files may lack it.
function columns.optional(column, otherwise)
  column.optional, column.otherwise = true, otherwise
  return column
end

columns.latency = { name = "latency", use = "latency", scale = ms }
columns.kv_cache = { name = "kv_cache_dtype", use = "kv", field = "kv_dtype", optional = true }
columns.nodes = { name = "node_num", use = "nodes", field = "ranks" }

return columns
