-- The simple commands of a shell script, as far as they can be known without running it: lines with their words,
-- what was exported and assigned before them, and the files that they write. What only a run knows (a substitution, a
-- variable from outside, one that a condition sets) is a mark in the word (manifests/holes.lua); pipes, redirections
-- and operators end a command. Nothing is executed.
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local shell_words = require "rooflua.text.shell_words"

local shell_script = {}

local Scanner = shell_words.Scanner
local Script = setmetatable({}, { __index = Scanner })
Script.__index = Script

local most_commands, most_text = 20000, 2 ^ 21

--- What is left of a word that cannot be known, and the place behind it.
local unknown = { "^(%$%b())()", "^(%$%b{})()", "^(%$[%a_][%w_]*)()", "^(%$'[^'\n]*')()", "^(%$[%d@*#?!$-])()" }

function Script:variable()
  local at = self.at
  local ok, value = pcall(Scanner.variable, self)
  if ok then return value end
  for _, pattern in ipairs(unknown) do
    local found, behind = self.text:match(pattern, at)
    if found then
      self.at = behind
      return holes.of(found)
    end
  end
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

--- Takes words of the shell's own language from the front of a line, and counts how deep conditions stand.
local function without_keywords(self, line)
  local first = 1
  while line[first] and not line[first].name do
    local word = line[first].text
    if opening[word] then self.depth = self.depth + 1 end
    if closing[word] then self.depth = math.max(0, self.depth - 1) end
    if not leading[word] then break end
    first = first + 1
  end
  local out = {}
  for i = first, #line do out[#out + 1] = line[i] end
  return out
end

--- Sets the variables of a line of assignments. One that a condition may leave as it was is not known.
function Script:assigns(line)
  local before = core.copy(self.variables)
  if not Scanner.assigns(self, line) then return false end
  if self.depth == 0 then return true end
  for _, word in ipairs(line) do
    local name = word.name
    if name and before[name] ~= self.variables[name] then
      self.variables[name] = holes.of(("$%s, which a condition sets"):format(name))
    end
  end
  return true
end

--- Goes past a redirection; a here document ends at its mark.
function Script:redirection(line)
  local text = self.text
  if #line > 0 and line[#line].text:find "^%d$" and text:sub(self.at - 1, self.at - 1):find "%d" then
    table.remove(line)
  end
  local mark, behind = text:match("^<<%-?[ \t]*['\"\\]?([%a_][%w_]*)['\"]?()", self.at)
  if mark then
    self.marks[#self.marks + 1] = mark
    self.at = behind
    return
  end
  self.at = text:match("^[<>&|]+[ \t]*()", self.at)
  if not text:find("^[%d-]%f[%s%z;&|)]", self.at) or not text:find("^[%d-]", self.at) then
    self:word()
  else
    self.at = self.at + 1
  end
end

--- The place behind here documents whose lines begin here.
function Script:past_documents()
  for _, mark in ipairs(self.marks) do
    local _, stop = self.text:find("\n[ \t]*" .. mark .. "[ \t]*%f[\n%z]", self.at - 1)
    self.at = stop and stop + 1 or #self.text + 1
  end
  self.marks = {}
end

--- One simple command, up to an operator or the end of its line; its words are in `line`.
function Script:simple(line)
  local text = self.text
  while true do
    self:skip()
    local c = text:sub(self.at, self.at)
    if c == "" or c == "\n" then return end
    if c:find "[<>]" or text:find("^&>", self.at) then
      self:redirection(line)
    elseif c:find "[|;&()]" then
      self.at = self.at + 1
      return
    else
      local word = self:word()
      if word then line[#line + 1] = word end
    end
  end
end

--- Goes to the end of a line that cannot be read, with those that continue it.
function Script:give_up(begun)
  local text, at = self.text, begun
  repeat
    local stop = text:find("\n", at, true)
    at = stop and stop + 1 or #text + 1
  until not stop or text:sub(stop - 1, stop - 1) ~= "\\"
  self.at = math.max(self.at, at - 1)
end

local function line_counter(text)
  local at, line = 1, 1
  return function(place)
    while true do
      local stop = text:find("\n", at, true)
      if not stop or stop >= place then return line end
      at, line = stop + 1, line + 1
    end
  end
end

--- A command of words as {words, environment, line, text}.
local function command_of(self, line, number, text)
  local out = { words = {}, environment = {}, line = number, text = text }
  for _, name in ipairs(self.exported) do out.environment[#out.environment + 1] = { name, self.variables[name] } end
  local first = 1
  while line[first] and line[first].name do
    local word = line[first]
    out.environment[#out.environment + 1] = { word.name, word.text:sub(#word.name + 2) }
    first = first + 1
  end
  for i = first, #line do out.words[#out.words + 1] = line[i].text end
  return out
end

--- Goes past blank lines, comments and files that lines write.
function Script:next_command(files)
  local text = self.text
  while true do
    self:past_documents()
    self:skip()
    local begun = self.at
    local ok, name, content = pcall(self.here_document, self)
    if not ok or not name then
      self.at = begun
      ok, name, content = pcall(self.printed_file, self)
    end
    if ok and name then
      files[name] = content
    else
      self.at = begun
    end
    if text:sub(self.at, self.at) ~= "\n" then return self.at <= #text end
    self.at = self.at + 1
  end
end

--- {commands = {{words, environment, line, text}}, files = {path = text}, unread = {{line, text}}} of a script.
---@param variables table<string, string> that are set before it runs
function shell_script.read(text, variables)
  if #text > most_text then core.fail("the script has %d bytes; at most %d are read", #text, most_text) end
  text = text:gsub("\r\n", "\n"):gsub("%z", "?")
  local self = setmetatable({ text = text, at = 1, variables = core.copy(variables), exported = {}, marks = {},
    depth = 0 }, Script)
  local out, line_at = { commands = {}, files = {}, unread = {} }, line_counter(text)
  while self:next_command(out.files) do
    local begun, line = self.at, {}
    local ok, problem = pcall(self.simple, self, line)
    local number, said = line_at(begun), text:sub(begun, math.max(begun, self.at - 1)):match "^%s*(.-)%s*$"
    if not ok then
      self:give_up(begun)
      out.unread[#out.unread + 1] = { line = number, text = text:sub(begun, self.at), problem = tostring(problem) }
    else
      line = without_keywords(self, line)
      local is_quiet = #line == 0 or shell_words.is_idle(line) or self:assigns(line)
      if not is_quiet then out.commands[#out.commands + 1] = command_of(self, line, number, said) end
    end
    if #out.commands > most_commands then core.fail("the script has more than %d commands", most_commands) end
    if self.at == begun then self.at = begun + 1 end
  end
  return out
end

return shell_script
