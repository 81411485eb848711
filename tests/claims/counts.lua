--- Counts of what there is, as sentences of pages state them: "seventeen routers", "| routers | 17; ... |".

local numbers = {}
for word in ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
  .. "seventeen eighteen nineteen twenty"):gmatch "%a+" do
  numbers[#numbers + 1] = word
  numbers[word] = #numbers
end

--- The number that a word means; nil where it is none.
local function number_of(word)
  local digits = word:gsub(",", "")
  return numbers[word] or digits:find "^%d+$" and tonumber(digits) or nil
end

-- What is counted. A sentence states a count where a number stands in front of one of the `nouns`, or begins the second
-- cell of the row that a noun begins. Of nouns that mean other things as well `where` lists words beside them.
local counted = {
  { of = "models", nouns = { "models?" }, where = { "included", "ships", "shipped" } },
  { of = "GPUs, all, with rows or without", nouns = { "gpus" },
    where = { "included", "datasheets of", "timings of", "measured tables shipped", "tables cover", "none ship" } },
  { of = "GPUs with rows", nouns = { "have measured kernels", "of them: over" } },
  { of = "tables", nouns = { "tables with over" } },
  { of = "rows", nouns = { "rows%." }, where = { "bench_data" } },
  { of = "tables of this project", nouns = { "tables with", "tables of the h100" }, where = { "by this project" } },
  { of = "publishers", nouns = { "projects published" } },
  { of = "steps", nouns = { "step models" } },
  { of = "schedulers", nouns = { "schedulers" }, where = { "included", "ships", "shipped" } },
  { of = "routers", nouns = { "routers" } },
  { of = "workloads", nouns = { "workloads" } },
  { of = "speculators", nouns = { "rules for the number of drafts" } },
  { of = "tiers", nouns = { "rules of what is loaded" } },
  { of = "eviction", nouns = { "of what leaves" } },
  { of = "kinds of attention", nouns = { "kinds, with sources" } },
  { of = "questions of the cookbook", nouns = { "questions" }, where = { "cookbook", "answers to" } },
  { of = "projects that are compared", nouns = { "other simulators" } },
}

local function is_meant(each, sentence)
  local around = sentence.cells and table.concat(sentence.cells, " "):lower() or sentence.lower
  for _, words in ipairs(each.where or {}) do
    if around:find(words, 1, true) then return true end
  end
  return not each.where
end

--- @param sentence of sentences.lua
--- @return list of { of, count, at_least }: what the sentence counts, the number that it states, whether it says "over"
local function counts_of(sentence)
  local out = {}
  local function add(each, word, before)
    local count = number_of(word)
    out[#out + 1] = count and { of = each.of, count = count, at_least = before == "over" } or nil
  end
  local padded, cells = "  " .. sentence.lower, sentence.cells
  local is_second = cells and cells[2] and sentence.is_first and cells[2]:find(sentence.text, 1, true) == 1
  for _, each in ipairs(counted) do
    for _, noun in ipairs(each.nouns) do
      if padded:find(noun) and is_meant(each, sentence) then
        for before, word in padded:gmatch("(%w*)[ %(]([%w,]+) " .. noun) do add(each, word, before) end
      end
      if is_second and cells[1]:lower():find("^" .. noun .. "$") and is_meant(each, sentence) then
        add(each, sentence.lower:match "^[%w,]*", "")
      end
    end
  end
  return out
end

return { counted = counted, of = counts_of }
