#include "cost/lookup/user.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace rooflua {
namespace {

/// Doublings between the shape that all rows of a table share and that of the query. A table that
/// holds many shapes is as far as any other.
double mismatch(const KernelTable& table, const Query& q) {
  if (table.rows.empty()) return 1e9;
  const OpDeclaration& op = declaration_of(q.op);
  double sum = 0;
  for (const Field& field : op.fields) {
    if (field.role == FieldRole::table) sum += table.decode == (field.number(q) != 0) ? 0 : 1;
  }
  const auto& shape = table.rows.front().shape;
  for_each_axis(op, [&](const Field& field, std::size_t place) {
    if (place >= static_cast<std::size_t>(op.shape_axes)) return;
    double wanted = field.number(q);
    if (field.per_rank) wanted = std::max(1.0, wanted / std::max(1.0, q.tp));
    sum += std::abs(std::log2((shape[place] + 1e-9) / (wanted + 1e-9)));
  });
  return sum;
}

/// Whether a row is of the words that the query has, such as its elementwise kernel.
bool has_rows_of(const KernelTable& table, const Query& query) {
  bool found = true;
  for_each_axis(declaration_of(table.op), [&](const Field& field, std::size_t place) {
    if (field.kind != FieldKind::word || !field.number) return;
    if (field.number(query) == field.otherwise) return;
    found = found && std::any_of(table.rows.begin(), table.rows.end(), [&](const KernelRow& row) {
              return value_of(field, table, row, place) == field.number(query);
            });
  });
  return found;
}

class LookupOfUser final : public Lookup {
 public:
  LookupOfUser(const LookupContext& context, std::string name, UserLookup function)
      : context_(context), name_(std::move(name)), function_(std::move(function)) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    const KernelTable* table = closest_table(*context_.store, query, context_.kernels.engine);
    if (table == nullptr || !has_rows_of(*table, query)) return false;
    const UserAnswer answer = function_({context_.store, *table, query});
    const bool own_peak = declaration_of(query.op).peak == PeakOf::dtype;
    const double latency =
        answer.is_mfu
            ? flop_of(query) /
                  (context_.peak_flop_per_s(own_peak ? query.dtype : Dtype::bf16) * answer.value)
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

const KernelTable* closest_table(const TableStore& store, const Query& query,
                                 const std::string& engine) {
  const KernelTable* best = nullptr;
  double least = 0;
  for (const KernelTable* table : store.tables_of(query.op)) {
    const bool typed = declaration_of(query.op).typed;
    const double found = mismatch(*table, query) +
                         (typed && table->dtype != query.dtype ? 100 : 0) +
                         (table->variant.empty() ? 0 : 10) +
                         (table->engine.empty() || table->engine == engine ? 0 : 1);
    if (best == nullptr || found < least) best = table, least = found;
  }
  return best;
}

std::unique_ptr<Lookup> user_lookup(const LookupContext& context, std::string name,
                                    UserLookup function) {
  return std::make_unique<LookupOfUser>(context, std::move(name), std::move(function));
}

}  // namespace rooflua
