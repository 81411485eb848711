-- Pictures that are made when they are asked for: rows of {name, title, kinds, plan, described}.
--
-- plan       (opened) -> {set = further sets, drop = keys whose sets do not hold, why = a request to follow, runs =
--            whether it runs, explain, against = whether the page's own charts of a sweep show it}; nil where the
--            scenario has nothing to show
-- described  (opened, documents, texts) -> sections of measure/html/sections.h, where `against` is not set
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local views = {}

local rows = {
  { "load", "rooflua.lab.views.load" }, { "request", "rooflua.lab.views.request" },
  { "memory", "rooflua.lab.views.memory" }, { "replicas", "rooflua.lab.views.replicas" },
  { "step", "rooflua.lab.views.step" }, { "steps", "rooflua.lab.views.steps" },
}
local modules, names = {}, {}
for i, row in ipairs(rows) do names[i], modules[row[1]] = row[1], row[2] end

local function view_of(name) return require(modules[name]) end

--- {name, title} of those that the scenario has.
function views.list(opened)
  local out = json.array {}
  for _, name in ipairs(names) do
    local view = view_of(name)
    if view.kinds[opened.kind] then
      local ok, plan = pcall(view.plan, opened)
      if ok and plan then out[#out + 1] = { name = name, title = view.title } end
    end
  end
  return out
end

function views.plan(opened, name)
  if not modules[name] then core.fail("there is no view '%s'", name) end
  return view_of(name).plan(opened) or core.fail("this scenario has no view '%s'", name)
end

function views.described(opened, name, documents, texts) return view_of(name).described(opened, documents, texts) end

return views
