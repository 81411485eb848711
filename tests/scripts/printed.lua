-- What commands print and write, compared with files of tests/golden and docs/schema.
local test = dofile "tests/scripts/harness.lua"

local printed = {}

function printed.read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

function printed.write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
end

--- ROOFLUA_UPDATE_GOLDEN=1 writes the file.
function printed.compare_with_golden(name, found)
  local path = ("tests/golden/%s.txt"):format(name)
  if os.getenv "ROOFLUA_UPDATE_GOLDEN" == "1" then printed.write(path, found) end
  test.equal(found, printed.read(path), name)
end

--- Whether documents fit a schema; skipped without the Python module that can say so.
function printed.check_schema(schema, ...)
  local files = table.concat({ ... }, " ")
  local status = os.execute(("python3 tests/app/schema.py docs/schema/%s.json %s"):format(schema, files))
  if status == 77 * 256 or status == 77 or status == 127 * 256 then test.skip "python3 has no module jsonschema" end
  test.check(status == 0 or status == true, "%s does not fit docs/schema/%s.json", files, schema)
end

--- The exit status of a command line in a folder.
function printed.status(line, folder)
  local pipe = io.popen(("cd '%s' && '%s' %s > out.txt 2>&1; echo $?"):format(folder, test.program(), line))
  local text = pipe:read "*a"
  pipe:close()
  return tonumber(text)
end

return printed
