local function plain(text)
  text = text:gsub("%[([^%]]*)%]%([^%)]*%)", "%1"):gsub("[`*]", ""):gsub("%s+", " ")
  return (text:gsub("^ ", ""):gsub(" $", ""))
end

local function cells_of(line)
  local out = {}
  for cell in line:gsub("^%s*|", ""):gmatch "([^|]*)|" do out[#out + 1] = plain(cell) end
  return out
end

--- The sentences of a text in Markdown, without its code. A full stop, or another end of a sentence, and a space
--- divide.
--- @return list of { line, text, lower, heading, is_first, cells }: `text` without marks of Markdown; the `heading` of
---   its section in lower case, "" in front of the first; whether it is the first sentence of its paragraph or item;
---   of a cell of a table all `cells` of its row
return function(markdown)
  local out, heading, paragraph, first, code, number = {}, "", {}, 1, false, 0
  local function add(line, text, cells)
    local is_first = true
    for sentence in (plain(text):gsub("([.?!]) ", "%1\n") .. "\n"):gmatch "(.-)\n" do
      if sentence ~= "" then
        out[#out + 1] = { line = line, text = sentence, lower = sentence:lower(), heading = heading,
          is_first = is_first, cells = cells }
      end
      is_first = false
    end
  end
  local function close()
    add(first, (table.concat(paragraph, " "):gsub("^%s*[-*] ", "")))
    paragraph = {}
  end
  for line in (markdown .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local is_fence, is_row, is_heading = line:find "^%s*```", line:find "^%s*|", line:find "^#+ "
    local is_item = line:find "^%s*[-*] " or line:find "^%s*%d+%. "
    if is_fence then code = not code end
    if code or is_fence or is_row or is_item or is_heading or line:find "^%s*$" then close() end
    if is_heading and not code then
      heading = line:find "^##" and plain(line:gsub("^#+ ", "")):lower() or ""
      add(number, (line:gsub("^#+ ", "")))
    elseif is_row and not code then
      local cells = cells_of(line)
      for _, cell in ipairs(cells) do add(number, cell, cells) end
    elseif not code and not is_fence and (#paragraph > 0 or is_item or not line:find "^    ") then
      if #paragraph == 0 then first = number end
      paragraph[#paragraph + 1] = line
    end
  end
  close()
  return out
end
