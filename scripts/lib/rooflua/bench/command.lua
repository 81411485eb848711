-- `--bench "vllm bench serve ..."`: the command of a benchmark tool, a script that has one, or a file that stands for
-- one, as a workload. Nothing of it is executed, and where it connects to is not read.
local core = require "rooflua.base.core"
local file = require "rooflua.bench.file"
local holes = require "rooflua.manifests.holes"
local loads = require "rooflua.bench.loads"
local native = require "rooflua.native"
local shell_script = require "rooflua.manifests.shell_script"

local command = {}
local fail = core.fail

--- The tools, one file each: {title, starts, flags, without_effect, lost, refused, workload, source}.
---   starts   words that begin a command of it; the first is compared without its folder
---   flags    {name = kind} of bench/flags.lua: what makes the load; names without dashes
---   aliases  {name = the name in another list}
---   without_effect  {name = kind}: where it connects to and what it writes
---   lost     {name = kind}: changes the load, and is not followed, which is told
---   refused  {name = kind}: is another load, unless it is 0
---   has_prefixes  whether argparse reads it: the beginning of a name is the name where no other begins so
---   workload fun(values, told): a workload; `values` by the names of `flags`, and `start`, which of the starts it was;
---            adds sentences to `told`
local tools = { require "rooflua.bench.vllm_bench", require "rooflua.bench.sglang_bench",
  require "rooflua.bench.aiperf", require "rooflua.bench.genai_perf", require "rooflua.bench.guidellm",
  require "rooflua.bench.guidellm_run" }

local function is_python(word) return (word:match "([^/]*)$"):find "^python[%d.]*$" ~= nil end

--- The place after a beginning, "python -m sglang.bench_serving", that stands at a place; nil where it does not.
local function begins_at(words, at, start)
  local is_first = true
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

local speakers = core.set { "echo", "printf", "cat", "grep", "pip", "pip3", "uv", "cd", "rm", "pkill", "which" }

--- {tool, start, at} of words: the first place at which a command of a tool stands, also behind `docker run IMAGE`.
local function found_tool(words)
  if speakers[words[1]] and not (words[1] == "uv" and words[2] == "run") then return nil end
  for first = 1, #words do
    for _, tool in ipairs(tools) do
      for _, start in ipairs(tool.starts) do
        local at = begins_at(words, first, start)
        if at then return { tool = tool, start = start, at = at } end
      end
    end
  end
end

local function refuse_words(words)
  local starts = {}
  for i, tool in ipairs(tools) do starts[i] = tool.starts[1] end
  fail("--bench: expected the command of a benchmark (%s), or a file that says what it sends, found '%s'",
    core.join(starts, ", "), native.printable(holes.shown(table.concat(words, " ", 1, math.min(3, #words)))))
end

local function number_of(flag, text, is_whole)
  local value = text:lower() == "inf" and math.huge or tonumber(text)
  if not value and text:find "^[%d.]+,[%d.,]+$" then
    fail("--bench: %s: '%s' is many loads: give one of them", flag, text)
  end
  if value == -1 then fail("--bench: %s: '-1' leaves it to the dataset or the tool: write its value", flag) end
  if not value or value ~= value or value < 0 or is_whole and value % 1 ~= 0 then
    fail("--bench: %s: expected a %snumber from 0 on, found '%s'", flag, is_whole and "whole " or "",
      native.printable(text))
  end
  return value
end

local function is_flag(word) return word:find "^%-%-?%a" ~= nil end

--- Sets what a flag of the load says.
local function set(out, name, flag, kind, text)
  if holes.has(text) then
    fail("--bench: --%s: %s is known only to whoever runs it: write its value", flag,
      native.printable(holes.shown(text)))
  end
  if kind == "list" then
    out[name] = out[name] or {}
    table.insert(out[name], text)
    return
  end
  local value = kind == "text" and text or number_of("--" .. flag, text, kind == "whole")
  if out[name] ~= nil and out[name] ~= value then fail("--bench: --%s: is stated twice", flag) end
  out[name] = value
end

--- Refuses a flag of another load, unless its value is 0.
local function refuse(flag, text)
  if tonumber(text) == 0 then return end
  fail("--bench: --%s: such a load is not read: give it as a workload of the scenario", flag)
end

local lists = { "flags", "without_effect", "lost", "refused" }

--- The name in the lists that a flag of a command stands for.
local function name_of(tool, flag)
  local name = flag:gsub("_", "-")
  name = tool.aliases and tool.aliases[name] or name
  for _, list in ipairs(lists) do
    if (tool[list] or {})[name] then return name end
  end
  local found, count = name, 0
  for _, list in ipairs(tool.has_prefixes and #name > 2 and lists or {}) do
    for each in pairs(tool[list] or {}) do
      if each:sub(1, #name) == name then found, count = each, count + 1 end
    end
  end
  return count == 1 and found or name
end

--- Values by name of the words after the command; sentences about flags that are not followed or not known.
local function values_of(tool, words, at, told)
  local out, unread, lost, missing = {}, {}, {}, {}
  while at <= #words do
    local word = words[at]
    at = at + 1
    local flag, given = word:match "^%-%-?([%w_%-.]+)=(.*)$"
    flag = flag or word:match "^%-%-?([%a][%w_%-.]*)$"
    if not flag then
      if not holes.has(word) then fail("--bench: '%s': a word that belongs to no flag", native.printable(word)) end
      missing[#missing + 1] = native.printable(holes.shown(word))
    else
      local name = name_of(tool, flag)
      local is_lost, is_refused = tool.lost and tool.lost[name], tool.refused and tool.refused[name]
      local kind = tool.flags[name] or tool.without_effect[name] or is_lost or is_refused
      local next_word = words[at]
      local has_value = given ~= nil or next_word ~= nil and not is_flag(next_word)
      local text = given or has_value and next_word or nil
      if is_lost then lost[#lost + 1] = "--" .. flag end
      if not kind then
        unread[#unread + 1] = "--" .. flag
        if has_value and given == nil then at = at + 1 end
      elseif kind == "switch" then
        out[name] = given == nil or given:lower() ~= "false"
        if is_refused and out[name] then refuse(flag) end
      else
        if not has_value and kind ~= "values" then fail("--bench: --%s: expected a value after it", flag) end
        if is_refused then refuse(flag, text) end
        if given == nil and has_value then at = at + 1 end
        if tool.flags[name] then set(out, name, flag, kind, text) end
        while (kind == "values" or kind == "list") and words[at] and not is_flag(words[at]) do
          if kind == "list" then set(out, name, flag, kind, words[at]) end
          at = at + 1
        end
      end
    end
  end
  loads.tell(told, "not given, and left out", missing)
  loads.tell(told, "not followed, and changes the load", lost)
  loads.tell(told, "not known, and nothing follows from it", unread)
  return out
end

local function of_words(words, told)
  local found = found_tool(words) or refuse_words(words)
  local values = values_of(found.tool, words, found.at, told)
  values.start = found.start
  return found.tool.workload(values, told)
end

--- The words of the benchmark's command in the text of a shell; nil where there is none.
---@param wanted string? which of several
local function of_shell(text, wanted)
  local list, first = {}, nil
  for _, each in ipairs(shell_script.read(text, {}).commands) do
    if each.problem then
      if each.text:find "bench" then fail("--bench: %s", (each.problem:gsub("^%-%-bench: ", ""))) end
    elseif #each.words > 0 then
      first = first or each.words
      if found_tool(each.words) then list[#list + 1] = each.words end
    end
  end
  local number = tonumber(wanted) or not wanted and #list == 1 and 1
  if #list > 0 and not list[number] then
    fail("--bench: it has %d commands of benchmarks: give one%s", #list, wanted and "" or ", as FILE#1 of a file")
  end
  return list[number], first
end

--- The workload of a file; errors and sentences name it.
local function of_file(named)
  local told = {}
  local ok, workload = pcall(function()
    local found, words, script, problem = file.read(named, told)
    if script then
      words = of_shell(script, named.wanted)
      if not words then error(problem, 0) end
    end
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
  local words, first = of_shell(text)
  local told = {}
  return of_words(words or first or refuse_words { text:sub(1, 40) }, told), told
end

return command
