-- Pictures that are made when they are asked for: rows of {name, title, kinds, plan, described}.
--
-- plan       (opened) -> {set = further sets, drop = keys whose sets do not hold, why = a request to follow, runs =
--            whether it runs, explain, against = whether the page's own charts of a sweep show it}; nil where the
--            scenario has nothing to show
-- described  (opened, documents, texts) -> sections of measure/html/sections.h, where `against` is not set
-- parts      pattern of what may stand after the name: of "request/17" plan and described get "17" as a last argument
local native = require "rooflua.native"
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

--- "request", "17" of "request/17"; "request", nil of "request".
local function parts_of(name)
  local own, which = name:match "^([^/]+)/(.+)$"
  own = own or name
  if not modules[own] then core.fail("there is no view '%s'", native.printable(own)) end
  if which and not view_of(own).parts then core.fail("view '%s' has no parts", own) end
  if which and not which:find(view_of(own).parts) then
    core.fail("view '%s' has no part '%s'", own, native.printable(which))
  end
  return view_of(own), which, own
end

function views.plan(opened, name)
  local view, which, own = parts_of(name)
  return view.plan(opened, which) or core.fail("this scenario has no view '%s'", own)
end

function views.described(opened, name, documents, texts)
  local view, which = parts_of(name)
  return view.described(opened, documents, texts, which)
end

return views
