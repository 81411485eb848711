// The lookups of inference-sim 487017bc over its H100 tables, to the last bit: linear in seq,
// bilinear in (batch, context) with missing cells read as 0, GEMM linear in m, zeros replaced by
// the nearest row that is not.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "cost/lookup/lookup.h"

namespace rooflua {
namespace {

constexpr double least_mfu = 1e-4;

/// Neighbours of x in sorted values: clamped outside, the same twice on a hit.
struct Bracket {
  double low, high;
};
Bracket bracket(double x, const std::vector<double>& values) {
  if (x <= values.front()) return {values.front(), values.front()};
  if (x >= values.back()) return {values.back(), values.back()};
  const auto above = std::lower_bound(values.begin(), values.end(), x);
  if (*above == x) return {x, x};
  return {*(above - 1), *above};
}

double interpolate(double x, double x0, double x1, double y0, double y1) {
  if (x0 == x1) return y0;
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

/// Inside the values, or clamped to one of them.
Evidence evidence_at(double x, Bracket b) {
  if (b.low != b.high) return Evidence::interpolated;
  return x == b.low ? Evidence::measured : Evidence::extrapolated;
}

std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

class Blis487Lookup final : public Lookup {
 public:
  explicit Blis487Lookup(const LookupContext& context) : context_(context) {
    for (const TableFile& file : context_.store->files()) {
      if (file.op == Op::attention_prefill) keys_.push_back(key_of(file));
    }
    std::sort(keys_.begin(), keys_.end());  // string order: "32-32-128" before "32-8-128"
  }

  bool answer(const Query& query, Estimate& estimate, RowsUsed* trace) const override {
    switch (query.op) {
      case Op::gemm:
        gemm(query, estimate, trace);
        break;
      case Op::attention_prefill:
        prefill(query, estimate, trace);
        break;
      case Op::attention_decode:
        decode(query, estimate, trace);
        break;
      default:
        return false;
    }
    const double peak = context_.peak_flop_per_s(query.op == Op::gemm ? query.dtype : Dtype::bf16);
    estimate.latency_s = peak > 0 ? flop_of(query) / (peak * estimate.mfu)
                                  : std::numeric_limits<double>::quiet_NaN();
    return true;
  }

 private:
  static std::string key_of(const TableFile& file) {
    return file.name.substr(file.name.rfind('/') + 1,
                            file.name.rfind('.') - file.name.rfind('/') - 1);
  }

  /// "32-8-128", as the files are called.
  static std::string shape_of(const Query& query) {
    const auto whole = [](double count) { return std::to_string(static_cast<int>(count)); };
    return whole(query.heads) + "-" + whole(query.kv_heads) + "-" + whole(query.head_dim);
  }

  [[noreturn]] static void nothing(const std::string& what) {
    throw LookupError(LookupFailure::no_table, "lookup blis487", what);
  }

  /// The prefill file of this shape, or the nearest in (heads, kv_heads, head_dim).
  std::string resolved(const Query& query) const {
    if (keys_.empty()) nothing("there are no prefill attention tables");
    const std::string wanted = shape_of(query);
    if (std::binary_search(keys_.begin(), keys_.end(), wanted)) return wanted;
    double nearest = std::numeric_limits<double>::infinity();
    std::string picked;
    for (const std::string& key : keys_) {
      int h = 0, g = 0, d = 0;
      if (std::sscanf(key.c_str(), "%d-%d-%d", &h, &g, &d) != 3) continue;
      const double dh = h - query.heads, dg = g - query.kv_heads, dd = d - query.head_dim;
      const double distance = std::sqrt(dh * dh + dg * dg + dd * dd);
      if (distance < nearest) nearest = distance, picked = key;
    }
    return picked;
  }

  const KernelTable& file(Op op, const std::string& key) const {
    for (std::size_t i = 0; i < context_.store->files().size(); ++i) {
      const TableFile& found = context_.store->files()[i];
      if (found.op == op && key_of(found) == key) return context_.store->table(i);
    }
    nothing("no table of " + std::string(name(op)) + " '" + key + "'");
  }

  /// Which tp of that key has a decode file: the same, else the nearest, ties to the smaller.
  int nearest_tp(const std::string& key, int wanted) const {
    std::optional<int> best;
    for (const TableFile& found : context_.store->files()) {
      if (found.op != Op::attention_decode || !key_of(found).starts_with(key + "-tp")) continue;
      const int gap = std::abs(found.tp - wanted);
      if (!best || gap < std::abs(*best - wanted) ||
          (gap == std::abs(*best - wanted) && found.tp < *best)) {
        best = found.tp;
      }
    }
    if (!best) nothing("no decode table of '" + key + "'");
    return *best;
  }

  template <typename Distance>
  void replace_zero(const KernelTable& table, Distance distance, Estimate& estimate,
                    RowsUsed* trace) const {
    if (!(estimate.mfu < least_mfu)) return;
    double nearest = std::numeric_limits<double>::infinity();
    int picked = -1;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.rows[i].listed_mfu < least_mfu) continue;
      const double d = distance(table.rows[i].shape);
      if (d < nearest) nearest = d, picked = static_cast<int>(i);
    }
    estimate.mfu = picked < 0 ? least_mfu : table.rows[static_cast<std::size_t>(picked)].listed_mfu;
    estimate.evidence =
        picked < 0 ? Evidence::assumed : worst(estimate.evidence, Evidence::stand_in);
    estimate.selected_row = picked;
    if (trace != nullptr) trace->remark = "the cell is 0: nearest row that is not";
    if (trace != nullptr && picked >= 0) trace->used.push_back({&table, picked});
  }

  void prefill(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const std::string key = resolved(query);
    const KernelTable& table = file(Op::attention_prefill, key);
    std::map<double, std::size_t> row_of;
    for (std::size_t i = 0; i < table.rows.size(); ++i) row_of.emplace(table.rows[i].shape[5], i);
    std::vector<double> lengths;
    for (const auto& [length, row] : row_of) lengths.push_back(length);
    const Bracket b = bracket(query.new_tokens, lengths);
    const KernelRow& low = table.rows[row_of[b.low]];
    const KernelRow& high = table.rows[row_of[b.high]];
    estimate.mfu = interpolate(query.new_tokens, b.low, b.high, low.listed_mfu, high.listed_mfu);
    estimate.rows = b.low == b.high ? 1 : 2;
    estimate.evidence = shape_evidence(query, key, evidence_at(query.new_tokens, b));
    note(table, {static_cast<int>(row_of[b.low]), static_cast<int>(row_of[b.high])}, trace);
    replace_zero(
        table, [&](const auto& s) { return std::abs(s[5] - query.new_tokens); }, estimate, trace);
  }

  static Evidence shape_evidence(const Query& query, const std::string& key, Evidence found) {
    return key == shape_of(query) ? found : worst(found, Evidence::stand_in);
  }

  void decode(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const std::string key = resolved(query);
    const int tp = nearest_tp(key, static_cast<int>(query.tp));
    const KernelTable& table = file(Op::attention_decode, key + "-tp" + std::to_string(tp));
    std::vector<double> batches, contexts;
    std::map<std::pair<double, double>, int> cells;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const auto& s = table.rows[i].shape;
      batches.push_back(s[3]);
      contexts.push_back(s[4]);
      cells.emplace(std::pair(s[3], s[4]), static_cast<int>(i));
    }
    const Bracket b = bracket(query.batch, distinct(batches));
    const Bracket c = bracket(query.context_tokens, distinct(contexts));
    std::vector<int> used;
    bool hole = false;
    const auto cell = [&](double batch, double context) {  // a missing cell reads 0
      const auto found = cells.find({batch, context});
      if (found == cells.end()) {
        hole = true;
        return 0.0;
      }
      used.push_back(found->second);
      return table.rows[static_cast<std::size_t>(found->second)].listed_mfu;
    };
    const double at_low =
        interpolate(query.batch, b.low, b.high, cell(b.low, c.low), cell(b.high, c.low));
    const double at_high =
        interpolate(query.batch, b.low, b.high, cell(b.low, c.high), cell(b.high, c.high));
    estimate.mfu = interpolate(query.context_tokens, c.low, c.high, at_low, at_high);
    const Evidence found = worst(evidence_at(query.batch, b), evidence_at(query.context_tokens, c));
    estimate.evidence =
        shape_evidence(query, key, hole || tp != query.tp ? Evidence::stand_in : found);
    note(table, used, trace);
    estimate.rows = static_cast<std::int32_t>(distinct({used.begin(), used.end()}).size());
    replace_zero(
        table,
        [&](const auto& s) {
          const double db = s[3] - query.batch, dc = s[4] - query.context_tokens;
          return std::sqrt(db * db + dc * dc);
        },
        estimate, trace);
  }

  /// (K, N) that covers (k, n) most tightly; none: the largest.
  std::pair<double, double> covering(const KernelTable& table, const Query& query) const {
    double nearest = std::numeric_limits<double>::infinity();
    double largest = -1;
    std::pair<double, double> cover{-1, -1}, biggest{-1, -1};
    for (const KernelRow& row : table.rows) {
      const double k = row.shape[1], n = row.shape[2];
      const double size = k * k + n * n;
      if (size > largest) largest = size, biggest = {k, n};
      if (k < query.k || n < query.n) continue;
      const double dk = k - query.k, dn = n - query.n;
      const double distance = dk * dk + dn * dn;
      if (distance < nearest) nearest = distance, cover = {k, n};
    }
    return cover.first < 0 ? biggest : cover;
  }

  void gemm(const Query& query, Estimate& estimate, RowsUsed* trace) const {
    const KernelTable& table = file(Op::gemm, "data");
    const auto [k, n] = covering(table, query);
    std::map<double, int> row_of;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const auto& s = table.rows[i].shape;
      if (s[1] == k && s[2] == n) row_of.emplace(s[0], static_cast<int>(i));
    }
    if (row_of.empty()) nothing("the GEMM table has no rows");
    std::vector<double> ms;
    for (const auto& [m, row] : row_of) ms.push_back(m);
    const Bracket b = bracket(query.m, ms);
    const auto mfu = [&](double m) {
      return table.rows[static_cast<std::size_t>(row_of[m])].listed_mfu;
    };
    estimate.mfu = interpolate(query.m, b.low, b.high, mfu(b.low), mfu(b.high));
    estimate.rows = b.low == b.high ? 1 : 2;
    estimate.evidence = evidence_at(query.m, b);
    if (k != query.k || n != query.n) estimate.evidence = Evidence::stand_in;
    note(table, {row_of[b.low], row_of[b.high]}, trace);
    replace_zero(
        table,
        [&](const auto& s) {
          const double dm = s[0] - query.m, dk = s[1] - query.k, dn = s[2] - query.n;
          return std::sqrt(dm * dm + dk * dk + dn * dn);
        },
        estimate, trace);
  }

  static void note(const KernelTable& table, const std::vector<int>& rows, RowsUsed* trace) {
    if (trace == nullptr) return;
    for (const int row : rows) trace->used.push_back({&table, row});
  }

  LookupContext context_;
  std::vector<std::string> keys_;
};

}  // namespace

std::unique_ptr<Lookup> blis487_lookup(const LookupContext& context) {
  return std::make_unique<Blis487Lookup>(context);
}

}  // namespace rooflua
