-- Tables and text for Markdown.
local markdown = {}

--- A text in which nothing is a mark of Markdown's tables.
function markdown.cell(text)
  return (tostring(text):gsub("\\", "\\\\"):gsub("|", "\\|"):gsub("[\r\n]+", " "):gsub("<", "&lt;"))
end

--- A table; the first row is its head.
---@param rows any[][]
---@param left integer so many columns are text, the others are numbers
function markdown.table(rows, left)
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j = 1, #rows[1] do cells[j] = markdown.cell(row[j] == nil and "" or row[j]) end
    lines[#lines + 1] = "| " .. table.concat(cells, " | ") .. " |"
    if i == 1 then
      local marks = {}
      for j = 1, #cells do marks[j] = j <= left and "---" or "---:" end
      lines[#lines + 1] = "|" .. table.concat(marks, "|") .. "|"
    end
  end
  return table.concat(lines, "\n")
end

return markdown
