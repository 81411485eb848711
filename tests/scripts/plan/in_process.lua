-- Plans of this test run in its own process: most are small, and a worker for each piece takes longer than the piece.
-- That both give the same is tested in plan/same_test.lua.
local search = require "rooflua.plan.search"

local parallel = search.parallel
function search.parallel(question, ...)
  if (question.jobs or 1) == 1 and not question.book then question.in_process = true end
  return parallel(question, ...)
end
