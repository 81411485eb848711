-- The rows of a file of measured upgrades: one figure of one deployment before and after a change of release.
--
--     figure     its first word is one of setup.lua's: kv_tokens, tpot_ms, ..; further words may say the clients, "C8"
--     command    a launch command, or words of prose.lua; of a deployment "family|gpu|engine|format|.." options
--                "name=value;name=value" of the side after
--     same_settings  of options that were others before: "no: NAME: BEFORE -> AFTER; ..", "(default)" where not stated
--     load       of times "closed loop 1024/1024, 4 clients": tokens of prompts and answers; or "1 client"
--     before     and after; a row without one of them is no pair and does not count
--     patched    "yes .." where other code than the release's ran: its KV tokens alone are compared
local columns = require "rooflua.validate.columns"
local core = require "rooflua.base.core"

local directions = { "up", "down", "flat", "starts" }

local function case_of(case)
  case.figure, case.which = case.figure:match "^([%w_]+)%s*(.*)$"
  case.figure, case.which = case.figure or "", case.which or ""
  case.before, case.after = tonumber(case.before) or case.before, tonumber(case.after) or case.after
  local both = type(case.before) == "number" and type(case.after) == "number"
  local is_pair = both or case.figure == "starts" and case.before ~= "" and case.after ~= ""
  if is_pair and not core.is_among(case.direction, directions) then
    core.fail("%s: direction: %s", case.where, core.unknown_name("direction", case.direction, directions))
  end
  case.is_patched = case.patched:lower():find "^yes" ~= nil
  case.counts = is_pair and case.scored ~= "no" and (not case.is_patched or case.figure == "kv_tokens")
  case.is_pair = is_pair
end

return columns.of({ what = "measured upgrades", manual = "docs/VALIDATION.md", id = "id", unique = true, empty = "",
  case = case_of, broken = function(cells)
    return { figure = (cells.figure or ""):match "^[%w_]+", engine = cells.engine }
  end }, {
  { names = "id", type = "text", required = true, own = true },
  { names = "deployment model gpu tp", type = "text", required = true },
  { names = "engine", type = "lower", required = true, filled = true },
  { names = "version_before version_after", type = "text", required = true, tells = true, filled = true },
  { names = "command load", type = "text", required = true },
  { names = "figure", type = "text", required = true, tells = true, filled = true },
  { names = "before after", type = "text", required = true, tells = true },
  { names = "direction", type = "lower", required = true },
  { names = "scored", type = "answer" },
  { names = "patched same_settings cause notes source", type = "text" },
})
