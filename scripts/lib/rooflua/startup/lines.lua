-- A line of a log without what stands in front of its message: colours, docker compose, kubectl, a collector of JSON,
-- journald, times, ranks, process ids, the engine's own level and file.
local json = require "rooflua.json"
local native = require "rooflua.native"

local lines = {}

--- Heads of an engine, after which its message begins, wherever they stand in a line: a pattern of Lua.
local heads = {
  "%u%u%u%u%u?%u*%s+%d%d%-%d%d %d%d:%d%d:%d%d %[?[%w_./]+:%d+%] ?", -- vLLM: INFO 09-23 18:12:39 [core.py:218]
  "%u%u%u%u%u?%u*%s+[%w_./]+%.py:%d+%] ?", -- the same where a page left out the time
  "%[%d%d%d%d%-%d%d%-%d%d %d%d:%d%d:%d%d[^%]]*%] ", -- SGLang: [2025-03-08 12:29:28 TP0]
  "%[%d%d/%d%d/%d%d%d%d%-%d%d:%d%d:%d%d%] ", -- TensorRT-LLM: [12/20/2025-04:21:10]
}

--- Pieces that may stand in front of a message, one after the other.
local pieces = {
  "^%s+", "^│ ?", "^%[TRT%-LLM[%w -]*%] ?", "^%[TensorRT%-LLM%]%[%u+%] ?", "^%[RANK %d+%] ?", "^%[batchmgr%] ?",
  "^%[[IWEDVF]%] ?", "^%([%w_%-]+[^()]*pid=%d+[^()]*%) ?", "^%[Stage%-%d+%] ?",
  "^%d%d%d%d%-%d%d%-%d%d[T ]%d%d:%d%d:%d%d[%d.,:+%-Z]* ?", "^%- %u+ %- ?", "^%| ?", "^std%a%a%a [FP] ",
  "^%a%a%a +%d+ %d%d:%d%d:%d%d %S+ [%w_./@%-]+%[%d+%]: ", "^%[pod/[^%]]+%] ?", "^INFO: +", "^ERROR: +", "^WARNING: +",
  "^%[rank%d+%]:? ?", "^%u%u%u%u%u?%u*%s+%d%d%-%d%d %d%d:%d%d:%d%d %[?[%w_./]+:%d+%] ?",
  "^[EWIF]%d%d%d%d %d%d:[%d:.]+ %S+ ",
}

local ranks = { "%f[%u]([TDPE]P%d+[_ ][TDPE]P%d+[_ ][TDPE]P%d+)%f[^%w]", "%f[%u]([TDPE]P%d+[_ ][TDPE]P%d+)%f[^%w]",
  "%f[%u]([TDPE]P%d+)%f[^%w]", "(RANK %d+)", "%((%w+ rank=%d+)", "^%[(rank%d+)%]", "%(Ray%w+ (pid=%d+)" }

--- The member of a document of a collector that has the line.
local members = { "log", "message", "msg", "text", "line", "MESSAGE" }

local most_bytes, most_front = 262144, 400
lines.most_bytes = most_bytes

--- {line, place} of a document of JSON on one line; nil where it is none.
local function of_json(raw)
  if not raw:find "^%s*{%s*\"" then return nil end
  local ok, document = pcall(json.decode, raw)
  if not ok or type(document) ~= "table" then return nil end
  for _, name in ipairs(members) do
    local text = document[name]
    if type(text) == "string" then
      local place = document.pod or document.container or document.container_name
      return text:gsub("[\r\n]+$", ""), type(place) == "string" and place or nil
    end
  end
end

--- The rank that a head names: "TP0", "DP1 TP0", "RANK 3", with the pod or the container; "" where it names none.
local function rank_of(head)
  for _, pattern in ipairs(ranks) do
    local found = head:match(pattern)
    if found then return (found:gsub("_", " ")) end
  end
  return ""
end

--- The place behind the last head of an engine that stands near the beginning.
local function behind_head(text)
  local near, best = text:sub(1, most_front), nil
  for _, pattern in ipairs(heads) do
    local from, stop = near:find(pattern)
    if from and (not best or from < best.from) then best = { from = from, stop = stop } end
  end
  return best and best.stop + 1 or 1
end

--- How many bytes of a beginning are pieces.
local function behind_pieces(text)
  local at, changed = 1, true
  while changed do
    changed = false
    for _, piece in ipairs(pieces) do
      local _, stop = text:find(piece, at)
      if stop and stop >= at then at, changed = stop + 1, true end
    end
  end
  return at - 1
end

--- The message of a line, its rank and the place (pod, service) that the front names.
---@return string message
---@return string rank
---@return string? place
function lines.of(raw)
  if #raw > most_bytes then return "", "" end
  local place
  local text = raw
  if raw:find("\27", 1, true) then text = raw:gsub("\27%[[%d;?]*%a", "") end
  text = text:gsub("\r+$", "")
  text = text:match "^.*\r([^\r]*)$" or text
  local inner, own = of_json(text)
  if inner then
    text, place = inner, own
    if text:find("\27", 1, true) then text = text:gsub("\27%[[%d;?]*%a", "") end
  end
  place = place or text:match "^([%w_.%-]+)%s+| " or text:match "^%[(pod/[^%]]+)%] "
  text = text:gsub("^[%a_][%w_.%-]*%s+| ", "")
  local from = behind_head(text)
  from = from + behind_pieces(text:sub(from, from + most_front))
  local message, rank = text:sub(from), rank_of(text:sub(1, from - 1))
  if message:find "[%c\128-\255]" then message = native.printable(message) end -- also what is no UTF-8
  return message, place and rank ~= "" and place .. " " .. rank or place or rank, place
end

return lines
