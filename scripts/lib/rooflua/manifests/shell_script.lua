-- The simple commands of a shell script, as far as they can be known without running it: their words, what was exported
-- and assigned before them, and the files that they write. What only a run knows (a substitution, a variable from
-- outside, one that a condition sets) is a mark in the word (manifests/holes.lua); pipes, redirections and operators
-- end a command. Nothing is executed.
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local shell_words = require "rooflua.text.shell_words"

local shell_script = {}

local Scanner = shell_words.Scanner
local Script = setmetatable({}, { __index = Scanner })
Script.__index = Script

local most_text, most_unknown = 2 ^ 17, 4096

--- What is left of a word that cannot be known.
local unknown = { "^%$%b()", "^%$%b{}", "^%$[%a_][%w_]*", "^%$'[^'\n]*'", "^%$[%d@*#?!$-]" }

--- Errors of a script name no part of it: it may be a secret.
function Script.fail(_, message, ...) core.fail(message, ...) end

function Script:variable()
  local at = self.at
  local ok, value = pcall(Scanner.variable, self)
  if ok then return value end
  for _, pattern in ipairs(unknown) do
    local found = self.text:sub(at, at + most_unknown):match(pattern)
    if found then
      self.at = at + #found
      return holes.of(found)
    end
  end
  if self.text:find("^%$[({]", at) then self:fail("an expansion without its end in %d bytes", most_unknown) end
  self.at = at + 1
  return "$"
end

function Script:brace()
  self:add "{"
  self.at = self.at + 1
end

function Script:operator(c)
  if c ~= "`" then return true end
  local found, behind = self.text:match("^(`[^`]*`)()", self.at)
  if not found then self:fail "the quote ` is not closed" end
  self:add(holes.of(found))
  self.at = behind
  return false
end

local opening = core.set { "if", "for", "while", "until", "case", "select" }
local closing = core.set { "fi", "done", "esac" }
local leading = core.set { "then", "else", "elif", "do", "!", "{", "}", "if", "while", "until", "fi", "done", "time" }

--- A line without the shell's own words in front; counts how deep conditions stand.
function Script:without_keywords(line)
  local first = 1
  while line[first] and not line[first].name do
    local word = line[first].text
    self.depth = math.max(0, self.depth + (opening[word] and 1 or 0) - (closing[word] and 1 or 0))
    if not leading[word] then break end
    first = first + 1
  end
  return core.rest(line, first)
end

--- Sets the variables of a line of assignments. One that a condition may leave as it was is not known.
function Script:assigns(line)
  local before = self.depth > 0 and core.copy(self.variables)
  if not Scanner.assigns(self, line) then return false end
  for _, word in ipairs(before and line or {}) do
    if word.name and before[word.name] ~= self.variables[word.name] then
      self.variables[word.name] = holes.of(("$%s, which a condition sets"):format(word.name))
    end
  end
  return true
end

--- Goes past a redirection. The lines of a here document are left out behind this one.
function Script:redirection(line)
  local text, before = self.text, line[#line]
  if before and before.text:find "^%d$" and text:find("^%d", self.at - 1) then line[#line] = nil end
  local mark, behind = text:match("^<<%-?[ \t]*['\"\\]?([%a_][%w_]*)['\"]?()", self.at)
  if mark then self.marks[#self.marks + 1] = mark end
  self.at = behind or text:match("^[<>&|]+[ \t]*()", self.at)
  if not mark then self:word() end
end

--- The words of one simple command, up to an operator or the end of its line.
function Script:simple(line)
  while true do
    self:skip()
    local c = self.text:sub(self.at, self.at)
    if c == "" or c == "\n" then return end
    if c:find "[<>]" or self.text:find("^&>", self.at) then
      self:redirection(line)
    elseif c:find "[|;&()]" then
      self.at = self.at + 1
      return
    else
      line[#line + 1] = self:word()
    end
  end
end

--- Commands that write a file, and what reads them.
local writers = { cat = "here_document", printf = "printed_file" }

--- Goes past blank lines, comments, here documents and lines that write a file. Returns whether a command follows.
function Script:next_command(files)
  while true do
    for _, mark in ipairs(self.marks) do
      local _, stop = self.text:find("\n[ \t]*" .. mark .. "[ \t]*%f[\n%z]", math.max(1, self.at - 1))
      self.at = stop and stop + 1 or #self.text + 1
    end
    self.marks = {}
    self:skip()
    local begun = self.at
    local writer = writers[self.text:match("^%a+", begun)]
    local ok, name, content = pcall(Script[writer] or Script.skip, self)
    if ok and name then files[name] = content else self.at = begun end
    local c = self.text:sub(self.at, self.at)
    if c ~= "\n" then return c ~= "" end
    self.at = self.at + 1
  end
end

--- A command of a line: {words, environment, line, text}.
function Script:command(line, text)
  local out, first = { words = {}, environment = {}, line = self.line, text = text }, 1
  for i, name in ipairs(self.exported) do out.environment[i] = { name, self.variables[name] } end
  while line[first] and line[first].name do
    out.environment[#out.environment + 1] = { line[first].name, line[first].text:sub(#line[first].name + 2) }
    first = first + 1
  end
  for i = first, #line do -- of single quotes a mark of the text around the script is left
    out.words[#out.words + 1] = (line[i].text:gsub("%${(_not_given_[%w_]+)}", self.variables))
  end
  return out
end

--- {commands = {{words, environment, line, text}}, files = {path = text}} of a script. A line that cannot be read is a
--- command without words that has the `problem`.
---@param variables table<string, string> that are set before it runs
function shell_script.read(text, variables)
  if #text > most_text then core.fail("the script has %d bytes; at most %d are read", #text, most_text) end
  text = text:gsub("\r\n", "\n"):gsub("%z", "?")
  local self = setmetatable({ text = text, at = 1, variables = core.copy(variables), exported = {}, marks = {},
    depth = 0, line = 1 }, Script)
  local out, counted = { commands = {}, files = {} }, 1
  while self:next_command(out.files) do
    local begun, line = self.at, {}
    self.line, counted = self.line + select(2, text:sub(counted, begun - 1):gsub("\n", "")), begun
    local ok, problem = pcall(self.simple, self, line)
    if not ok then self.at = text:find("\n", math.max(self.at, begun), true) or #text + 1 end
    line = ok and self:without_keywords(line) or {}
    if not ok or #line > 0 and not shell_words.is_idle(line) and not self:assigns(line) then
      local command = self:command(line, text:sub(begun, self.at - 1))
      command.problem = not ok and tostring(problem) or nil
      out.commands[#out.commands + 1] = command
    end
    self.at = math.max(self.at, begun + 1)
  end
  return out
end

return shell_script
