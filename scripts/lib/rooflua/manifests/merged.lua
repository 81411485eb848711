-- One object of another one and of what stands in its place: the strategic merge of Kubernetes, with values that know
-- which file they came from.
-- Source: kubernetes 1.23 to 1.34, staging/src/k8s.io/apimachinery/pkg/util/strategicpatch/patch.go; keys of lists:
-- staging/src/k8s.io/api/core/v1/types.go (patchMergeKey)
local core = require "rooflua.base.core"
local documents = require "rooflua.engines.documents"
local json = require "rooflua.json"
local node = require "rooflua.manifests.node"

local merged = {}

local most_values = 200000

--- Lists whose items are joined where they have the same value of this key; others are replaced in whole.
local keys = { containers = "name", initContainers = "name", env = "name", volumes = "name", volumeMounts = "mountPath",
  ports = "containerPort" }

local function is_list(value) return type(value) == "table" and value ~= json.null and not documents.is_map(value) end

local function below(path, key) return path == "" and key or path .. "." .. key end

local join

--- Puts an origin of a value, and of all below it.
local function keep(state, path, own)
  local count = state.count
  count.merged = (count.merged or 0) + 1
  if count.merged > most_values then core.fail("baseRefs: more than %d values are merged", most_values) end
  state.origins[path] = { own }
  for _, pair in ipairs(own:pairs()) do keep(state, below(path, pair[1]), pair[2]) end
  for i, item in ipairs(own:list()) do keep(state, ("%s[%d]"):format(path, i), item) end
  return own.value
end

local function join_maps(state, path, base, own)
  local out, mine = {}, {}
  for _, pair in ipairs(own:pairs()) do mine[pair[1]] = pair[2] end
  for _, pair in ipairs(base:pairs()) do
    local key = pair[1]
    out[key] = join(state, below(path, key), pair[2], mine[key], key)
    mine[key] = nil
  end
  for key, each in core.sorted_pairs(mine) do out[key] = keep(state, below(path, key), each) end
  return out
end

local function join_lists(state, path, base, own, key)
  local out, mine, order = {}, {}, {}
  local function put(one, other)
    local place = ("%s[%d]"):format(path, #out + 1)
    out[#out + 1] = other and join(state, place, one, other) or keep(state, place, one)
  end
  for i, item in ipairs(own:list()) do
    local name = item:at(key)
    order[i] = { name and tostring(name.value) or i, item }
    mine[order[i][1]] = item
  end
  for _, item in ipairs(base:list()) do
    local name = item:at(key)
    name = name and tostring(name.value)
    put(item, name and mine[name])
    mine[name or ""] = nil
  end
  for _, each in ipairs(order) do
    if mine[each[1]] == each[2] then put(each[2]) end
  end
  return out
end

function join(state, path, base, own, key)
  if not own then return keep(state, path, base) end
  local out
  if documents.is_map(base.value) and documents.is_map(own.value) then
    out = join_maps(state, path, base, own)
  elseif is_list(base.value) and is_list(own.value) and keys[key] then
    out = join_lists(state, path, base, own, keys[key])
  else
    out = keep(state, path, own)
    base:take("replaced by the service's own")
  end
  state.origins[path] = { base, own }
  return out
end

--- A node of several, of which a later one holds before an earlier one. What is read of it counts as read there.
---@param list table[] nodes of which the last one is the object's own
---@param count table in which values are counted as `merged`, over all objects of a file
function merged.of(list, count)
  local out = list[1]
  for i = 2, #list do
    local own, state = list[i], { origins = {}, count = count }
    local value = join(state, "", out, own)
    local document = { value = value, told = own.document.told, lines = {}, taken = {} }
    local origins, line = state.origins, list[#list]:line()
    out = node.of(document)
    setmetatable(document.taken, { __newindex = function(_, path, shown)
      for _, each in ipairs(origins[path] or {}) do each:take(shown) end
    end })
    setmetatable(document.lines, { __index = function(_, path)
      for _, each in ipairs(origins[path] or {}) do
        if each.document == list[#list].document then return each:line() end
      end
      return line
    end })
  end
  return out
end

return merged
