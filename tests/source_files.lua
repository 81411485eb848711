--- The files of the source tree, with or without git: what builds and tools leave behind is not among them.
--- Run from the source tree.
--- @param where folders to look in, "." for all
--- @param names "" or what find takes to choose among them, such as "-name '*.lua'"
--- @return paths from the top, sorted
return function(where, names)
  local out = {}
  local pipe = io.popen("find " .. where .. " \\( -name .git -o -name .cache -o -name build -o -name __pycache__ \\)"
    .. " -prune -o -type f ! -name '*.pyc' ! -name compile_commands.json " .. (names or "") .. " -print")
  for path in pipe:lines() do out[#out + 1] = path:gsub("^%./", "") end
  pipe:close()
  assert(#out > 5, "found no files: run this from the source tree")
  table.sort(out)
  return out
end
