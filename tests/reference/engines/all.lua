--- All expectations, by engine and subject, and how many there are.
local folder = "tests/reference/engines/"

local all = {}

all.subjects = {
  { "vllm", "scheduler", "priorities", "async_scheduler", "prefix_caching", "hybrids", "connectors", "offloading",
    "disaggregation" },
  { "sglang", "policies", "adder", "radix" },
  { "trtllm", "microbatch", "capacity", "ranks", "blocks" },
}

--- Every set: rows of one file of an engine's tests, with what they have in common.
function all.sets()
  local out = {}
  for _, subjects in ipairs(all.subjects) do
    for i = 2, #subjects do
      local loaded = dofile(("%s%s/%s.lua"):format(folder, subjects[1], subjects[i]))
      if loaded.rows then loaded = { loaded } end
      for _, set in ipairs(loaded) do
        set.subject = subjects[i]
        out[#out + 1] = set
      end
    end
  end
  return out
end

--- Engine, subject, expectations, and of these pending ones: a row for each subject, and one for all of them.
function all.counts()
  local out, by_subject, total, pending = {}, {}, 0, 0
  for _, set in ipairs(all.sets()) do
    local key = set.name .. " " .. set.subject
    if not by_subject[key] then
      by_subject[key] = { require("engines." .. set.name).title, (set.subject:gsub("_", " ")), 0, 0 }
      out[#out + 1] = by_subject[key]
    end
    for _, row in ipairs(set.rows) do
      by_subject[key][3], total = by_subject[key][3] + 1, total + 1
      if row.pending then by_subject[key][4], pending = by_subject[key][4] + 1, pending + 1 end
    end
  end
  out[#out + 1] = { "all", "", total, pending }
  return out
end

--- The same as texts, for a table of a document.
function all.rows()
  local out = {}
  for i, count in ipairs(all.counts()) do
    out[i] = { count[1], count[2], tostring(count[3]), tostring(count[4]) }
  end
  return out
end

return all
