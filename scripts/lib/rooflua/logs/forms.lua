-- A start-up log as containers and their tools print it.
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local forms = {}

local first_second = 1767225600 -- as in logs/log.lua

local function time(second)
  local whole = math.floor(second)
  return ("%s.%09.0fZ"):format(os.date("!%Y-%m-%dT%H:%M:%S", first_second + whole), (second - whole) * 1e9)
end

--- A line by form: fun(line, engine, replica) -> text.
local of = {
  plain = function(line) return line.text end,
  -- docker compose logs: the service and the number of its container, from 1
  compose = function(line, engine, replica) return ("%s-%d  | %s"):format(engine, replica + 1, line.text) end,
  -- kubectl logs --prefix: pod and container
  kubectl = function(line, engine, replica) return ("[pod/%s-%d/%s] %s"):format(engine, replica, engine, line.text) end,
  -- the file of Docker's json-file driver
  json = function(line)
    return json.encode { log = line.text .. "\n", stream = "stdout", time = time(line.second) }
  end,
}

--- Names of forms.
function forms.names() return core.sorted_keys(of) end

--- @param lines table of logs/log.lua
--- @param form string? plain
--- @param replica integer from 0
function forms.text(lines, form, engine, replica)
  local own = of[form or "plain"] or core.fail("form: %s", core.unknown_name("form of a log", form, forms.names()))
  local out = {}
  for i, line in ipairs(lines) do out[i] = own(line, engine, replica) .. "\n" end
  return table.concat(out)
end

return forms
