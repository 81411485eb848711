-- The request that took longest, by the words that --why, :why and measure.why know besides numbers.
local core = require "rooflua.base.core"

local slowest = {}

slowest.words = { "slowest", "slowest_tpot", "slowest_ttft" }

--- The time that a word compares; nil where the request has none.
local times = {
  slowest = function(_, e2e_s) return e2e_s end,
  slowest_ttft = function(ttft_s) return ttft_s end,
  slowest_tpot = function(ttft_s, e2e_s, tokens) return tokens > 1 and (e2e_s - ttft_s) / (tokens - 1) or nil end,
}

--- Whether a text is one of these words; an error with suggestions if it is neither a word nor a number.
function slowest.is_word(text)
  if times[text] then return true end
  if not tonumber(text) then
    core.fail("expected the number of a request, play:N, or %s, found '%s'", core.join(slowest.words, ", "),
      tostring(text))
  end
  return false
end

--- @param columns table of native.serve_requests: ttfts, e2els, output_lens and errors by request, in order of ids
--- @param word string
--- @return integer? the id of the completed request with the longest time, the first of several
function slowest.of_columns(columns, word)
  local found, most
  for i, problem in ipairs(columns.errors) do
    local time_s = problem == "" and times[word](columns.ttfts[i], columns.e2els[i], columns.output_lens[i])
    if time_s and (not most or time_s > most) then found, most = i - 1, time_s end
  end
  return found
end

--- The same of requests that ended in a live simulation: a list of {id, outcome, ttft_s, e2e_s, output_tokens}.
function slowest.of_ended(ended, word)
  local found, most
  for _, each in ipairs(ended) do
    local time_s = each.outcome == "completed" and times[word](each.ttft_s, each.e2e_s, each.output_tokens)
    if time_s and (not most or time_s > most or time_s == most and each.id < found) then
      found, most = each.id, time_s
    end
  end
  return found
end

return slowest
