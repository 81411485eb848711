-- Texts that are changed at random, in the same way in every run.
--- Numbers below `most` that are the same in every run.
local state = 1
local function random(most)
  state = (state * 1103515245 + 12345) % 2147483648
  return math.floor(state / 65536) % most
end

local function cut(text, from, to) return text:sub(1, from) .. text:sub(to + 1) end

--- A text with one to three changes: cuts, bytes, pieces of other files, lines joined, other figures.
local function mutated(text, pieces)
  for _ = 1, 1 + random(3) do
    local at, width, kind = random(#text + 1), random(40), random(7)
    if kind == 0 then
      text = cut(text, at, at + width)
    elseif kind == 1 then
      text = text:sub(1, at) .. pieces[1 + random(#pieces)] .. text:sub(at + 1)
    elseif kind == 2 then
      text = text:sub(1, at) .. string.char(random(256)) .. text:sub(at + 2)
    elseif kind == 3 then
      text = text:sub(1, at) .. text:sub(at - width, at + width) .. text:sub(at + 1)
    elseif kind == 4 then
      text = text:sub(1, at)
    elseif kind == 5 then
      text = text:gsub("\n", "", 1 + random(3))
    else
      local digit = text:find("%d", at)
      if digit then text = text:sub(1, digit - 1) .. tostring(random(1000)) .. text:sub(digit + 1) end
    end
  end
  return text
end

--- Whether an error is one that a reader raises, and none of the language.
local function is_clean(problem)
  problem = tostring(problem)
  return not (problem:find "attempt to" or problem:find "stack traceback" or problem:find "bad argument"
    or problem:find "stack overflow" or problem:find "malformed")
end

return { random = random, mutated = mutated, is_clean = is_clean }
