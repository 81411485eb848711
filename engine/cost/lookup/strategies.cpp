// nearest, linear, log_linear, latency_linear: one set of rules, four ways to read between two
// rows.

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "cost/lookup/all_reduce.h"
#include "cost/lookup/attention.h"
#include "cost/lookup/declared.h"
#include "cost/lookup/elementwise.h"
#include "cost/lookup/experts.h"
#include "cost/lookup/gemm.h"

namespace rooflua {
namespace {

Strategy parse_strategy(std::string_view text) {
  if (text == "nearest") return Strategy::nearest;
  if (text == "linear") return Strategy::linear;
  if (text == "log_linear") return Strategy::log_linear;
  ROOFLUA_ASSERT(text == "latency_linear");
  return Strategy::latency_linear;
}

class GridLookup final : public Lookup {
 public:
  GridLookup(const LookupContext& context, Strategy strategy)
      : context_(context),
        strategy_(strategy),
        gemms_(number_formats().size()),
        experts_(number_formats().size()),
        attention_(declared_ops().size()),
        declared_(declared_ops().size()) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    if (!context_.store->has(query.op)) return false;
    Reading reading;
    if (!read(query, reading, trace)) return false;
    estimate.latency_s = reading.latency_s;
    estimate.evidence = reading.evidence;
    estimate.rows = reading.rows;
    estimate.distance = std::log2(reading.ratio);
    return true;
  }

 private:
  bool read(const Query& query, Reading& reading, RowsUsed* trace) const {
    const OpDeclaration& op = declaration_of(query.op);
    switch (op.search) {
      case RowSearch::gemm:
        return gemm(query, reading, trace);
      case RowSearch::attention:
        return attention(query, along_tokens(op), reading, trace);
      case RowSearch::experts:
        return experts(query, reading, trace);
      case RowSearch::all_reduce:
        return rows_of(all_reduce_, query, reading, trace);
      case RowSearch::elementwise:
        return rows_of(elementwise_, query, reading, trace);
      case RowSearch::keyed:
        return declared(query, reading, trace);
    }
    return false;
  }
  /// Prefill efficiency rises with the logarithm of the length; latency does not run straight
  /// between rows.
  Strategy along_tokens(const OpDeclaration& op) const {
    const bool prefill = op.convention == FlopConvention::attention_causal_half;
    return prefill && strategy_ == Strategy::latency_linear ? Strategy::log_linear : strategy_;
  }

  std::vector<const KernelTable*> tables_of(Op op, std::optional<Dtype> dtype,
                                            std::string_view variant) const {
    std::vector<const KernelTable*> result;
    for (std::size_t i = 0; i < context_.store->files().size(); ++i) {
      const TableFile& file = context_.store->files()[i];
      if (file.op != op || (dtype && file.dtype != *dtype)) continue;
      if (dtype && file.variant != variant && file.variant != "single") continue;
      result.push_back(&context_.store->table(i));
    }
    return result;
  }

  /// The answer of a stand-in carries the utilisation of its format over, unless it is alike.
  static void adopt(const StandIn& from, Dtype wanted, Reading& reading) {
    if (from.alike) return;
    const double width = bytes_per_element(wanted) / bytes_per_element(from.dtype);
    reading.latency_s *= width;
    reading.downgrade(Evidence::stand_in, width > 1 ? width : 1 / width);
  }

  bool gemm(const Query& q, Reading& reading, RowsUsed* trace) const {
    auto& indexes = gemms_[static_cast<std::size_t>(q.dtype)];
    const auto stand_ins = format_of(q.dtype).stand_ins;
    indexes.resize(stand_ins.size());
    for (std::size_t i = 0; i < stand_ins.size(); ++i) {
      auto& index = indexes[i];
      if (!index) {
        // Kept when all tables were read: one that cannot be is an error of every question.
        std::vector<GemmIndex> made;
        for (const KernelTable* table : tables_of(q.op, stand_ins[i].dtype, stand_ins[i].variant))
          made.emplace_back(*table);
        index = std::move(made);
      }
      for (const GemmIndex& table : *index) {
        if (table.empty()) continue;
        reading = table.at(q.m, q.k, q.n, strategy_, trace);
        adopt(stand_ins[i], q.dtype, reading);
        return true;
      }
    }
    return false;
  }

  bool experts(const Query& q, Reading& reading, RowsUsed* trace) const {
    auto& indexes = experts_[static_cast<std::size_t>(q.dtype)];
    const auto stand_ins = format_of(q.dtype).stand_ins;
    indexes.resize(stand_ins.size());
    for (std::size_t i = 0; i < stand_ins.size(); ++i) {
      auto& index = indexes[i];
      if (!index) index.emplace(tables_of(q.op, stand_ins[i].dtype, stand_ins[i].variant));
      if (index->empty()) continue;
      reading = index->at(q, strategy_, trace);
      adopt(stand_ins[i], q.dtype, reading);
      return true;
    }
    return false;
  }

  bool attention(const Query& q, Strategy strategy, Reading& reading, RowsUsed* trace) const {
    auto& index = attention_[static_cast<std::size_t>(q.op)];
    if (!index) index.emplace(q.op, tables_of(q.op, std::nullopt, ""));
    if (index->empty()) return false;
    reading = index->at(q, strategy, strategy_, trace);
    return true;
  }

  /// Of an op whose tables hold all formats.
  template <class Index>
  bool rows_of(std::optional<Index>& index, const Query& q, Reading& reading,
               RowsUsed* trace) const {
    if (!index) index.emplace(tables_of(q.op, std::nullopt, ""));
    if (index->empty()) return false;
    reading = index->at(q, strategy_, trace);
    return true;
  }

  /// Of a declared op: its own format first, whether or not that stands in for others.
  static std::vector<StandIn> formats_for(const Query& q) {
    const auto listed = format_of(q.dtype).stand_ins;
    std::vector<StandIn> order(listed.begin(), listed.end());
    const bool has_own = std::any_of(order.begin(), order.end(), [&](const StandIn& each) {
      return each.dtype == q.dtype && each.variant.empty();
    });
    if (!has_own) order.insert(order.begin(), {q.dtype, "", true});
    return order;
  }

  bool declared(const Query& q, Reading& reading, RowsUsed* trace) const {
    auto& by_format = declared_[static_cast<std::size_t>(q.op)];
    if (!declaration_of(q.op).typed) {
      if (!by_format.untyped) by_format.untyped.emplace(q.op, tables_of(q.op, std::nullopt, ""));
      if (by_format.untyped->empty()) return false;
      reading = by_format.untyped->at(q, strategy_, trace);
      return true;
    }
    by_format.typed.resize(number_formats().size());
    auto& choices = by_format.typed[static_cast<std::size_t>(q.dtype)];
    if (choices.empty()) {
      std::vector<std::pair<StandIn, DeclaredIndex>> made;
      for (const StandIn& from : formats_for(q))
        made.push_back({from, {q.op, tables_of(q.op, from.dtype, from.variant)}});
      choices = std::move(made);
    }
    for (const auto& [from, index] : choices) {
      if (index.empty()) continue;
      reading = index.at(q, strategy_, trace);
      adopt(from, q.dtype, reading);
      return true;
    }
    return false;
  }

  LookupContext context_;
  Strategy strategy_;
  // Made when first asked for; of typed ops by the format asked for, in the order of its stand-ins.
  template <class Index>
  using OfFormats = std::vector<std::vector<std::optional<Index>>>;
  struct DeclaredTables {
    std::optional<DeclaredIndex> untyped;
    std::vector<std::vector<std::pair<StandIn, DeclaredIndex>>> typed;
  };
  mutable OfFormats<std::vector<GemmIndex>> gemms_;
  mutable OfFormats<ExpertIndex> experts_;
  mutable std::vector<std::optional<AttentionIndex>> attention_;  // by op
  mutable std::optional<AllReduceIndex> all_reduce_;
  mutable std::optional<ElementwiseIndex> elementwise_;
  mutable std::vector<DeclaredTables> declared_;  // by op
};

}  // namespace

std::unique_ptr<Lookup> grid_lookup(const LookupContext& context, std::string_view strategy) {
  return std::make_unique<GridLookup>(context, parse_strategy(strategy));
}

}  // namespace rooflua
