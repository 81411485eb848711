-- The structs and function tables that the engine and the library share (engine/border.h). Pointers stay in
-- upvalues of the library: scripts get numbers, text and read-only views.
local native = require "rooflua.native"
local ffi = require "ffi"

-- On x64 the compiler fuses a load into the instruction that uses it and looks for stores in between,
-- but not for FFI calls: `a.latency_s < b.latency_s` with a call of the database between the two reads
-- would compare the second with itself. Without fusion loads stay where they are (a few percent).
-- A step model that names a hundred fields needs more constants and snapshots in one trace than the
-- 500 of either that are allowed; where they do not suffice, the whole model is interpreted.
if jit and jit.opt then jit.opt.start("-fuse", "maxirconst=2000", "maxsnap=1000") end

ffi.cdef(native.border)

local abi = {}

--- A table of functions of the engine, from its address. `name` is its struct in engine/border.h.
function abi.table_at(name, address)
  local functions = ffi.cast("const " .. name .. " *", address)
  assert(functions.size == ffi.sizeof(name), "rooflua: engine/border.h was compiled with another layout than LuaJIT's")
  return functions
end

abi.ffi = ffi
abi.functions = abi.table_at("rooflua_cost_table", native.cost_table)

return abi
