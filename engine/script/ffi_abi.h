#pragma once
// The hot border: plain structs and leaf functions that Lua calls through FFI. The mirror image is
// the cdef in scripts/lib/rooflua/border/abi.lua, which refuses another version or another size.
//
// Every function is noexcept, calls no Lua and returns a status; numbers cross as double so that
// a NaN or a fraction is found here and not turned into an integer on the way.

#include <cstddef>
#include <cstdint>

namespace rooflua::script {

struct Context;

enum AbiStatus : std::int32_t {
  abi_ok = 0,
  abi_failed = 1,     // message() says why
  abi_needs_lua = 2,  // a user's lookup has to run first: natives.retry, outside FFI
};

/// An answer of the database and the time that follows.
struct AbiEstimate {
  double latency_s;
  double mfu;  // NaN: none
  double distance;
  double flop, bytes;
  double mfu_up, mfu_down;
  std::int32_t evidence;
  std::int32_t rows;
  std::int32_t selected_row;
  std::int32_t bound;
};
static_assert(sizeof(AbiEstimate) == 72 && offsetof(AbiEstimate, evidence) == 56);

/// A question of any op, for db:lookup: the numbers of its fields, in the order of its declaration
/// (cost/ops/declaration.h).
struct AbiQuery {
  double op, dtype, kv_dtype;
  double values[16];
};
static_assert(sizeof(AbiQuery) == 19 * sizeof(double));

struct AbiTable {
  std::uint32_t version;
  std::uint32_t size;
  Context* context;
  const char* (*message)(Context*);
  std::int32_t (*gemm)(Context*, const void* database, double m, double k, double n, double dtype,
                       AbiEstimate* out);
  std::int32_t (*prefill)(Context*, const void* database, double heads, double kv_heads,
                          double head_dim, double new_tokens, double context_tokens, double tp,
                          double kv_dtype, AbiEstimate* out);
  std::int32_t (*decode)(Context*, const void* database, double heads, double kv_heads,
                         double head_dim, double batch, double context_tokens, double tp,
                         double kv_dtype, AbiEstimate* out);
  std::int32_t (*lookup)(Context*, const void* database, const AbiQuery* query, AbiEstimate* out);
  std::int32_t (*all_reduce)(Context*, const void* database, double bytes, double ranks,
                             double eager, AbiEstimate* out);
  /// kind 0: all-reduce, 1: all-to-all; from the link bandwidth alone
  std::int32_t (*collective)(Context*, const void* hardware, double bytes, double ranks,
                             double kind, AbiEstimate* out);
  /// `prepared`: a PreparedQuestions; writes one number for each of its questions to each list
  std::int32_t (*prepared)(Context*, const void* prepared, double first, double second, double* mfu,
                           double* latency_s, double* evidence);
};
inline constexpr std::uint32_t abi_version = 2;

}  // namespace rooflua::script
