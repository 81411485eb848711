-- The mirror image of engine/script/ffi_abi.h. Pointers stay in upvalues of the library: scripts
-- get numbers, text and read-only views.
local native = require "rooflua.native"
local ffi = require "ffi"

-- On x64 the compiler fuses a load into the instruction that uses it and looks for stores in between,
-- but not for FFI calls: `a.latency_s < b.latency_s` with a call of the database between the two reads
-- would compare the second with itself. Without fusion loads stay where they are (a few percent).
-- A step model that names a hundred fields needs more constants and snapshots in one trace than the
-- 500 of either that are allowed; where they do not suffice, the whole model is interpreted.
if jit and jit.opt then jit.opt.start("-fuse", "maxirconst=2000", "maxsnap=1000") end

ffi.cdef [[
typedef struct {
  double latency_s;
  double mfu;
  double distance;
  double flop, bytes;
  double mfu_up, mfu_down;
  int32_t evidence;
  int32_t rows;
  int32_t selected_row;
  int32_t bound;
} rooflua_estimate;

typedef struct {
  double op, dtype, kv_dtype;
  double values[16];
} rooflua_query;

typedef struct {
  uint32_t version;
  uint32_t size;
  void *context;
  const char *(*message)(void *);
  int32_t (*gemm)(void *, const void *database, double m, double k, double n, double dtype,
                  rooflua_estimate *out);
  int32_t (*prefill)(void *, const void *database, double heads, double kv_heads, double head_dim,
                     double new_tokens, double context_tokens, double tp, double kv_dtype,
                     rooflua_estimate *out);
  int32_t (*decode)(void *, const void *database, double heads, double kv_heads, double head_dim,
                    double batch, double context_tokens, double tp, double kv_dtype,
                    rooflua_estimate *out);
  int32_t (*lookup)(void *, const void *database, const rooflua_query *query,
    rooflua_estimate *out);
  int32_t (*all_reduce)(void *, const void *database, double bytes, double ranks, double eager,
                        rooflua_estimate *out);
  int32_t (*collective)(void *, const void *hardware, double bytes, double ranks, double kind,
                        rooflua_estimate *out);
  int32_t (*prepared)(void *, const void *prepared, double first, double second, double *mfu,
                      double *latency_s, double *evidence);
} rooflua_abi;
]]

local abi = ffi.cast("const rooflua_abi *", native.abi)
assert(abi.version == 2, "rooflua: engine and scripts/lib/rooflua are of different versions")
assert(abi.size == ffi.sizeof "rooflua_abi",
  "rooflua: the FFI table has another size than abi.lua says")

return { ffi = ffi, functions = abi }
