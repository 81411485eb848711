-- The play that --why play:WORD, :why play:WORD and measure.why_play name: its number, a quantile of the time that
-- plays take, or its name.
local core = require "rooflua.base.core"

local chosen_play = {}

--- "12" of "play:12"; nil of any other text.
function chosen_play.word(text) return text:match "^play:(.+)$" end

--- The number that a word is; nil where the plays of the run decide.
---@param word string|number
function chosen_play.number(word)
  local number = tonumber(word)
  if not number then return nil end
  if number < 1 or number % 1 ~= 0 or number >= 2 ^ 53 then
    core.fail("plays count from 1, found '%s'", tostring(word))
  end
  return number
end

--- "play:1 to play:30"
function chosen_play.range(count) return count == 1 and "play:1" or ("play:1 to play:%d"):format(count) end

--- The share that a word asks for: 1 of "slowest", 0.5 of "p50"; nil of a name.
local function share_of(word)
  if word == "slowest" then return 1 end
  local percent = tonumber(word:match "^p(%d+%.?%d*)$")
  return percent and percent <= 100 and percent / 100 or nil
end

--- The play at that rank among those whose time the metrics count: those that were not cut and in which nothing
--- failed. Of plays that took the same time, the slowest is the first.
local function at_rank(list, share)
  local counted = {}
  for _, each in ipairs(list) do
    if not each.cut and each.failed == 0 then counted[#counted + 1] = each end
  end
  if #counted == 0 then
    core.fail("no play was completed; %d ended, cut short or with requests that failed", #list)
  end
  table.sort(counted, function(a, b)
    if a.play_s ~= b.play_s then return a.play_s < b.play_s end
    return a.play > b.play
  end)
  return counted[math.max(1, math.ceil(share * #counted))].play
end

--- @param list table of Live:plays
--- @param word string "slowest", "p99" or the name of a play
--- @return integer the number of the play
function chosen_play.of(list, word)
  if #list == 0 then core.fail "no play came to an end in this run" end
  local share = share_of(word)
  if share then return at_rank(list, share) end
  local found, names = {}, { "slowest", "p50", "p99" }
  for _, each in ipairs(list) do
    if each.name == word then found[#found + 1] = "play:" .. each.play end
    names[#names + 1] = each.name
  end
  if #found == 1 then return tonumber(found[1]:match "%d+") end
  if #found > 1 then core.fail("%d plays are named '%s': %s", #found, word, core.join(found, ", ")) end
  return core.fail("%s; or a number, up to play:%d", core.unknown_name("play", word, names), #list)
end

return chosen_play
