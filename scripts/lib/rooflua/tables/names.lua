--- Names of published files: their patterns, parts and versions.
local kinds = require "rooflua.tables.kinds"
local rules = require "rooflua.tables.rules"

local names = {}

local function fits(pattern, name)
  local front, middle, back = pattern:match "^(%*?)(.-)(%*?)$"
  if front == "" and back == "" then return name == middle end
  if front ~= "" and back ~= "" then return name:find(middle, 1, true) ~= nil end
  if front ~= "" then return middle == "" or name:sub(-#middle) == middle end
  return name:sub(1, #middle) == middle
end

--- Whether a name agrees with one of several patterns, separated by spaces. Each may start or end with '*'.
function names.agrees(patterns, name)
  for pattern in patterns:gmatch "[^ ]+" do
    if fits(pattern, name) then return true end
  end
  return false
end

--- Whether a rule is about a file of this name.
function names.is_about(rule, name)
  return names.agrees(rule.files, name.table) and names.agrees(rule.engines or "*", name.engine)
    and names.agrees(rule.versions or "*", name.version) and names.agrees(rule.gpus or "*", name.gpu)
end

--- The name without ".gz".
function names.plain(file) return (file:gsub("%.gz$", "")) end

--- Where the word of a table stands in the name of a file, as whole words.
local function find_word(stem, word)
  local start, stop = stem:find(word, 1, true)
  while start do
    local starts = start == 1 or stem:sub(start - 1, start - 1) == "_"
    local ends = word:sub(-1) == "_" or stop == #stem or stem:find("^[_%d]", stop + 1) ~= nil
    if starts and ends then return start end
    start, stop = stem:find(word, start + 1, true)
  end
  return nil
end

local words = {} -- of all tables that are known
for _, kind in ipairs(kinds) do words[#words + 1] = kind.file end
for _, each in ipairs(rules.without_op) do words[#words + 1] = each[1] end

--- "h100_sxm_gemm_vllm0.24.0.csv": {gpu = "h100_sxm", table = "gemm", engine = "vllm", version = "0.24.0"}. A library
--- has the engine "". Nil if no published table is called like that.
function names.parse(file)
  local stem = names.plain(file):gsub("(.)%.[^.]*$", "%1")
  local word, at = "", nil
  for _, each in ipairs(words) do
    local found = #each > #word and find_word(stem, each)
    if found then word, at = each, found end
  end
  if not at then return nil end
  local rest, engine = stem:sub(at + #word):gsub("^_", ""), ""
  for _, each in ipairs(rules.engines) do
    if rest:sub(1, #each[1]) == each[1] then engine, rest = each[1], rest:sub(#each[1] + 1) end
  end
  return { gpu = stem:sub(1, math.max(0, at - 2)), table = word, engine = engine, version = rest }
end

--- Whether version a is older than b. Numbers inside versions compare as numbers: "0.9.0" before "0.19.0".
function names.older(a, b)
  local i, j = 1, 1
  while i <= #a and j <= #b do
    local x, y = a:match("^%d+", i), b:match("^%d+", j)
    if x and y then
      if tonumber(x) ~= tonumber(y) then return tonumber(x) < tonumber(y) end
      i, j = i + #x, j + #y
    else
      if a:byte(i) ~= b:byte(j) then return a:byte(i) < b:byte(j) end
      i, j = i + 1, j + 1
    end
  end
  return #a - i < #b - j
end

return names
