// nearest, linear, log_linear, latency_linear, latency_log: one set of rules, five ways to read
// between two rows.

#include <algorithm>
#include <cmath>
#include <limits>

#include "cost/lookup/choices.h"
#include "cost/lookup/declared.h"

namespace rooflua {
namespace {

Strategy parse_strategy(std::string_view text) {
  if (text == "nearest") return Strategy::nearest;
  if (text == "linear") return Strategy::linear;
  if (text == "log_linear") return Strategy::log_linear;
  if (text == "latency_log") return Strategy::latency_log;
  ROOFLUA_ASSERT(text == "latency_linear");
  return Strategy::latency_linear;
}

class GridLookup final : public Lookup {
 public:
  GridLookup(const LookupContext& context, Strategy strategy)
      : context_(context), strategy_(strategy), choices_(declared_ops().size()) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    if (!context_.store->has(query.op)) return false;
    const Choice* choice = nearest_choice(*context_.store, choices_for(query), query);
    if (choice == nullptr) return false;
    Reading reading = choice->index->at(query, strategy_, trace);
    adopt(*choice, query, reading);
    estimate.latency_s = reading.latency_s;
    estimate.evidence = reading.evidence;
    estimate.rows = reading.rows;
    estimate.distance = std::log2(reading.ratio);
    return true;
  }

  double gap(const Query& query) const override {
    const Choice* choice = nearest_choice(*context_.store, choices_for(query), query);
    return choice == nullptr ? std::numeric_limits<double>::infinity()
                             : choice->gap + choice->index->gap(query);
  }
  bool of_other_format(const Query& query) const override {
    const Choice* choice = nearest_choice(*context_.store, choices_for(query), query);
    return choice != nullptr && !choice->format.alike;
  }

 private:
  /// The answer of another format carries its share of the peaks over, unless it is alike.
  /// Attention computes in 16 bits or less whatever the cache holds: its time is taken as it is.
  void adopt(const Choice& choice, const Query& query, Reading& reading) const {
    const OpDeclaration& op = declaration_of(query.op);
    if (choice.other_engine) reading.downgrade(Evidence::stand_in);
    // No rows are of a cache whose vectors have scales of their own.
    if (format_of(query.kv_dtype).vector_bytes > 0) reading.downgrade(Evidence::stand_in, 2);
    if (!op.typed && !op.format_of_kv) return;
    if (choice.format.alike) return;
    if (op.format_of_kv) {
      reading.downgrade(Evidence::stand_in, 2);
      return;
    }
    const double ratio = work_ratio(query, choice.format.dtype);
    reading.latency_s *= ratio;
    reading.downgrade(Evidence::stand_in, ratio > 1 ? ratio : 1 / ratio);
  }

  /// What the work in the format asked for takes at least, over the same in the format of the rows.
  /// Weights that are expanded to 16 bits on the way save traffic, not arithmetic.
  double work_ratio(const Query& query, Dtype rows) const {
    const OpDeclaration& op = declaration_of(query.op);
    const double width = bytes_per_element(query.dtype) / bytes_per_element(rows);
    if (!context_.hardware || op.flop == nullptr || op.bytes == nullptr) return width;
    Query there = query;
    there.dtype = rows;
    const Hardware& gpu = *context_.hardware;
    const double ratio = least_time(query, gpu).time_s() / least_time(there, gpu).time_s();
    return ratio > 0 && std::isfinite(ratio) ? ratio : width;
  }

  const std::vector<Choice>& choices_for(const Query& query) const {
    const OpDeclaration& op = declaration_of(query.op);
    auto& by_format = choices_[static_cast<std::size_t>(query.op)];
    if (by_format.empty()) by_format.resize(number_formats().size());
    const Dtype format = op.format_of_kv ? format_of(query.kv_dtype).runs_as
                         : op.typed      ? query.dtype
                                         : Dtype::bf16;
    auto& made = by_format[static_cast<std::size_t>(format)];
    if (!made) made = choices_of(*context_.store, query.op, format, context_.kernels);
    return *made;
  }

  LookupContext context_;
  Strategy strategy_;
  /// By op and by the format asked for, made when first asked for.
  mutable std::vector<std::vector<std::optional<std::vector<Choice>>>> choices_;
};

}  // namespace

std::unique_ptr<RowIndex> row_index(Op op, const std::vector<const KernelTable*>& tables) {
  const auto index = declaration_of(op).index;
  return index == nullptr ? index_over<DeclaredIndex>(op, tables) : index(op, tables);
}

std::unique_ptr<Lookup> grid_lookup(const LookupContext& context, std::string_view strategy) {
  return std::make_unique<GridLookup>(context, parse_strategy(strategy));
}

}  // namespace rooflua
