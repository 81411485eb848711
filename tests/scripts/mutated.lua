-- A test with a changed script in the place of a module: rooflua lua tests/scripts/mutated.lua MODULE FILE TEST
-- Exits with 1 at the first failure. mutations.lua calls it.
local module, file, path = arg[1], arg[2], arg[3]
package.preload[module] = assert(loadfile(file))

local print_line = print
rawset(_G, "print", function(line, ...)
  print_line(line, ...)
  if line:find "^FAILED" then os.exit(1) end
end)

dofile(path)
