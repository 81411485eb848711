-- The words of shell text, as a POSIX shell takes them apart (POSIX.1-2017, 2.2 Quoting and 2.3 Token Recognition):
-- quotes, backslashes, continued lines, comments, and variables that the text itself sets. Nothing is executed and no
-- file is looked at: what would need that is refused by its name. (wordexp of the C library expands file names and
-- does not say what it refuses.)
local core = require "rooflua.base.core"

local shell_words = {}

local longest_text, longest_word = 2 ^ 21, 131072 -- Linux starts no program with more (ARG_MAX, MAX_ARG_STRLEN)

--- What a character outside of quotes would do.
local operators = { ["|"] = "a pipe |", [";"] = "a second command behind ;", ["&"] = "the operator &",
  ["<"] = "a redirection <", [">"] = "a redirection >", ["("] = "a subshell (", [")"] = "a subshell )",
  ["`"] = "a command substitution `...`" }

local function shown(text) return core.describe(text:sub(1, 40)):gsub("^text ", "") end

--- A place in a text: reads one word after the other.
local Scanner = {}
Scanner.__index = Scanner

function Scanner:fail(message, ...)
  core.fail("%s, at %s", message:format(...), shown(self.text:sub(self.at, self.at + 40)))
end

function Scanner:refuse(what) self:fail("%s is not read: write the plain command", what) end

--- An operator outside of quotes. Returns whether the word ends in front of it.
function Scanner:operator(c) self:refuse(operators[c]) end

--- Adds a piece to the word that is being read.
function Scanner:add(piece)
  self.parts[#self.parts + 1] = piece
  self.length = self.length + #piece
  if self.length > longest_word then
    core.fail("a word of more than %d bytes, beginning with %s; no shell can start it", longest_word,
      shown(table.concat(self.parts)))
  end
end

--- The value of $NAME, ${NAME}, ${NAME:-DEFAULT}, ${NAME:?MESSAGE}; the place is after it.
function Scanner:variable()
  local text, at = self.text, self.at
  local name, behind = text:match("^%$([%a_][%w_]*)()", at)
  local default
  if not name then name, behind = text:match("^%${([%a_][%w_]*)}()", at) end
  if not name then name, behind = text:match("^%${([%a_][%w_]*):?%?[^}$`\"']*}()", at) end
  if not name then name, default, behind = text:match("^%${([%a_][%w_]*):?%-([^}$`\"']*)}()", at) end
  if not name then
    if text:find("^%$%(", at) then self:refuse "a command substitution $(...)" end
    if text:find("^%$['\"]", at) then self:refuse "a quotation $'...'" end
    if text:find("^%${", at) then self:refuse "an expansion ${...}" end
    if text:find("^%$[%d@*#?!$-]", at) then self:refuse("the parameter " .. text:sub(at, at + 1)) end
    self.at = at + 1
    return "$"
  end
  local value = self.variables[name]
  if value == nil or value == "" and default then value = default or value end
  if value == nil then self:fail("the variable %s is not set here: write its value", name) end
  self.at = behind
  return value
end

function Scanner:single_quoted()
  local close = self.text:find("'", self.at + 1, true)
  if not close then self:fail "the quote ' is not closed" end
  self:add(self.text:sub(self.at + 1, close - 1))
  self.at = close + 1
end

function Scanner:double_quoted()
  local begin, text = self.at, self.text
  self.at = self.at + 1
  while true do
    local stop = text:find('[\\"$`]', self.at)
    if not stop then
      self.at = begin
      self:fail 'the quote " is not closed'
    end
    self:add(text:sub(self.at, stop - 1))
    self.at = stop
    local c = text:sub(stop, stop)
    if c == '"' then break end
    if c == "`" then
      self:operator(c)
    elseif c == "$" then
      self:add(self:variable())
    else
      local next_one = text:sub(stop + 1, stop + 1)
      if next_one ~= "\n" then self:add(next_one:find '[\\"$`]' and next_one or "\\" .. next_one) end
      self.at = stop + 2
    end
  end
  self.at = self.at + 1
end

--- A backslash outside of quotes.
function Scanner:escaped()
  local text, at = self.text, self.at
  if text:find("^\\[ \t]+\r?\n", at) then self:fail "a space stands after the backslash that continues a line" end
  if text:find("^\\\r?\n", at) then
    self.at = text:find("\n", at, true) + 1
    return
  end
  if at == #text then self:fail "a backslash ends the command" end
  self:add(text:sub(at + 1, at + 1))
  self.at, self.is_quoted = at + 2, true
end

--- A brace that bash would expand into several words.
function Scanner:brace()
  if self.text:find("^{[^%s{}]*,[^%s{}]*}", self.at) or self.text:find("^{[^%s{}]*%.%.[^%s{}]*}", self.at) then
    self:fail "braces outside of quotes become several words; put the value into single quotes"
  end
  self:add "{"
  self.at = self.at + 1
end

--- The next word as {text, name}, `name` of an assignment NAME=VALUE; nil at the end of a line.
function Scanner:word()
  self.parts, self.length, self.is_quoted = {}, 0, false
  local text, begun, name = self.text, false, nil
  while self.at <= #text do
    local c = text:sub(self.at, self.at)
    if c:find "[ \t\r\n]" then break end
    if c == "#" and not begun then break end
    if operators[c] and self:operator(c) then break end
    begun, c = true, text:sub(self.at, self.at)
    if c == "'" then
      self:single_quoted()
    elseif c == '"' then
      self:double_quoted()
    elseif c == "\\" then
      local before = self.at
      self:escaped()
      if self.length == 0 and not self.is_quoted and text:find("^\\\r?\n", before) then begun = false end
    elseif c == "$" then
      self:add(self:variable())
    elseif c == "{" then
      self:brace()
    else
      local stop = text:find("[ \t\r\n'\"\\${|;&<>()`]", self.at) or #text + 1
      local piece = text:sub(self.at, stop - 1)
      if self.length == 0 then name = piece:match "^([%a_][%w_]*)=" end
      self:add(piece)
      self.at = stop
    end
  end
  if not begun then return nil end
  return { text = table.concat(self.parts), name = name }
end

--- Skips blanks and comments of a line.
function Scanner:skip()
  local text = self.text
  while true do
    self.at = text:match("^[ \t\r]*()", self.at)
    if text:find("^\\\r?\n", self.at) then
      self.at = text:find("\n", self.at, true) + 1
    elseif text:sub(self.at, self.at) == "#" then
      self.at = text:find("\n", self.at, true) or #text + 1
    else
      return
    end
  end
end

--- Sets the variables of a line of assignments. Returns whether it was one.
function Scanner:assigns(line)
  local first = line[1].text == "export" and not line[1].name and 2 or 1
  for i = first, #line do
    if not line[i].name then return false end
  end
  if first > #line then return false end
  for i = first, #line do
    local word = line[i]
    self.variables[word.name] = word.text:sub(#word.name + 2)
    if first == 2 then self.exported[#self.exported + 1] = word.name end
  end
  return true
end

--- The text of a here document at the place, and the name of its file; the place is after it.
function Scanner:here_document()
  local line, behind = self.text:match("^cat([^\n]*)\n()", self.at)
  if not line or not line:find("<<", 1, true) then return nil end
  local quote, mark = line:match "<<%-?%s*(['\"\\]?)([%a_][%w_]*)"
  local name = (" " .. line:gsub("<<%-?%s*['\"\\]?[%a_][%w_]*['\"]?", "")):match "^%s*>%s*([%w._/-]+)%s*$"
  if not mark or not name then self:refuse "a here document that is not written to one file" end
  local stop, next_line = self.text:find("\n[ \t]*" .. mark .. "[ \t]*%f[\n%z]", behind - 1)
  if not stop then self:fail("the here document has no end %s", mark) end
  local text = self.text:sub(behind, stop)
  if quote == "" and text:find "[$`\\]" then
    self:refuse(("a variable in a here document: write <<'%s', or its value"):format(mark))
  end
  self.at = next_line + 1
  return name, text
end

--- The same of a line `printf '%s' TEXT > FILE`, as scripts of plans have it.
function Scanner:printed_file()
  local behind = self.text:match("^printf%s+'?%%s'?[ \t]+()", self.at)
  if not behind then return nil end
  self.at = behind
  local text = self:word()
  local name, after = self.text:match("^[ \t]*>[ \t]*([%w._/-]+)[ \t]*()", self.at)
  if not text or not name then self:refuse "printf that is not written to a file" end
  self.at = after
  return name, text.text
end

local remark = "(%([%w%s,.:;+/-]*%))" -- of people, as "(on two nodes)"; no shell runs it

--- Remarks in front of the command and after it, and the text without them.
local function remarks_of(text)
  local found = {}
  for _, pattern in ipairs { "^%s*" .. remark .. "[ \t]+()%S", "%f[%s]()%s+" .. remark .. "%s*$" } do
    local a, b = text:match(pattern)
    if a then
      found[#found + 1] = type(a) == "string" and a or b
      text = type(a) == "string" and text:sub(b) or text:sub(1, a - 1)
    end
  end
  return found, text
end

--- Lines of a script that change nothing here.
local function is_idle(line)
  local first = line[1].text
  return first == ":" or first == "set" or first == "cd" and #line == 2
end

--- Refuses a second command of a text: the first that is not wanted is named, else the second.
local function refuse_second(found, line, is_wanted)
  local words = {}
  for i, each in ipairs(found) do words[i] = each.text end
  local foreign = is_wanted and not is_wanted(words) and found or line
  core.fail("a second command, %s: give the engine's alone, or a script as a file: --from FILE", shown(foreign[1].text))
end

--- The one command of a text: {words = string[], environment = {{name, value}}, remarks = string[], files = {name =
--- text}}. `environment` has what is assigned in front of the command, and what lines above it export; `files` have
--- what lines above it write by a here document or printf.
--- @param text string
--- @param is_wanted (fun(words: string[]): boolean)? which command of two is the one
function shell_words.command(text, is_wanted)
  core.text(text, "command")
  if text:find("\0", 1, true) then core.fail "the command has a zero byte" end
  if #text > longest_text then core.fail("the command has %d bytes; at most %d are read", #text, longest_text) end
  local remarks, rest = remarks_of(text)
  local scanner = setmetatable({ text = rest, at = 1, variables = {}, exported = {} }, Scanner)
  local files, found = {}, nil
  while true do
    local line = {}
    scanner:skip()
    local name, content = scanner:here_document()
    if not name then name, content = scanner:printed_file() end
    if name then files[name] = content end
    while scanner.at <= #rest and rest:sub(scanner.at, scanner.at) ~= "\n" do
      line[#line + 1] = scanner:word()
      scanner:skip()
    end
    if #line > 0 and not is_idle(line) and not scanner:assigns(line) then
      if found then refuse_second(found, line, is_wanted) end
      found = line
    end
    if scanner.at > #rest then break end
    scanner.at = scanner.at + 1
  end
  if not found then core.fail "the command is empty" end
  local out = { words = {}, environment = {}, remarks = remarks, files = files }
  for _, name in ipairs(scanner.exported) do
    out.environment[#out.environment + 1] = { name, scanner.variables[name] }
  end
  local first = 1
  while found[first] and found[first].name do
    local word = found[first]
    out.environment[#out.environment + 1] = { word.name, word.text:sub(#word.name + 2) }
    first = first + 1
  end
  for i = first, #found do out.words[#out.words + 1] = found[i].text end
  return out
end

--- For readers of whole scripts (manifests/shell_script.lua).
shell_words.Scanner, shell_words.is_idle = Scanner, is_idle

return shell_words
