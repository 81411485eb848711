-- `--bench "vllm bench serve ..."`: the command of a benchmark tool, or a file that stands for one, as a workload.
-- Nothing of it is executed, and where it connects to is not read.
local core = require "rooflua.base.core"
local file = require "rooflua.bench.file"
local loads = require "rooflua.bench.loads"
local native = require "rooflua.native"
local shell_words = require "rooflua.text.shell_words"

local command = {}
local fail = core.fail

--- The tools, one file each: {title, starts, flags, without_effect, workload, source}.
---   starts   words that begin a command of it; the first is compared without its folder
---   flags    {name = "number" | "whole" | "text" | "switch"}, names without dashes
---   aliases  {name = the name in `flags`}
---   without_effect  {name = "value" | "values" | "switch"}: where it connects to and what it writes
---   workload fun(values, told): a workload; `values` by the names of `flags`; adds sentences to `told`
local tools = { require "rooflua.bench.vllm_bench", require "rooflua.bench.sglang_bench",
  require "rooflua.bench.aiperf", require "rooflua.bench.genai_perf", require "rooflua.bench.guidellm" }

local function is_python(word) return (word:match "([^/]*)$"):find "^python[%d.]*$" ~= nil end

--- The place after a beginning, "python -m sglang.bench_serving"; nil where the words begin otherwise.
local function begins_at(words, start)
  local at, is_first = 1, true
  for part in start:gmatch "%S+" do
    local word = words[at]
    if not word then return nil end
    local own = is_first and word:match "([^/]*)$" or word
    local is_script = part:find "%.py$" and (word:match "([^/]*)$") == part
    if not (own == part or is_script or part == "python" and is_python(word)) then return nil end
    at, is_first = at + 1, false
  end
  return at
end

local function found_tool(words)
  for _, tool in ipairs(tools) do
    for _, start in ipairs(tool.starts) do
      local at = begins_at(words, start)
      if at then return tool, at end
    end
  end
  local starts = {}
  for i, tool in ipairs(tools) do starts[i] = tool.starts[1] end
  fail("--bench: expected the command of a benchmark (%s), or a file that says what it sends, found '%s'",
    core.join(starts, ", "), native.printable(table.concat(words, " ", 1, math.min(3, #words))))
end

local function number_of(flag, text, is_whole)
  local value = text:lower() == "inf" and math.huge or tonumber(text)
  if not value or value ~= value or value < 0 or is_whole and value % 1 ~= 0 then
    fail("--bench: %s: expected a %snumber from 0 on, found '%s'", flag, is_whole and "whole " or "",
      native.printable(text))
  end
  return value
end

--- Values by name of the words after the command; sentences about flags that are not known.
local function values_of(tool, words, at, told)
  local out, unread = {}, {}
  while at <= #words do
    local word = words[at]
    at = at + 1
    local flag, given = word:match "^%-%-?([%w_%-]+)=(.*)$"
    flag = flag or word:match "^%-%-?([%a][%w_%-]*)$"
    if not flag then fail("--bench: '%s': a word that belongs to no flag", native.printable(word)) end
    local name = flag:gsub("_", "-")
    name = tool.aliases and tool.aliases[name] or name
    local kind = tool.flags[name] or tool.without_effect[name]
    local next_word = words[at]
    local has_value = given ~= nil or next_word ~= nil and not next_word:find "^%-%-?%a"
    if not kind then
      unread[#unread + 1] = "--" .. flag
      if has_value and given == nil then at = at + 1 end
    elseif kind == "switch" then
      out[name] = given == nil or given:lower() ~= "false"
    else
      if not has_value then fail("--bench: --%s: expected a value after it", flag) end
      local text = given or next_word
      if given == nil then at = at + 1 end
      if tool.flags[name] then
        local value = kind == "text" and text or number_of("--" .. flag, text, kind == "whole")
        if out[name] ~= nil and out[name] ~= value then fail("--bench: --%s: is stated twice", flag) end
        out[name] = value
      end
      while kind == "values" and words[at] and not words[at]:find "^%-%-?%a" do at = at + 1 end
    end
  end
  loads.tell(told, "not known, and nothing follows from it", unread)
  return out
end

local function of_words(words, told)
  local tool, at = found_tool(words)
  return tool.workload(values_of(tool, words, at, told), told)
end

--- The workload of a file; errors and sentences name it.
local function of_file(named)
  local told = {}
  local ok, workload = pcall(function()
    local found, words = file.read(named, told)
    return found or of_words(words, told)
  end)
  if not ok and type(workload) ~= "string" then error(workload, 0) end
  local where = named.path .. ": "
  local function named_in(text)
    text = text:gsub("^%-%-bench: ", "")
    return "--bench: " .. (text:sub(1, #named.path) == named.path and "" or where) .. text
  end
  if not ok then error(named_in(workload), 0) end
  for i, sentence in ipairs(told) do told[i] = named_in(sentence) end
  return workload, told
end

--- The workload of a command or of a file, and sentences about it.
---@param text string
---@return table workload, string[] told
function command.read(text)
  core.text(text, "--bench")
  local named = file.named(text)
  if named then return of_file(named) end
  local words, told = shell_words.command(text, function(list) return (pcall(found_tool, list)) end).words, {}
  return of_words(words, told), told
end

return command
