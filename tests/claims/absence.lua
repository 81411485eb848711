--- Whether a sentence says that something is absent: the grammar of such claims.

local denials = { "does not ", "do not ", "did not ", "can not ", "cannot ", "will not ", "not able to " }
local verbs = { "model", "simulate", "support", "implement", "emulate", "offer", "provide", "cover", "include", "have",
  "know", "price", "replay", "read", "answer" }
local participles = { "modelled", "simulated", "supported", "implemented", "emulated", "included", "covered", "priced",
  "there", "available", "possible" }
local absent = { "missing", "absent", "unsupported", "lacking", "left out", "planned", "future work", "to come",
  "out of scope", "ignored" }
local lacks = { "lacks ", "lack ", "leaves out ", "leave out ", "ignores ", "ignore ", "omits ", "omit " }
-- Words behind which another thing is spoken of.
local turns = { " but ", " where ", " when ", " if ", " because ", " so that ", " which ", " unless ", " than ", " as ",
  " whose ", " without ", " of what ", "; " }
-- Words between "no" and a noun that make "no" another one's.
local stops = {}
for word in ("of that in with to for has have is are other more longer and or request one same"):gmatch "%S+" do
  stops[word] = true
end
-- Headings under which a thing that is named is one that is absent.
local headings = { "lacks", "does not do", "not there", "not modelled", "not emulated", "not simulated",
  "not supported", "missing" }
-- Cells of a table that say so of the first cell of their row.
local no = { ["-"] = true, ["not yet"] = true }
for word in ("no none missing absent unsupported"):gmatch "%S+" do no[word] = true end
for _, word in ipairs(participles) do no["not " .. word] = true end

local function turns_away(text)
  for _, turn in ipairs(turns) do
    if text:find(turn, 1, true) then return true end
  end
  return false
end

--- What stands behind the last of `word`, which begins as a word; nil where there is none.
local function behind(text, word)
  local padded, from, found = " " .. text, 1, nil
  while true do
    local first, last = padded:find(word, from, true)
    if not first then return found end
    if padded:sub(first - 1, first - 1):find "[%s%p]" then found = padded:sub(last + 1) end
    from = last + 1
  end
end

--- "no X", "no shipped X", "neither X", "nor X": X follows.
local function is_denied(before)
  local near = before:match "([%w'-]+ [%w'-]+) $" or before:match "([%w'-]+) $" or ""
  local denial, last = near:match "^(%S+) (%S+)$"
  last = last or near
  if last == "no" or last == "nor" or last == "neither" then return true end
  return (denial == "no" or denial == "neither") and not stops[last]
end

--- "does not model X", "cannot simulate X", "lacks X", "not modelled: X", "missing: X": X follows.
local function is_listed(before)
  for _, denial in ipairs(denials) do
    for _, verb in ipairs(verbs) do
      local rest = behind(before, denial .. verb .. " ")
      if rest and not turns_away(rest) then return true end
    end
  end
  for _, verb in ipairs(verbs) do
    if behind(before, "nothing " .. verb .. "s ") or behind(before, "never " .. verb .. "s ") then return true end
  end
  for _, lack in ipairs(lacks) do
    local rest = behind(before, lack)
    if rest and not turns_away(rest) then return true end
  end
  local head = before:match "^(.-): "
  for _, word in ipairs(head and participles or {}) do
    if behind(head, "not " .. word) then return true end
  end
  for _, word in ipairs(head and absent or {}) do
    if behind(head, word) then return true end
  end
  return false
end

--- "X is not modelled", "X are missing", "X has no counterpart", "X (not yet)", "X: no": X is before.
local function is_followed(after)
  local near = after:match "^[^,;:]*"
  for _, be in ipairs { " is ", " are ", " was ", " were ", " cannot be ", " can not be " } do
    local first, last = near:find(be, 1, true)
    if first and first < 50 then
      local rest = (be:find "not" and "not " or "") .. near:sub(last + 1):gsub("^never ", "not ")
      for _, word in ipairs(participles) do
        if rest:sub(1, #word + 4) == "not " .. word then return true end
      end
      for _, word in ipairs(absent) do
        if rest:sub(1, #word) == word then return true end
      end
    end
  end
  return near:find " ha%a+ no counterpart" ~= nil or near:find "^ do%a* not exist" ~= nil
    or near:find "^ %(not " ~= nil or after:find "^: no[%.,;]?$" ~= nil or after:find "^: not " ~= nil
end

--- An item or a paragraph under a heading of absence names what is absent in its first sentence.
local function is_under_absence(sentence)
  for _, heading in ipairs(sentence.is_first and sentence.lower ~= sentence.heading and headings or {}) do
    if behind(sentence.heading, heading) then return true end
  end
  return false
end

--- "Where a scenario has no X, ...": a condition, and no claim.
local function is_condition(before)
  local clause = before:match "[^,;:]*$":gsub("^ ", "")
  for _, word in ipairs { "where ", "if ", "when ", "unless ", "until ", "as long as " } do
    if clause:sub(1, #word) == word or clause:find(" " .. word, 1, true) then return true end
  end
  return false
end

local function is_row_of_no(sentence, word)
  if not sentence.cells or sentence.cells[1] ~= sentence.text or not sentence.lower:find(word) then return false end
  for i = 2, #sentence.cells do
    if no[(sentence.cells[i]:lower():gsub("%.$", ""))] then return true end
  end
  return false
end

local hints = { "no", "neither", "never", "lack", "leaves out", "leave out", "ignore", "omit" }
for _, word in ipairs(absent) do hints[#hints + 1] = word end

--- Notes in a sentence what is the same for all names: what it says in one spelling of "not", and whether it may deny.
local function prepare(sentence)
  sentence.said = sentence.lower:gsub("can't", "cannot"):gsub("n't ", " not "):gsub(" not yet ", " not ")
  sentence.may_deny = sentence.cells ~= nil or is_under_absence(sentence)
  for _, hint in ipairs(hints) do sentence.may_deny = sentence.may_deny or sentence.said:find(hint, 1, true) ~= nil end
end

--- @param sentence of sentences.lua
--- @param word a pattern that names a thing, in lower case
--- @return whether the sentence says that this thing is absent
return function(sentence, word)
  if not sentence.said then prepare(sentence) end
  if not sentence.may_deny then return false end
  if is_row_of_no(sentence, word) then return true end
  local text, from = sentence.said, 1
  while true do
    local first, last = text:find(word, from)
    if not first then return false end
    local before, after = text:sub(1, first - 1), text:sub(last + 1):gsub("^%a+", "")
    local says = is_denied(before) or is_listed(before) or is_followed(after) or is_under_absence(sentence)
    if says and not is_condition(before) then return true end
    from = last + 1
  end
end
