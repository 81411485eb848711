// The leaf functions behind db:gemm, db:prefill, db:decode, db:lookup and cost.*: no Lua, no
// exception leaves them.

#include "cost/lookup/lookup.h"

#include <limits>

#include "base/error.h"
#include "cost/database/prepared_questions.h"
#include "cost/model/collective.h"
#include "cost/price/roofline.h"
#include "cost/work/octave_grid.h"
#include "script/bind/questions.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

std::string_view failure_name(LookupFailure failure) {
  switch (failure) {
    case LookupFailure::no_table:
      return "no_table";
    case LookupFailure::no_rows:
      return "no_rows";
    case LookupFailure::division_by_zero:
      return "division_by_zero";
  }
  return "";
}

[[noreturn, gnu::cold]] void refuse_fraction(double value, const char* what) {
  throw Error(what, "expected a whole number >= 0, found " + json_number(value));
}

inline int whole(double value, const char* what) {
  if (value >= 0 && value <= std::numeric_limits<int>::max()) {
    const int integer = static_cast<int>(value);
    if (integer == value) return integer;
  }
  refuse_fraction(value, what);
}

Dtype dtype_of(double code) {
  return static_cast<Dtype>(static_cast<int>(code));
}

void copy(const Estimate& from, rooflua_estimate* out) {
  out->latency_s = from.latency_s;
  out->mfu = from.mfu;
  out->distance = from.distance;
  out->flop = from.flop;
  out->bytes = from.bytes;
  out->mfu_up = from.mfu_up;
  out->mfu_down = from.mfu_down;
  out->evidence = static_cast<std::int32_t>(from.evidence);
  out->rows = from.rows;
  out->selected_row = from.selected_row;
  out->bound = static_cast<std::int32_t>(from.bound);
}

const MfuDatabase* database_of(Context* context, const void* box) {
  const auto& pointer = *static_cast<const std::shared_ptr<const MfuDatabase>*>(box);
  if (pointer == nullptr) context->message = "database: this object was closed";
  return pointer.get();
}

/// Runs `call`, which returns a status, and turns every failure into one.
template <class Call>
std::int32_t leaf(Context* context, Call call) noexcept {
  try {
    return call();
  } catch (const NeedsLua&) {
    return abi_needs_lua;
  } catch (const LookupError& error) {
    context->failure = failure_name(error.failure());
    context->message = error.what();
  } catch (const std::exception& error) {
    context->failure.clear();
    context->message = message_of(error);
  }
  return abi_failed;
}

/// Fills the context's query with `fill`, and answers it.
template <class Fill>
std::int32_t ask(Context* context, const void* box, rooflua_estimate* out, Fill fill) noexcept {
  return leaf(context, [&]() -> std::int32_t {
    const MfuDatabase* database = database_of(context, box);
    if (database == nullptr) return abi_failed;
    Query& query = context->query;
    fill(query);
    copy(database->estimate(query), out);
    return abi_ok;
  });
}

const char* message(Context* context) noexcept {
  return context->message.c_str();
}

std::int32_t gemm(Context* context, const void* box, double m, double k, double n, double dtype,
                  rooflua_estimate* out) noexcept {
  return ask(context, box, out, [=](Query& query) {
    query.op = Op::gemm;
    query.dtype = dtype_of(dtype);
    query.m = m;
    query.k = k;
    query.n = n;
  });
}

void fill_attention(Query& query, double heads, double kv_heads, double head_dim, double tp,
                    double kv_dtype) {
  query.dtype = Dtype::bf16;
  query.kv_dtype = dtype_of(kv_dtype);
  query.heads = whole(heads, "heads");
  query.kv_heads = whole(kv_heads, "kv_heads");
  query.head_dim = whole(head_dim, "head_dim");
  query.tp = whole(tp, "tp");
}

std::int32_t prefill(Context* context, const void* box, double heads, double kv_heads,
                     double head_dim, double new_tokens, double context_tokens, double tp,
                     double kv_dtype, rooflua_estimate* out) noexcept {
  return ask(context, box, out, [=](Query& query) {
    query.op = Op::attention_prefill;
    fill_attention(query, heads, kv_heads, head_dim, tp, kv_dtype);
    query.batch = 1;
    query.new_tokens = new_tokens;
    query.context_tokens = context_tokens;
  });
}

std::int32_t decode(Context* context, const void* box, double heads, double kv_heads,
                    double head_dim, double batch, double context_tokens, double tp,
                    double kv_dtype, rooflua_estimate* out) noexcept {
  return ask(context, box, out, [=](Query& query) {
    query.op = Op::attention_decode;
    fill_attention(query, heads, kv_heads, head_dim, tp, kv_dtype);
    query.batch = batch;
    query.new_tokens = 0;
    query.context_tokens = context_tokens;
  });
}

}  // namespace

void read_query(const rooflua_query& in, Query& query) {
  const int op = whole(in.op, "op");
  if (static_cast<std::size_t>(op) >= declared_ops().size()) throw Error("op", "is not known");
  query = Query();  // models of kernels may read numbers that the op does not declare
  query.op = static_cast<Op>(op);
  query.dtype = dtype_of(in.dtype);
  query.kv_dtype = dtype_of(in.kv_dtype);
  const double* value = in.values;
  for (const Field& field : declaration_of(query.op).fields) {
    if (!field.number) continue;
    const bool counts = field.kind == FieldKind::count || field.kind == FieldKind::word;
    field.number(query) = counts ? whole(*value, field.name.data()) : *value;
    ++value;
  }
}

namespace {

std::int32_t lookup(Context* context, const void* box, const rooflua_query* in,
                    rooflua_estimate* out) noexcept {
  return ask(context, box, out, [=](Query& query) { read_query(*in, query); });
}

std::int32_t prepared(Context* context, const void* box, double first, double second, double* mfu,
                      double* latency_s, double* evidence) noexcept {
  return leaf(context, [=]() mutable -> std::int32_t {
    const auto& questions = *static_cast<const std::shared_ptr<const PreparedQuestions>*>(box);
    if (questions == nullptr) throw Error("prepared", "this object was closed");
    for (const Answer& each : questions->answer(first, second)) {
      *mfu++ = each.mfu;
      *latency_s++ = each.latency_s;
      *evidence++ = static_cast<double>(each.evidence);
    }
    return abi_ok;
  });
}

std::int32_t all_reduce(Context* context, const void* box, double bytes, double ranks, double eager,
                        rooflua_estimate* out) noexcept {
  return ask(context, box, out, [=](Query& query) {
    query = Query();
    query.op = Op::all_reduce;
    query.bytes = bytes;
    query.ranks = whole(ranks, "ranks");
    query.eager = eager != 0 ? 1 : 0;
  });
}

std::int32_t collective(Context* context, const void* box, double bytes, double ranks, double kind,
                        rooflua_estimate* out) noexcept {
  try {
    const auto& hardware = *static_cast<const std::shared_ptr<const Hardware>*>(box);
    if (hardware == nullptr) throw Error("hardware", "this object was closed");
    const int count = whole(ranks, "ranks");
    const Transfer transfer = kind == 0 ? rooflua::all_reduce(Bytes(bytes), count, *hardware)
                                        : rooflua::all_to_all(Bytes(bytes), count, *hardware);
    out->latency_s = transfer.time.in_base_units();
    out->evidence = static_cast<std::int32_t>(transfer.evidence);
    return abi_ok;
  } catch (const std::exception& error) {
    context->message = message_of(error);
    return abi_failed;
  }
}

void find_cell(const rooflua_octave_grid* grid, double x, double y,
               rooflua_grid_cell* out) noexcept {
  rooflua::find_cell(*grid, x, y, *out);
}

}  // namespace

void fill_cost_table(rooflua_cost_table& table) {
  table.size = sizeof(rooflua_cost_table);
  table.message = message;
  table.gemm = gemm;
  table.prefill = prefill;
  table.decode = decode;
  table.lookup = lookup;
  table.all_reduce = all_reduce;
  table.collective = collective;
  table.prepared = prepared;
  table.find_cell = find_cell;
}

void answer(Context& context, const MfuDatabase& database, rooflua_estimate* out) {
  const Query query = context.query;  // a user's lookup may ask questions of its own
  copy(database.estimate(query), out);
}

}  // namespace rooflua::script
