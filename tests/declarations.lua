--- Rules of tidy.lua on functions, on classes and on what nobody names.

--- Files of engine/ in which the bodies of a class stand, and lines of a function.
local most_files, longest = 4, 70

local sources = "\\( -name '*.cpp' -o -name '*.h' \\)"

local function check_classes(check, files, lines_of)
  local homes, count = {}, {}
  for _, path in ipairs(files("engine", "-name '*.cpp'")) do
    for _, line in ipairs(lines_of(path)) do
      local head = not line:find ";$" and line:match "^[%a_][^(;=]*%f[(]" or ""
      local class = head:match "%f[%w_](%u%w*)::[%w_:~]+$" or head:match "%f[%w_](%u%w*)::operator"
      if class and not (homes[class .. path]) then
        homes[class .. path], count[class] = true, (count[class] or 0) + 1
      end
    end
  end
  for class, found in pairs(count) do
    check(found <= most_files, ("class %s: bodies in %d files; at most %d"):format(class, found, most_files))
  end
end

local no_function = {}
for word in ("if for while switch return else do try namespace class struct enum template using case default public "
  .. "private"):gmatch "%a+" do no_function[word] = true end

--- Functions of C++ that begin in this column: calls found(first line, last line).
local function each_function(lines, indent, found)
  local first
  for number, line in ipairs(lines) do
    local word = line:match("^" .. indent .. "([%a_~]+)")
    if word then first = not no_function[word] and number or nil end
    if line == indent .. "}" and first then
      found(first, number)
      first = nil
    end
  end
end

--- The same of Lua. A function that stands in another one counts as well.
local function each_lua_function(lines, found)
  local open = {}
  for number, line in ipairs(lines) do
    local code = line:gsub('"[^"]*"', ""):gsub("%-%-.*", "")
    local indent = #code:match "^ *"
    local ends = code:find "%f[%w_]end%f[^%w_]"
    if code:find "%f[%w_]function%f[^%w_]" and not ends then open[indent] = number end
    if code:find "^ *end%f[^%w_]" and open[indent] then
      found(open[indent], number)
      open[indent] = nil
    end
  end
end

--- The same of Python.
local function each_python_function(lines, found)
  local first, indent, last
  for number = 1, #lines + 1 do
    local spaces = (lines[number] or "end"):match "^( *)%S"
    if spaces and first and #spaces <= indent then
      found(first, last)
      first = nil
    end
    if spaces and not first and lines[number] and lines[number]:find "^ *def " then first, indent = number, #spaces end
    if spaces and first then last = number end
  end
end

local function check_lengths(check, files, lines_of)
  for _, path in ipairs(files("engine scripts")) do
    local extension = path:match "%.(%w+)$"
    local function found(first, last)
      check(last - first < longest, ("%s:%d: a function of %d lines; it has at most %d"):format(path, first,
        last - first + 1, longest))
    end
    if extension == "cpp" or extension == "h" then
      local lines = lines_of(path)
      each_function(lines, "", found)
      each_function(lines, "  ", found)
    elseif extension == "lua" then
      each_lua_function(lines_of(path), found)
    elseif extension == "py" then
      each_python_function(lines_of(path), found)
    end
  end
end

local function code_of(path)
  local handle = assert(io.open(path))
  local text = handle:read "*a"
  handle:close()
  return (text:gsub(path:find "%.lua$" and "%-%-[^\n]*" or "//[^\n]*", "")) -- comments name nothing
end

--- What a line of a header declares: a function, a type or an alias of a namespace, a member.
local function declared(line)
  if line:find("(", 1, true) then
    local before, name = line:match "^ *([%a_][^()=]*[ *&>])([%a_][%w_]*)%("
    return before and not before:find "return" and name ~= "alignas" and name or nil
  end
  return line:match "^using (%w+) =" or line:match "^struct (%w+) {" or line:match "^class (%w+) {"
    or line:match "^enum class (%w+)" or line:match "^  [%a_][^=]*[ >*&]([%a_][%w_]*);$"
end

--- A name that stands nowhere but where it is declared, and where its body is. of(path, code, declare) calls
--- declare(name) for each declaration and body.
local function check_named(check, paths, of)
  local count, own, where = {}, {}, {}
  for _, path in ipairs(paths) do
    local code = code_of(path)
    -- A variable of a C++ test is not the function of that name: calls and members count, and types.
    local is_test = path:find "^tests/.*%.[ch]"
    for _, words in ipairs(is_test and { "%u%w*", "[.>:]([%a_][%w_]*)", "([%a_][%w_]*)%(" } or { "[%a_][%w_]*" }) do
      for word in code:gmatch(words) do count[word] = (count[word] or 0) + 1 end
    end
    of(path, code, function(name, is_body)
      own[name] = (own[name] or 0) + 1
      if not is_body then where[name] = path end
    end)
  end
  for name, path in pairs(where) do check(count[name] > own[name], path .. ": nobody names " .. name) end
end

local function of_engine(path, code, declare)
  local is_header = path:find "^engine/.*%.h$"
  for line in code:gmatch "[^\n]+" do
    local name = is_header and declared((line:gsub(" *$", "")))
    local body = not is_header and not line:find "; *$" and line:match "^[%a_][^(]*::([%a_][%w_]*)%("
    if name or body then declare(name or body, body) end
  end
end

local function of_library(path, code, declare)
  if not path:find "^scripts/lib/" then return end
  for line in code:gmatch "[^\n]+" do
    local name = line:match "^function [%w_]+[.:]([%w_]+)" or line:match "^%l[%w_]*%.([%w_]+) = "
    if name then declare(name) end
  end
end

return function(check, files, lines_of)
  check_classes(check, files, lines_of)
  check_lengths(check, files, lines_of)
  check_named(check, files("engine tests", sources), of_engine)
  check_named(check, files("engine scripts tests docs scenarios",
    "\\( -name '*.lua' -o -name '*.md' -o -name '*.cpp' -o -name '*.py' \\)"), of_library)
end
