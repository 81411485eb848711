--- The candidates of a list: what a cluster has, and nothing else.
local policy = require "rooflua.policy"

---@class candidates.Listed
local Listed = policy.define {
  name = "listed",
  doc = "The candidates of a list, as they stand there.",
  params = { list = { default = {}, type = "table",
    doc = "Tables { gpu = 1, engine = \"vllm\", tp = 2, max_num_seqs = 256, ... }; gpu counts the plan's GPUs." } },
}

---@param emit fun(candidate: table)
function Listed:each(_, emit)
  for _, each in ipairs(self.list) do
    local copy = {}
    for key, value in pairs(each) do copy[key] = value end
    emit(copy)
  end
end

return Listed
