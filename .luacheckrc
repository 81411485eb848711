-- `luacheck .` reads this; tests/luacheck.lua runs it over the Lua code of the docs as well.
std = "luajit"
max_line_length = 120
self = false
unused_args = false -- a policy's method declares what it is given
ignore = { "581" }  -- `not (x > y)` is how a nan is refused
exclude_files = { "build", "scripts/meta" } -- stubs have names and no bodies
files["tests/scripts/mutations.lua"] = { ignore = { "121", "122" } } -- runs other tests
