-- Copies of what policies keep, for forks: a fork that runs changes nothing of the simulation that it was made of.
-- Copied are tables with their metatables, random streams, and functions with what they hold of their surroundings. Two
-- policies that share a table have one copy of it. What the program itself defines is shared: its modules, its classes,
-- and functions that its files make as they are loaded. What cannot be copied is an error that names its place.
local native = require "rooflua.native"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

local ffi = require "ffi"
local funcinfo, constant_of = require("jit.util").funcinfo, require("jit.util").funck
local info, upvalue, metatable_of = debug.getinfo, debug.getupvalue, debug.getmetatable
local type, next, rawset = type, next, rawset

local twins = {}
local Twins = {}
Twins.__index = Twins
local current -- the twins of the fork that is being made; nil: none is
local is_live, fork_live -- of simulations, which a policy may keep

--- Says which values are simulations, and how one is forked together with what keeps it: fork(value, twins).
function twins.fork_simulations(is_simulation, fork) is_live, fork_live = is_simulation, fork end

-- What is shared ----------------------------------------------------------------------------------------------------

local plain = { ["nil"] = true, boolean = true, number = true, string = true }

--- The modules of LuaJIT and of the library, and what stands in them, as a set.
local function modules()
  local out = {}
  for name, module in next, package.loaded do
    if name == "_G" or chunks.is_program_module(name) then
      out[module] = true
      for _, each in next, name ~= "_G" and type(module) == "table" and module or {} do
        if not plain[type(each)] then out[each] = true end
      end
    end
  end
  return out
end

--- What tells functions of one file apart.
local function shape_of(call)
  local about = funcinfo(call)
  return ("%d %d %d %d %d"):format(about.linedefined, about.lastlinedefined, about.bytecodes, about.gcconsts,
    about.nconsts)
end

local made = {} -- path of a file of the program -> the shapes of functions that it makes as it is loaded, as a set

local function is_made_once(call)
  local path = chunks.file_of_program(call)
  if not path then return false end
  if not made[path] then
    local chunk, shapes, i = native.load_chunk(path, info(call, "S").source), {}, -1
    repeat
      local child = constant_of(chunk, i)
      if type(child) == "proto" then shapes[shape_of(child)] = true end
      i = i - 1
    until child == nil
    made[path] = shapes
  end
  return made[path][shape_of(call)] == true
end

local made_once = setmetatable({}, { __mode = "k" }) -- function -> whether it is one of those

--- Whether a function is one of the program's that exists once: a file of the program makes it as it is loaded.
local function is_of_program(call)
  local found = made_once[call]
  if found == nil then
    found = is_made_once(call)
    made_once[call] = found
  end
  return found
end

local rooms_of_prices = core.set { "steps", "drafters", "border", "cost", "mfu" }

--- Whether a function is of what prices: steps, and what the library has for them. Prices follow from batches alone, so
--- that what is remembered of them is shared.
local function prices(call)
  local path = chunks.file_of_program(call)
  local room = path and (path:match "/scripts/lib/rooflua/(%l+)[/.]" or path:match "/scripts/(%l+)/")
  return rooms_of_prices[room] ~= nil
end

--- Whether an object with this metatable is.
local function is_of_prices(meta)
  for _, list in ipairs { meta, type(meta.__index) == "table" and meta.__index or {} } do
    for _, each in next, list do
      if type(each) == "function" and prices(each) then return true end
    end
  end
  return false
end

--- Whether a metatable says how a table behaves, and keeps nothing.
local function is_inert(meta, depth)
  for _, value in next, meta do
    local kind = type(value)
    if kind == "table" and value ~= meta and (depth > 3 or not is_inert(value, depth + 1)) then return false end
    local is_known = kind ~= "function" or info(value, "S").what == "C" or prices(value) or is_of_program(value)
    if not is_known then return false end
    if kind ~= "table" and kind ~= "function" and kind ~= "string" and kind ~= "boolean" then return false end
  end
  return true
end

-- Copying -----------------------------------------------------------------------------------------------------------

--- "next.generator", after what the fork was asked to copy: "the router mine".
local function refuse(where, what)
  local parts = {}
  while where.up do
    table.insert(parts, 1, where.key)
    where = where.up
  end
  core.fail("fork: %s keeps %s in %s, which cannot be copied; keep numbers, texts, tables and functions, or open the "
    .. "simulation again", where.key, what, #parts > 0 and table.concat(parts, ".") or "its state")
end

--- The copies of one fork.
function twins.new()
  return setmetatable({ seen = {}, cells = {}, left = {}, modules = modules() }, Twins)
end

--- Says that a value is shared, or what its copy is.
function Twins:share(value, copy)
  if value ~= nil then self.seen[value] = copy or value end
end

local start = {} -- kind -> function(self, value, where): a copy that is filled later, or the value where it is shared
local fill = {}  -- kind -> function(self, value, copy, where)

--- The copy of a value. What is in it follows in `settle`.
function Twins:value(value, where, key)
  local kind = type(value)
  if plain[kind] or self.modules[value] then return value end
  local known = self.seen[value]
  if known ~= nil then return known end
  local below = { up = where, key = tostring(key) }
  local copy, is_full = start[kind](self, value, below)
  self.seen[value] = copy
  if copy ~= value and fill[kind] and not is_full then self.left[#self.left + 1] = { kind, value, copy, below } end
  return copy
end

--- Fills all copies.
function Twins:settle()
  while #self.left > 0 do
    local each = table.remove(self.left)
    fill[each[1]](self, each[2], each[3], each[4])
  end
end

--- The copy of a policy, of what a workload keeps, or of anything else, complete.
---@param what string for errors: "the router mine"
function Twins:of(value, what)
  local copy = self:value(value, nil, what)
  self:settle()
  return copy
end

function start.table(self, value, where)
  if core.contents[value] then return value end -- a read-only view
  if policy.is_class(value) then
    return chunks.is_own_class(value) and policy.twin_class(value) or value
  end
  if policy.is_instance(value) then return policy.twin(value, self:value(policy.class_of(value), where, "class")) end
  if is_live and is_live(value) then return fork_live(value, self), true end
  local meta = metatable_of(value)
  return meta and is_of_prices(meta) and value or {}
end

function fill.table(self, value, copy, where)
  for key, each in next, value do
    rawset(copy, self:value(key, where, "a key"), self:value(each, where, key))
  end
  if policy.is_instance(value) or policy.is_class(value) then return end
  local meta = metatable_of(value)
  if meta then
    debug.setmetatable(copy, is_inert(meta, 1) and meta or self:value(meta, where, "metatable"))
  end
end

start["function"] = function(self, value, where)
  local _, held = upvalue(value, 1)
  if info(value, "S").what == "C" then
    if type(held) == "thread" then self:value(held, where, "coroutine") end -- of coroutine.wrap
    return value
  end
  if held == nil and not upvalue(value, 1) or prices(value) or is_of_program(value) then return value end
  return setfenv(loadstring(string.dump(value)), getfenv(value))
end

--- Functions that hold one local variable together hold one of their own.
fill["function"] = function(self, value, copy, where)
  for i = 1, 255 do
    local name, held = upvalue(value, i)
    if not name then return end
    local id = debug.upvalueid(value, i)
    local cell = self.cells[id]
    if cell then
      debug.upvaluejoin(copy, i, cell[1], cell[2])
    else
      self.cells[id] = { copy, i }
      debug.setupvalue(copy, i, self:value(held, where, name))
    end
  end
end

function start.thread(_, value, where)
  if coroutine.status(value) ~= "dead" then refuse(where, "a coroutine that is " .. coroutine.status(value)) end
  return value
end

function start.userdata(_, value, where)
  if core.class_name(value) then return value end -- a model, a GPU, a deployment: nothing changes it
  return refuse(where, "a foreign object")
end

function start.cdata(_, value, where)
  if random.is_stream(value) then return random.copy(value) end
  local kind = tostring(ffi.typeof(value))
  local is_constant = tostring(value):find "^ctype<" or kind:find "^ctype<u?int64_t>" or ffi.sizeof(value) == 0
  if is_constant then return value end
  if kind:find "[*&]" or kind:find "%?" then return refuse(where, "a pointer or a list of C") end
  local copy = ffi.new(ffi.typeof(value))
  ffi.copy(copy, value, ffi.sizeof(value))
  return copy
end

-- Of a fork ---------------------------------------------------------------------------------------------------------

--- Calls make(...) while a fork is being made: what is copied meanwhile is copied with it.
function twins.within(own, make, ...)
  local before = current
  current = own
  local results = { pcall(make, ...) }
  current = before
  if not results[1] then error(results[2], 0) end
  return core.unpack(results, 2, table.maxn(results))
end

--- What the engine calls for a workload.
function twins.of_workload(state) return (current or twins.new()):of(state, "the workload") end

return twins
