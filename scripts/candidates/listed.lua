--- The candidates of a list: what a cluster has, and nothing else.
local policy = require "rooflua.policy"

---@class candidates.Listed
local Listed = policy.define {
  name = "listed",
  doc = "The candidates of a list, as they stand there.",
  params = { list = { default = {}, type = "list",
    doc = "Tables { gpu = 1, engine = \"vllm\", tp = 2, max_num_seqs = 256, ... }; gpu counts the plan's GPUs." } },
}

---@param emit fun(candidate: table)
function Listed:each(_, emit)
  for i, each in ipairs(self.list) do
    if type(each) ~= "table" then
      error(("candidates.listed: list[%d]: expected a table, found a %s"):format(i, type(each)), 0)
    end
    local copy = {}
    for key, value in pairs(each) do copy[key] = value end
    emit(copy)
  end
end

return Listed
