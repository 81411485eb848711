-- luacheck over every Lua file, and over every Lua code block of the documents.
-- From the source tree: rooflua lua tests/luacheck.lua. SKIPPED where luacheck (package lua-check) is not.

local function succeeds(command)
  local status = os.execute(command)
  return status == true or status == 0
end

if not succeeds "command -v luacheck >/dev/null 2>&1" then
  if os.getenv "ROOFLUA_REQUIRE_LUACHECK" == "1" then
    print "FAIL luacheck is not installed (package lua-check)"
    os.exit(1)
  end
  print "SKIPPED: luacheck is not installed (apt install lua-check): Lua files and the Lua of the docs"
  os.exit(0)
end

local passed, failed = 0, 0
local function check(name, command)
  if succeeds(command) then
    passed = passed + 1
  else
    failed = failed + 1
    print("FAIL luacheck of " .. name)
  end
end

local files = dofile "tests/source_files.lua"
check("the Lua files", "luacheck --quiet --no-color .")

--- The block with as many empty lines in front as the document has, so that line numbers agree.
local function block_file(path, first, text)
  local name = os.tmpname()
  local handle = assert(io.open(name, "w"))
  handle:write(("\n"):rep(first), text)
  handle:close()
  return name, "--filename " .. path
end

local blocks = 0
for _, path in ipairs(files(".", "-name '*.md'")) do
  local handle = io.open(path)
  local number, first, text = 0, nil, {}
  for line in (handle and handle:read "*a" or ""):gmatch "(.-)\n" do
    number = number + 1
    if first and line:match "^```%s*$" then
      local name, options = block_file(path, first, table.concat(text, "\n") .. "\n")
      blocks = blocks + 1
      local code = "\n" .. table.concat(text, "\n")
      -- An excerpt may use what the text around it has made: names are not followed there.
      local whole = code:find "\nlocal " and code:find "\nreturn "
      check(path .. ":" .. first, "luacheck --quiet --no-color --no-unused " .. (whole and "" or "--no-global ")
        .. options .. " " .. name)
      os.remove(name)
      first, text = nil, {}
    elseif first then
      text[#text + 1] = line
    elseif line:match "^```lua%f[^%w]" then
      first = number
    end
  end
  if handle then handle:close() end
end
assert(blocks > 0, "no Lua blocks found in the documents")

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
