#include "cost/tables/kernel_table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/power.h"

namespace rooflua {
namespace {

constexpr std::array<std::string_view, 10> kernel_words = {
    "none",       "copy", "read", "write",    "launch",
    "graph_node", "norm", "rope", "silu_mul", "quantize"};

/// Rows whose MFU has so few digits that it says nothing about the peak are left out.
bool tells_the_peak(const KernelTable& table, double listed) {
  return listed >= 10 * power_of_ten(-table.mfu_decimals);
}

void set_grouped(Query& q, const KernelRow& row) {
  const auto& s = row.shape;
  q.experts = static_cast<int>(s[0]);
  q.ranks = std::max(1, static_cast<int>(s[1]));
  q.tp =
      std::max(1, static_cast<int>(s[2] * q.ranks / s[0]));  // experts per rank * ranks / experts
  q.experts_per_token = static_cast<int>(s[3]);
  q.hidden_size = s[4];
  q.intermediate_size = s[5] * q.tp;
  q.tokens = s[6];
}

void set_attention(Query& q, const std::array<double, max_axes>& s) {
  q.heads = static_cast<int>(s[0]);
  q.kv_heads = static_cast<int>(s[1]);
  q.head_dim = static_cast<int>(s[2]);
  q.batch = s[3];
  q.context_tokens = s[4];
  q.new_tokens = s[5];
}

}  // namespace

std::string_view name(FlopConvention convention) {
  switch (convention) {
    case FlopConvention::gemm_2mkn:
      return "2mkn";
    case FlopConvention::attention_full:
      return "full";
    case FlopConvention::attention_causal_half:
      return "causal_half";
    case FlopConvention::none:
      break;
  }
  return "none";
}

std::string_view name(Op op) {
  static constexpr std::array<std::string_view, op_count> names = {
      "gemm",       "attention_prefill", "attention_decode", "grouped_gemm", "mla_prefill",
      "mla_decode", "linear_attention",  "all_reduce",       "memory",       "launch",
      "elementwise"};
  return names[static_cast<std::size_t>(op)];
}

std::string_view name(Kernel kernel) {
  return kernel_words[static_cast<std::size_t>(kernel)];
}

std::optional<Kernel> parse_kernel(std::string_view text) {
  if (text == "kernel") return Kernel::launch;  // as launch tables call it
  for (std::size_t i = 1; i < kernel_words.size(); ++i) {
    if (kernel_words[i] == text) return static_cast<Kernel>(i);
  }
  return std::nullopt;
}

std::optional<Op> parse_op(std::string_view text) {
  for (int i = 0; i < op_count; ++i) {
    if (name(static_cast<Op>(i)) == text) return static_cast<Op>(i);
  }
  return std::nullopt;
}

std::vector<std::string> axis_names(Op op) {
  switch (op) {
    case Op::gemm:
      return {"m", "k", "n"};
    case Op::attention_prefill:
      return {"heads", "kv_heads", "head_dim", "batch", "context_tokens", "new_tokens"};
    case Op::attention_decode:
      return {"heads", "kv_heads", "head_dim", "batch", "context_tokens"};
    case Op::mla_prefill:
      return {"heads", "qk_nope_head_dim", "qk_rope_head_dim",
              "batch", "context_tokens",   "new_tokens"};
    case Op::mla_decode:
      return {"heads", "kv_lora_rank", "qk_rope_head_dim", "batch", "context_tokens"};
    case Op::grouped_gemm:
      return {"experts",           "ranks",  "local_experts", "experts_per_token", "hidden_size",
              "intermediate_size", "tokens", "distribution"};
    case Op::linear_attention:
      return {"conv", "key_heads", "key_head_dim", "value_heads", "value_head_dim", "tokens"};
    case Op::all_reduce:
      return {"ranks", "bytes", "mode"};
    case Op::memory:
      return {"kernel", "bytes"};
    case Op::launch:
      return {"kernel"};
    case Op::elementwise:
      return {"kernel", "tokens", "width", "dtype"};
  }
  return {};
}

double flop_of(const KernelTable& table, const KernelRow& row) {
  const auto& s = row.shape;
  const double causal = table.convention == FlopConvention::attention_causal_half ? 0.5 : 1.0;
  switch (table.op) {
    case Op::gemm:
      return 2 * s[0] * s[1] * s[2];
    case Op::attention_prefill:
      return 4 * s[0] * s[2] * s[3] * (s[5] * s[4] + causal * s[5] * s[5]);
    case Op::attention_decode:
      return 4 * s[0] * s[2] * s[3] * s[4];
    case Op::mla_prefill:  // value heads are as wide as the keys without rope
      return 2 * s[0] * (2 * s[1] + s[2]) * s[3] * (s[5] * s[4] + causal * s[5] * s[5]);
    case Op::mla_decode:
      return 2 * s[0] * (2 * s[1] + s[2]) * s[3] * s[4];
    default:
      return 0;
  }
}

double derived_mfu(const KernelTable& table, const KernelRow& row, FlopPerSecond peak) {
  const double flop = flop_of(table, row);
  if (!(flop > 0) || !(row.latency_s > 0) || !(peak.in_base_units() > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return flop / (row.latency_s * peak.in_base_units());
}

ImpliedPeak implied_peak(const KernelTable& table) {
  std::vector<double> peaks;
  for (const KernelRow& row : table.rows) {
    const double flop = flop_of(table, row);
    if (flop > 0 && row.latency_s > 0 && tells_the_peak(table, row.listed_mfu)) {
      peaks.push_back(flop / (row.latency_s * row.listed_mfu));
    }
  }
  if (peaks.empty()) return {};
  std::sort(peaks.begin(), peaks.end());
  return {FlopPerSecond(peaks.front()), FlopPerSecond(peaks[peaks.size() / 2]),
          FlopPerSecond(peaks.back())};
}

Query query_of(const KernelTable& table, const KernelRow& row) {
  const auto& s = row.shape;
  Query q;
  q.op = table.op;
  q.dtype = table.dtype;
  q.kv_dtype = row.kv_dtype;
  q.decode = table.decode;
  const auto word = [&](std::size_t axis) {
    return std::string_view(table.labels[static_cast<std::size_t>(s[axis])]);
  };
  switch (table.op) {
    case Op::gemm:
      q.m = s[0];
      q.k = s[1];
      q.n = s[2];
      break;
    case Op::attention_prefill:
    case Op::attention_decode:
      set_attention(q, s);
      break;
    case Op::mla_prefill:
      set_attention(q, s);
      q.qk_nope_head_dim = q.v_head_dim = q.kv_heads;
      q.qk_rope_head_dim = q.head_dim;
      break;
    case Op::mla_decode:
      set_attention(q, s);
      q.kv_lora_rank = q.kv_heads;
      q.qk_rope_head_dim = q.head_dim;
      break;
    case Op::grouped_gemm:
      set_grouped(q, row);
      break;
    case Op::linear_attention:
      q.conv = static_cast<int>(s[0]);
      q.key_heads = static_cast<int>(s[1]);
      q.key_head_dim = static_cast<int>(s[2]);
      q.value_heads = static_cast<int>(s[3]);
      q.value_head_dim = static_cast<int>(s[4]);
      (q.decode ? q.batch : q.new_tokens) = s[5];
      break;
    case Op::all_reduce:
      q.ranks = static_cast<int>(s[0]);
      q.bytes = s[1];
      q.eager = word(2).ends_with("eager");
      break;
    case Op::memory:
      q.bytes = s[1];
      q.kernel = parse_kernel(word(0)).value_or(Kernel::none);
      break;
    case Op::launch:
      q.kernel = parse_kernel(word(0)).value_or(Kernel::none);
      break;
    case Op::elementwise:
      q.kernel = parse_kernel(word(0)).value_or(Kernel::none);
      q.tokens = s[1];
      q.width = s[2];
      break;
  }
  return q;
}

}  // namespace rooflua
