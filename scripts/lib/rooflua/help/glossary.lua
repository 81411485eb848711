-- The words of docs/GLOSSARY.md, as `rooflua help WORD` says them.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local glossary = {}

--- Text without the marks of Markdown: links show their words.
local function plain(text)
  return (text:gsub("%[([^%]]*)%]%([^%)]*%)", "%1"):gsub("`", ""):gsub("%*%*", ""):gsub("\\|", "|"))
end

--- {{word, meaning}, ...} in the order of the page; {} where it is not installed.
local function rows()
  local out = {}
  for line in ((native.read_file(native.home .. "/docs/GLOSSARY.md") or "") .. "\n"):gmatch "(.-)\r?\n" do
    local word, meaning = line:match "^| %*%*(.-)%*%* | (.*) |$"
    if word then out[#out + 1] = { plain(word), plain(meaning) } end
  end
  return out
end

--- Whether a word of the page is the asked one, in any case, "seats" for "seat", "in_flight" for "in flight".
local function is_it(word, asked)
  word, asked = word:lower():gsub("[_-]", " "), asked:lower():gsub("[_-]", " ")
  return word == asked or word .. "s" == asked or word == asked .. "s"
end

--- The words that the page has.
function glossary.topics()
  local out = { "glossary" }
  for _, row in ipairs(rows()) do out[#out + 1] = row[1] end
  return out
end

--- What a word means; all of them for "glossary"; nil for others.
---@param topic string
function glossary.help(topic)
  local lines = {}
  for _, row in ipairs(rows()) do
    local text = row[1] .. ": " .. row[2]
    if is_it(row[1], topic) then return text end
    lines[#lines + 1] = text
  end
  if topic == "glossary" and #lines > 0 then return core.join(lines, "\n") end
end

return glossary
