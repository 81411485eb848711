-- A test that ends with 1 at its first failure: rooflua lua tests/scripts/mutated.lua TEST [ARGUMENT]
-- mutations.lua calls it, with a home of the program in which a script is changed.
local print_line = print
rawset(_G, "print", function(line, ...)
  print_line(line, ...)
  if line:find "^FAILED" then os.exit(1) end
end)

dofile(table.remove(arg, 1))
