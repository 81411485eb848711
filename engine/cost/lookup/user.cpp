#include "cost/lookup/user.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace rooflua {
namespace {

/// What tells tables of one op apart: heads and dims. Tables that hold many shapes are compared by
/// their first row, which is enough: they come alone.
double mismatch(const KernelTable& table, const Query& q) {
  if (table.rows.empty()) return 1e9;
  const auto& s = table.rows.front().shape;
  const double tp = std::max(1, q.tp);
  std::array<double, 3> wanted{};
  switch (q.op) {
    case Op::attention_prefill:
    case Op::attention_decode:
      wanted = {q.heads / tp, std::max(1.0, q.kv_heads / tp), 1.0 * q.head_dim};
      break;
    case Op::mla_prefill:
      wanted = {q.heads / tp, 1.0 * q.qk_nope_head_dim, 1.0 * q.qk_rope_head_dim};
      break;
    case Op::mla_decode:
      wanted = {q.heads / tp, 1.0 * q.kv_lora_rank, 1.0 * q.qk_rope_head_dim};
      break;
    case Op::grouped_gemm:
    case Op::linear_attention:
      return table.decode == q.decode ? 0 : 1;
    default:
      return 0;
  }
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i)
    sum += std::abs(std::log2((s[i] + 1e-9) / (wanted[i] + 1e-9)));
  return sum;
}

class LookupOfUser final : public Lookup {
 public:
  LookupOfUser(const LookupContext& context, std::string name, UserLookup function)
      : context_(context), name_(std::move(name)), function_(std::move(function)) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    const KernelTable* table = closest_table(*context_.store, query);
    if (table == nullptr) return false;
    const UserAnswer answer = function_(*table, query);
    const bool compute = query.op == Op::gemm || query.op == Op::grouped_gemm;
    const double latency =
        answer.is_mfu
            ? flop_of(query) /
                  (context_.peak_flop_per_s(compute ? query.dtype : Dtype::bf16) * answer.value)
            : answer.value;
    if (!(latency > 0) || !std::isfinite(latency)) {
      char text[80];
      std::snprintf(text, sizeof text, "answered %s %g for %s", answer.is_mfu ? "mfu" : "latency_s",
                    answer.value, std::string(name(query.op)).c_str());
      throw Error("lookup " + name_, std::string(text) + ": expected a positive finite number");
    }
    estimate.latency_s = latency;
    estimate.evidence = answer.evidence;
    if (trace != nullptr) trace->remark = "lookup " + name_ + " over " + table->name;
    return true;
  }

 private:
  LookupContext context_;
  std::string name_;
  UserLookup function_;
};

}  // namespace

const KernelTable* closest_table(const TableStore& store, const Query& query) {
  const KernelTable* best = nullptr;
  double least = 0;
  for (const KernelTable* table : store.tables_of(query.op)) {
    const bool typed = query.op == Op::gemm || query.op == Op::grouped_gemm;
    const double found = mismatch(*table, query) +
                         (typed && table->dtype != query.dtype ? 100 : 0) +
                         (table->variant.empty() ? 0 : 10);
    if (best == nullptr || found < least) best = table, least = found;
  }
  return best;
}

std::unique_ptr<Lookup> user_lookup(const LookupContext& context, std::string name,
                                    UserLookup function) {
  return std::make_unique<LookupOfUser>(context, std::move(name), std::move(function));
}

}  // namespace rooflua
