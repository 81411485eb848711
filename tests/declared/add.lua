--- Inserts the texts of additions.lua into a copy of the source tree, and counts the files that each addition touches.
---     rooflua lua tests/declared/add.lua COPY
local copy = assert(arg[1], "expected the folder of a copy")

local function text_of(path)
  local file = assert(io.open(path, "rb"), path .. " cannot be read")
  local text = file:read "*a"
  file:close()
  return text
end
local function read(path) return text_of(copy .. "/" .. path) end
local function write(path, text)
  local file = assert(io.open(copy .. "/" .. path, "wb"))
  file:write(text)
  file:close()
end

--- Inserts one text. The place must be there exactly once: else this test no longer says where a person would write.
local function insert(path, each)
  local text = read(path)
  local first = text:find(each.before, 1, true)
  assert(first, ("%s: there is no %q"):format(path, each.before))
  assert(not text:find(each.before, first + 1, true), ("%s: more than one %q"):format(path, each.before))
  write(path, text:sub(1, first - 1) .. each.text .. text:sub(first))
end

--- What a page says: "New, `FILE`:" or "`FILE`, in front of `TEXT`:", and a block of code. Within a line, a text goes
--- in front of the other with a space.
local function read_recipe(addition)
  local page = text_of(addition.recipe)
  addition.code, addition.own = {}, {}
  for words, body in page:gmatch "([^\n]*\n?[^\n]*):\n\n```%a+\n(.-\n)```" do
    local new = words:match "New, `([^`]+)`$"
    local file, before = words:match "`([^`]+)`, in front of%s+`([^`]+)`$"
    assert(new or file, addition.recipe .. ": a block of code that is not said to go anywhere: " .. words)
    if new then
      table.insert(addition.own, { text = body, new })
    else
      local begins_line = ("\n" .. read(file)):find("\n" .. before, 1, true)
      local text = begins_line and body or body:gsub("\n$", " ")
      table.insert(addition.code, { file = file, before = before, text = text })
    end
  end
end

for _, addition in ipairs(dofile "tests/declared/additions.lua") do
  if addition.recipe then read_recipe(addition) end
  local files, count = {}, 0
  local function change(file, each)
    insert(file, each)
    local unit = file:gsub("%.%w+$", "") -- a header and its .cpp file are one place
    if not files[unit] then files[unit], count = true, count + 1 end
  end
  for _, each in ipairs(addition.declaration or {}) do change(addition.declaration.file, each) end
  for _, each in ipairs(addition.code or {}) do change(each.file, each) end
  for _, each in ipairs(addition.own or {}) do
    local path = each[2] or each[1]
    assert(os.execute(("mkdir -p '%s/%s'"):format(copy, path:match "^(.*)/")) == 0)
    write(path, each.text or text_of("tests/declared/" .. each[1]))
  end
  assert(count <= (addition.most or 10), addition.kind .. ": changes more files that are not its own than it may")
  print(("%s %s: declared in %s, %d files that are not its own"):format(addition.kind, addition.name,
    addition.recipe or addition.declaration and addition.declaration.file or addition.own[1][2], count))
end
