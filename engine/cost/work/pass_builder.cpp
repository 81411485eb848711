#include "cost/work/pass_builder.h"

#include <algorithm>
#include <utility>

#include "cost/work/formulas.h"

namespace rooflua {

LayerOp& PassBuilder::add(std::string name, Op op, double count) {
  LayerOp& added = ops_.emplace_back();
  added.name = std::move(name) + suffix_;
  added.op = op;
  added.count = count;
  added.dtype = model_.dtype;
  added.kind = kind_;
  added.rows = rows_;
  return added;
}

LayerOp& PassBuilder::gemm(std::string name, double k, double n, double count, Dtype dtype,
                           Rows rows, double groups) {
  const double weight_element = bytes_per_element(dtype);
  if (rows == Rows::tokens) rows = rows_;
  if (format_of(dtype).quantizes_input) {
    elementwise("quantize_" + name, count, bytes::quantize(1, k * groups, act_), "quantize");
    ops_.back().rows = rows;
    ops_.back().k = k * groups;
    ops_.back().dtype = dtype;  // what it writes
  }
  LayerOp& added = add(std::move(name), Op::gemm, count);
  added.rows = rows;
  added.k = k;
  added.n = n;
  added.groups = groups;
  added.dtype = dtype;
  added.flop_per_row = flop::gemm(1, k, n) * groups;
  added.bytes_per_row = (std::min(weight_element, act_) * k + act_ * n) * groups;
  added.weight_bytes = bytes::weight(k, n, weight_element) * groups;
  return added;
}

void PassBuilder::elementwise(std::string name, double count, double bytes_per_row,
                              std::string_view kernel) {
  LayerOp& added = add(std::move(name), Op::elementwise, count);
  added.bytes_per_row = bytes_per_row;
  added.kernel = kernel;
}

void PassBuilder::norm(std::string name, double count) {
  elementwise(std::move(name), count, bytes::add_norm(1, hidden_, act_), "norm");
  ops_.back().weight_bytes = hidden_ * act_;
}

void PassBuilder::all_reduce(std::string name, double count, double bytes_per_row) {
  add(std::move(name), Op::all_reduce, count).bytes_per_row = bytes_per_row;
}

void PassBuilder::attend(Op op, Rows rows, double count, double heads, double kv_heads,
                         double head_dim, double kv_bytes) {
  LayerOp& added = add(std::string(rooflua::name(op)), op, count);
  added.rows = rows;
  added.heads = heads;
  added.kv_heads = kv_heads;
  added.head_dim = head_dim;
  added.bytes_per_row = kv_bytes;
  added.kv = kv_dtype_;
}

void PassBuilder::declared_layers(const declared::Kind& kind, double count) {
  kind.check_split(widths_.tp);
  for (const declared::Operation& each : kind.operations) {
    const double part = *declared::part_of(each.split, each.heads, widths_.tp);
    if (each.kind == declared::OpKind::gemm) {
      declared_gemm(kind, each, count);
    } else if (each.kind == declared::OpKind::attention) {
      const double heads = each.heads / tp_, kv_heads = std::max(1.0, each.kv_heads / tp_);
      const double width =
          each.one_vector ? each.head_dim : (each.head_dim + each.v_head_dim) / 2.0;
      const double bytes = (each.one_vector ? 1 : 2) * kv_heads * width * kv_bytes_of(width);
      attend(Op::attention_prefill, Rows::prefill_tokens, count, heads, kv_heads, each.head_dim,
             bytes);
      attend(Op::attention_decode, Rows::decode_tokens, count, heads, kv_heads, each.head_dim,
             bytes);
    } else if (each.kind == declared::OpKind::elementwise) {
      const double kept = each.cache_elements;
      const double width = declared::vector_width(kept, each.heads);
      elementwise(each.name, count, part * (each.elements * act_ + kept * kv_bytes_of(width)),
                  each.kernel);
    } else {
      declared_work(each, part, count);
    }
  }
}

void PassBuilder::declared_gemm(const declared::Kind& kind, const declared::Operation& op,
                                double count) {
  double columns = 0, rows = 0, biases = 0;
  for (const std::size_t i : op.weights) {
    const declared::Weight& each = kind.weights[i];
    const double part = *declared::part_of(each.split, each.heads, widths_.tp);
    columns += each.columns * (each.split == declared::Split::columns ? part : 1);
    if (each.bias) biases += each.columns * (each.split == declared::Split::columns ? part : 1);
    rows = each.rows * (each.split == declared::Split::rows ? part : 1);
  }
  constexpr Rows seen[] = {Rows::tokens, Rows::prefill_tokens, Rows::decode_tokens};
  const int weight_class = kind.weights[op.weights.front()].weight_class;
  gemm(op.name, rows, columns, count, format(static_cast<WeightClass>(weight_class)), seen[op.rows])
      .weight_bytes += biases * act_;
}

void PassBuilder::declared_work(const declared::Operation& op, double part, double count) {
  LayerOp& added = add(op.name, Op::linear_attention, count);
  added.work = &op;
  added.part = part;
  added.dtype = op.format;
  added.flop_per_row = part * op.flop[static_cast<std::size_t>(declared::Symbol::tokens)];
}

}  // namespace rooflua
