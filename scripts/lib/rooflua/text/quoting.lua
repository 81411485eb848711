-- How a text of the user is written into a file of another language. Every file that leaves the program takes its
-- words from here: shell, comments, YAML, TOML, HTML. JSON is rooflua.json; CSV is csv_cell of engine/base/csv.h; pages
-- of runs are engine/measure/html/text.h. SQL gets values by binding (engine/measure/store/statement.h), never as text.
local json = require "rooflua.json"
local native = require "rooflua.native"

local quoting = {}

--- Characters that YAML takes for line breaks or refuses and JSON does not: DEL and C1, U+2028, U+2029, U+FEFF, U+FFFE,
--- U+FFFF.
local beyond_json = { { "\127", "\\x7f" }, { "\226\128\168", "\\u2028" }, { "\226\128\169", "\\u2029" },
  { "\239\187\191", "\\ufeff" }, { "\239\191\190", "\\ufffe" }, { "\239\191\191", "\\uffff" } }

--- A text of one line for a comment or a page of text: line breaks and control characters are shown as "\n", "\x1b",
--- and what YAML 1.1 takes for a line break as "\u2028".
function quoting.line(text)
  local out = native.printable(tostring(text)):gsub("[\n\r\t]", { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" })
  for _, each in ipairs(beyond_json) do out = out:gsub(each[1], each[2]) end
  return out
end

--- A text of TOML on one line, in quotes.
function quoting.toml(text) return '"' .. quoting.line(text):gsub('["\\]', "\\%0") .. '"' end

--- A comment of shell, YAML, Python or an options file: "# TEXT", on one line.
function quoting.comment(text) return "# " .. quoting.line(text) end

--- A word for a POSIX shell.
function quoting.shell(text)
  text = tostring(text)
  if text:find("\0", 1, true) then error("a word of a shell cannot hold a zero byte: " .. quoting.line(text), 0) end
  if text:find "^[%w_@%%+=:,./-]+$" and not text:find "^=" then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

--- A piece of shell that stands in a list of words as it is, as `"$MODEL"`: the program wrote it, not the user.
function quoting.verbatim(code) return { verbatim = code } end

--- A word of a list: quoted, or a piece of shell.
function quoting.word(word) return type(word) == "table" and word.verbatim or quoting.shell(word) end

--- A scalar of YAML that is text whatever it holds: in single quotes, or as a text of JSON, which YAML reads as well.
--- Bytes that are not UTF-8 are shown as "\xff".
function quoting.yaml(text)
  text = tostring(text)
  if not text:find "[^\32-\126]" then return "'" .. text:gsub("'", "''") .. "'" end
  local is_text, out = pcall(json.encode, text)
  if not is_text then out = json.encode(native.printable(text)) end
  out = out:gsub("\194([\128-\159])", function(c) return ("\\x%02x"):format(c:byte()) end)
  for _, each in ipairs(beyond_json) do out = out:gsub(each[1], each[2]) end
  return out
end

--- A list of scalars of YAML on one line.
function quoting.yaml_list(words)
  local out = {}
  for i, each in ipairs(words) do out[i] = quoting.yaml(each) end
  return "[" .. table.concat(out, ", ") .. "]"
end

--- A word of a container's command: Kubernetes puts variables in the place of $(NAME), and one dollar in that of two.
function quoting.container(word) return (tostring(word):gsub("%$", "$$")) end

--- The text of a file below a key of YAML, its lines indented by `indent`. Returns nil where the text is not UTF-8,
--- because no scalar holds it.
function quoting.yaml_block(text, indent)
  if not pcall(json.encode, text) then return nil end
  local is_lines = native.printable(text) == text and text:find "[^\n]"
  for _, each in ipairs(beyond_json) do is_lines = is_lines and not text:find(each[1], 1, true) end
  if not is_lines then return quoting.yaml(text) end
  local body, ending = text:match "^(.-)(\n*)$"
  local pad = (" "):rep(indent)
  local chomping = #ending == 0 and "-" or #ending == 1 and "" or "+"
  return "|2" .. chomping .. "\n" .. pad .. body:gsub("\n", "\n" .. pad) .. ending:gsub("^\n", "", 1)
end

--- A text of Lua, on one line.
function quoting.lua(text) return (("%q"):format(text):gsub("\\\n", "\\n")) end

local reserved = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true "
  .. "until while"):gmatch "%a+" do
  reserved[word] = true
end

--- A key of a table of Lua: as a name where it is one.
function quoting.lua_key(key)
  if type(key) ~= "string" then return ("[%s]"):format(tostring(key)) end
  return key:find "^[%a_][%w_]*$" and not reserved[key] and key or "[" .. quoting.lua(key) .. "]"
end

local most_of_name = 63 -- bytes of a label of DNS, which names of Kubernetes are

--- A name for Kubernetes and for schedulers of jobs: [a-z0-9-], from a letter on, not ending in "-", with the suffix at
--- most 63 bytes. A text that does not begin with a letter gets `prefix` in front.
function quoting.name(text, prefix, suffix)
  suffix = suffix or ""
  local name = text:lower():gsub("[^a-z0-9]+", "-"):gsub("^%-+", "")
  if not name:find "^%a" then name = prefix .. "-" .. name end
  return (name:sub(1, most_of_name - #suffix):gsub("%-+$", "")) .. suffix
end

return quoting
