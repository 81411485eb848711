--- Inserts the texts of additions.lua into a copy of the source tree, and counts the files that each addition touches.
---     rooflua lua tests/declared/add.lua COPY
local copy = assert(arg[1], "expected the folder of a copy")

local function read(path)
  local file = assert(io.open(copy .. "/" .. path, "rb"), path .. " cannot be read")
  local text = file:read "*a"
  file:close()
  return text
end
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

for _, addition in ipairs(dofile "tests/declared/additions.lua") do
  for _, each in ipairs(addition.declaration) do insert(addition.declaration.file, each) end
  local files, count = {}, 0
  for _, each in ipairs(addition.code) do
    insert(each.file, each)
    local unit = each.file:gsub("%.%w+$", "") -- a header and its .cpp file are one place
    if not files[unit] then files[unit], count = true, count + 1 end
  end
  for _, each in ipairs(addition.own or {}) do
    assert(os.execute(("mkdir -p '%s/%s'"):format(copy, each[2]:match "^(.*)/")) == 0)
    local file = assert(io.open("tests/declared/" .. each[1], "rb"))
    write(each[2], file:read "*a")
    file:close()
  end
  assert(count + 1 <= (addition.most or 9), addition.kind .. ": changes more files that are not its own than it may")
  print(("%s %s: declared in %s%s"):format(addition.kind, addition.name, addition.declaration.file,
    count > 0 and (", new code in %d more place"):format(count) or ""))
end
