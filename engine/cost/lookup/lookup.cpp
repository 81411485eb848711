#include "cost/lookup/lookup.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace rooflua {
namespace {

/// Ops whose tables print an MFU.
bool has_mfu(Op op) {
  return op == Op::gemm || op == Op::attention_prefill || op == Op::attention_decode ||
         op == Op::mla_prefill || op == Op::mla_decode;
}

}  // namespace

TableStore::TableStore(std::vector<TableFile> files)
    : files_(std::move(files)), tables_(files_.size()) {}

TableStore::TableStore(std::vector<KernelTable> tables) {
  for (KernelTable& table : tables) {
    TableFile file;
    file.name = table.name;
    file.op = table.op;
    file.dtype = table.dtype;
    file.variant = table.variant;
    file.tp = table.tp;
    file.decode = table.decode;
    file.quantizes = table.quantizes;
    files_.push_back(std::move(file));
    tables_.push_back(std::make_unique<const KernelTable>(std::move(table)));
  }
}

const KernelTable& TableStore::table(std::size_t index) const {
  auto& table = tables_[index];
  if (!table) table = std::make_unique<const KernelTable>(read_table(files_[index]));
  return *table;
}

std::vector<const KernelTable*> TableStore::tables_of(Op op) const {
  std::vector<const KernelTable*> result;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].op == op) result.push_back(&table(i));
  }
  return result;
}

const KernelTable* TableStore::named(std::string_view name) const {
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i].name == name) return &table(i);
  }
  return nullptr;
}

bool TableStore::has(Op op) const {
  return std::any_of(files_.begin(), files_.end(), [op](const TableFile& f) { return f.op == op; });
}

int TableStore::loaded() const {
  return static_cast<int>(std::count_if(tables_.begin(), tables_.end(),
                                        [](const auto& table) { return table != nullptr; }));
}

double LookupContext::peak_flop_per_s(Dtype dtype) const {
  if (hardware) {
    const auto found = hardware->peak.find(dtype);
    if (found != hardware->peak.end()) return found->second.in_base_units();
  }
  for (std::size_t i = 0; i < store->files().size(); ++i) {
    const TableFile& file = store->files()[i];
    const bool printed = file.path.empty() || file.form <= TableForm::mla_decode;
    if (file.dtype != dtype || !has_mfu(file.op) || !printed) continue;
    const double peak = implied_peak(store->table(i)).median.in_base_units();
    if (peak > 0) return peak;
  }
  return 0;
}

double round3(double value) {
  char text[400];
  std::snprintf(text, sizeof text, "%.3f", value);
  return std::strtod(text, nullptr);
}

namespace {

double per_rank(int heads, int tp) {
  return std::max(1.0, static_cast<double>(heads) / std::max(1, tp));
}
double requests(const Query& q) {
  return q.batch > 0 ? q.batch : 1;
}
double causal_pairs(const Query& q) {
  return q.new_tokens * q.context_tokens + 0.5 * q.new_tokens * q.new_tokens;
}
/// Experts of one rank and the width of each there.
double local_experts(const Query& q) {
  return std::max(1.0, q.experts / std::max(1.0, static_cast<double>(q.ranks) / std::max(1, q.tp)));
}

}  // namespace

double passes(Kernel kernel) {
  switch (kernel) {
    case Kernel::norm:
      return 4;
    case Kernel::silu_mul:
      return 3;
    case Kernel::quantize:
      return 1.5;
    default:
      return 2;
  }
}

double flop_of(const Query& q) {
  const double h = per_rank(q.heads, q.tp);
  switch (q.op) {
    case Op::gemm:
      return 2 * q.m * q.k * q.n;
    case Op::attention_prefill:
      return 4 * h * q.head_dim * requests(q) * causal_pairs(q);
    case Op::attention_decode:
      return 4 * h * q.head_dim * requests(q) * q.context_tokens;
    case Op::mla_prefill: {
      const int value = q.v_head_dim > 0 ? q.v_head_dim : q.qk_nope_head_dim;
      return 2 * h * (q.qk_nope_head_dim + q.qk_rope_head_dim + value) * requests(q) *
             causal_pairs(q);
    }
    case Op::mla_decode:
      return 2 * h * (2 * q.kv_lora_rank + q.qk_rope_head_dim) * requests(q) * q.context_tokens;
    case Op::grouped_gemm:
      return 6 * q.tokens * q.experts_per_token * q.hidden_size * q.intermediate_size /
             std::max(1, q.tp);
    default:
      return 0;
  }
}

double bytes_of(const Query& q) {
  const double e = bytes_per_element(q.dtype);
  const double kv = bytes_per_element(q.kv_dtype);
  const double g = per_rank(q.kv_heads, q.tp);
  const double h = per_rank(q.heads, q.tp);
  switch (q.op) {
    case Op::gemm:
      return e * (q.m * q.k + q.k * q.n) + 2 * q.m * q.n;
    case Op::attention_prefill:
      return requests(q) * (kv * 2 * g * q.head_dim * (q.new_tokens + q.context_tokens) +
                            2 * 2 * h * q.head_dim * q.new_tokens);
    case Op::attention_decode:
      return requests(q) * kv * 2 * g * q.head_dim * q.context_tokens;
    case Op::mla_prefill:
      return requests(q) * 2 * h * (q.qk_nope_head_dim + q.qk_rope_head_dim) * 3 * q.new_tokens;
    case Op::mla_decode:
      return requests(q) * kv * (q.kv_lora_rank + q.qk_rope_head_dim) * q.context_tokens;
    case Op::grouped_gemm: {
      const double experts = local_experts(q);
      const double visits =
          q.tokens * q.experts_per_token * std::max(1, q.tp) / std::max(1, q.ranks);
      const double touched = experts * (1 - std::pow(1 - 1 / experts, std::max(1.0, visits)));
      return e * 3 * q.hidden_size * q.intermediate_size / std::max(1, q.tp) * touched;
    }
    case Op::all_reduce:
    case Op::memory:
      return q.bytes;
    case Op::elementwise:
      return 2 * passes(q.kernel) * q.tokens * q.width;
    default:
      return 0;
  }
}

}  // namespace rooflua
