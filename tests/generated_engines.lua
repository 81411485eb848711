-- Generated tables about engines: dofile "tests/generated_engines.lua"(markdown_table) is
-- {known, code, options}.
local ages = require "rooflua.help.ages"
local catalogue = require "rooflua.engines.catalogue"

--- @param markdown_table fun(head: string[], rows: string[][]): string
return function(markdown_table)
  local tables = {}

  --- The engines that are known: releases, command, kernels.
  function tables.known()
    local rows = {}
    for _, name in ipairs(catalogue.names()) do
      local engine = catalogue.of(name)
      local last, whole = catalogue.last(engine), catalogue.newest(engine)
      rows[#rows + 1] = { name, engine.title, engine.releases[1].name .. " to " .. last, whole,
        tostring(#engine.releases), ("`%s`"):format(engine.command), engine.tables.name }
    end
    return markdown_table({ "name", "engine", "rules from", "read in whole to", "releases", "command", "kernels of" },
      rows)
  end

  --- Code that decides rules which go on, as a reader of a new release opens it.
  function tables.code()
    local rows = {}
    for _, name in ipairs(catalogue.names()) do
      for _, each in ipairs(ages.rows(catalogue.of(name))) do
        if each.code ~= "" then
          local file, symbols = each.code:match "^(%S+): (.+)$"
          rows[#rows + 1] = { name, ("`%s`"):format(file or each.code), symbols and ("`%s`"):format(symbols) or "",
            tostring(each.rows), each.seen }
        end
      end
    end
    return markdown_table({ "engine", "file", "symbols", "rows", "last read" }, rows)
  end

  --- Options of all engines by the key that they set.
  function tables.options()
    local names, by_key, options = catalogue.names(), {}, {}
    for _, name in ipairs(names) do
      for _, option in ipairs(catalogue.of(name).options) do
        if option.key then
          by_key[option.key] = by_key[option.key] or {}
          local list = by_key[option.key][name]
          by_key[option.key][name] = (list and list .. ", " or "") .. "`" .. option.name .. "`"
        end
      end
    end
    for key in pairs(by_key) do options[#options + 1] = key end
    table.sort(options)
    local head, rows = { "key" }, {}
    for i, name in ipairs(names) do head[i + 1] = name end
    for i, key in ipairs(options) do
      rows[i] = { key }
      for j, name in ipairs(names) do rows[i][j + 1] = by_key[key][name] or "" end
    end
    return markdown_table(head, rows)
  end

  return tables
end
