// nearest, linear, log_linear, latency_linear: one set of rules, four ways to read between two
// rows.

#include <array>
#include <cmath>
#include <optional>

#include "cost/lookup/attention.h"
#include "cost/lookup/gemm.h"
#include "cost/lookup/keyed.h"

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
      : context_(context), strategy_(strategy) {}

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    if (!context_.store->has(query.op)) return false;
    Reading reading;
    switch (query.op) {
      case Op::gemm:
        if (!gemm(query, reading, trace)) return false;
        break;
      case Op::attention_prefill:
      case Op::mla_prefill:
        if (!attention(query, prefill_strategy(), reading, trace)) return false;
        break;
      case Op::attention_decode:
      case Op::mla_decode:
        if (!attention(query, strategy_, reading, trace)) return false;
        break;
      case Op::grouped_gemm:
        if (!experts(query, reading, trace)) return false;
        break;
      default:
        if (!one_axis(query, reading, trace)) return false;
        break;
    }
    estimate.latency_s = reading.latency_s;
    estimate.evidence = reading.evidence;
    estimate.rows = reading.rows;
    estimate.distance = std::log2(reading.ratio);
    return true;
  }

 private:
  /// Prefill efficiency rises with the logarithm of the length; latency does not run straight
  /// between rows.
  Strategy prefill_strategy() const {
    return strategy_ == Strategy::latency_linear ? Strategy::log_linear : strategy_;
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

  /// Dtypes whose kernels may stand for the wanted one, the wanted first. fp16 runs bf16's kernels.
  static std::array<std::pair<Dtype, std::string_view>, 3> dtype_order(Dtype wanted) {
    if (wanted == Dtype::fp8 || wanted == Dtype::int8) {
      return {{{Dtype::fp8, ""}, {Dtype::fp8, "fp8_block"}, {Dtype::bf16, ""}}};
    }
    return {{{Dtype::bf16, ""}, {Dtype::fp16, ""}, {Dtype::fp8, ""}}};
  }
  /// 16-bit kernels stand for each other; another width carries its utilisation over, in the open.
  static void adopt(Dtype from, Dtype wanted, std::string_view variant, Reading& reading) {
    const double width = bytes_per_element(wanted) / bytes_per_element(from);
    if (width == 1 && variant.empty() && wanted != Dtype::int8) return;
    reading.latency_s *= width;
    reading.downgrade(Evidence::stand_in, width > 1 ? width : 1 / width);
  }
  static bool wide(Dtype dtype) {
    return dtype == Dtype::fp32 || dtype == Dtype::fp4 || dtype == Dtype::int4;
  }

  bool gemm(const Query& q, Reading& reading, RowsUsed* trace) const {
    if (wide(q.dtype)) return false;
    std::size_t slot = 0;
    for (const auto& [dtype, variant] : dtype_order(q.dtype)) {
      auto& index = gemms_[q.dtype == Dtype::fp8 || q.dtype == Dtype::int8 ? 1 : 0][slot++];
      if (!index) {
        index.emplace();
        for (const KernelTable* table : tables_of(Op::gemm, dtype, variant))
          index->emplace_back(*table);
      }
      for (const GemmIndex& table : *index) {
        if (table.empty()) continue;
        reading = table.at(q.m, q.k, q.n, strategy_, trace);
        adopt(dtype, q.dtype, variant, reading);
        return true;
      }
    }
    return false;
  }

  bool experts(const Query& q, Reading& reading, RowsUsed* trace) const {
    if (wide(q.dtype)) return false;
    std::size_t slot = 0;
    for (const auto& [dtype, variant] : dtype_order(q.dtype)) {
      auto& index = experts_[q.dtype == Dtype::fp8 || q.dtype == Dtype::int8 ? 1 : 0][slot++];
      if (!index) index.emplace(tables_of(Op::grouped_gemm, dtype, variant));
      if (index->empty()) continue;
      reading = index->at(q, strategy_, trace);
      adopt(dtype, q.dtype, variant, reading);
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

  bool one_axis(const Query& q, Reading& reading, RowsUsed* trace) const {
    auto& index = one_axis_[static_cast<std::size_t>(q.op)];
    if (!index) index.emplace(q.op, tables_of(q.op, std::nullopt, ""));
    if (index->empty()) return false;
    reading = index->at(q, strategy_, trace);
    return true;
  }

  LookupContext context_;
  Strategy strategy_;
  mutable std::array<std::array<std::optional<std::vector<GemmIndex>>, 3>, 2> gemms_;
  mutable std::array<std::array<std::optional<ExpertIndex>, 3>, 2> experts_;
  mutable std::array<std::optional<AttentionIndex>, op_count> attention_;
  mutable std::array<std::optional<OneAxisIndex>, op_count> one_axis_;
};

}  // namespace

std::unique_ptr<Lookup> grid_lookup(const LookupContext& context, std::string_view strategy) {
  return std::make_unique<GridLookup>(context, parse_strategy(strategy));
}

}  // namespace rooflua
