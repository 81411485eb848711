#include "cost/model/experts.h"

#include <algorithm>
#include <array>

#include "cost/model/arithmetic.h"
#include "cost/work/formulas.h"
#include "cost/work/op_work.h"

namespace rooflua::modelled {

namespace {

struct Tile {
  double rows, columns;
};
/// Bytes that a tile loads for each step of k: those of the m rows there are.
inline double loaded_by(Tile tile, double m, double n, Elements e) {
  return std::min(m, tile.rows) * e.in + std::min(n, tile.columns) * e.weight;
}

/// Time on one SM of a tile that walks k in `steps`: its math or its loads, whichever is slower.
/// Loads stop at the m rows there are, math does not.
inline double tile_time(Tile tile, double loaded, double steps, const Gpu& gpu) {
  const double flop = 2 * tile.rows * steps * tile.columns;  // no call: loops over this are vectors
  const double math = flop / (gpu.peak / gpu.sms * gpu.constants.gemm_math);
  const double load = loaded * steps / (gpu.constants.gemm_sm_bytes_per_clock * gpu.clock_hz);
  return gpu.constants.gemm_tile_s + std::max(math, load);
}

/// `experts` GEMMs of `rows` rows each, in one launch; fractional rows are an average.
double grouped_time(double experts, double rows, double k, double n, Elements e, const Gpu& gpu) {
  constexpr std::array<Tile, 8> tiles{
      {{16, 64}, {16, 128}, {32, 128}, {64, 64}, {64, 128}, {128, 128}, {128, 256}, {256, 128}}};
  const double bytes = experts * bytes::gemm(rows, k, n, e.in, e.weight, e.out);
  const double steps = steps_of(k);
  std::array<double, tiles.size()> math;  // the least of them decides: one root is enough
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const Tile tile = tiles[i];
    const double count = experts * whole_above(rows / tile.rows) * whole_above(n / tile.columns);
    const Tile computed{std::max(tile.rows, 64.0), tile.columns};  // the smallest tensor-core step
    const double waves = std::max(1.0, count / gpu.sms);
    const double loaded = loaded_by(computed, std::min(rows, tile.rows), n, e);
    math[i] = waves * tile_time(computed, loaded, steps, gpu);
  }
  return overlapped(*std::min_element(math.begin(), math.end()), gpu.traffic(bytes));
}

}  // namespace

double quantize_s(double tokens, double width, const Gpu& gpu) {
  const double bytes = bytes::quantize(1, width, 2);
  const double row = std::max(gpu.constants.quantize_row_s,
                              bytes / (gpu.constants.quantize_sm_bytes_per_clock * gpu.clock_hz));
  const double traffic = gpu.traffic(bytes::quantize(tokens, width, 2));
  return gpu.constants.kernel_launch_s + std::max(whole_above(tokens / gpu.sms) * row, traffic);
}

Priced grouped_gemm(const Query& query, const Hardware& hardware) {
  const Gpu gpu = gpu_for(query, hardware);
  const Elements e = elements(query.dtype, hardware);
  positive(query.op, "experts", query.experts);
  positive(query.op, "ranks", query.ranks);
  const double topk = positive(query.op, "experts_per_token", query.experts_per_token);
  const double hidden = positive(query.op, "hidden_size", query.hidden_size);
  const double tp = positive(query.op, "tp", query.tp);
  const double width = positive(query.op, "intermediate_size", query.intermediate_size) / tp;
  const double parts = expert_groups(query);
  const double tokens = positive(query.op, "tokens", query.tokens);
  const double touched = touched_experts(query);
  const double rows = tokens * topk;
  const bool narrow = e.in < 2;
  const Gpu math = narrow ? gpu.slowed(gpu.constants.expert_fp8_math) : gpu;
  const double moved = rows * (narrow ? 1 : parts);
  const double up = query.gated != 0 ? 2 : 1;  // matrices of the first GEMM
  const double routed = gpu.constants.expert_row_traffic * 2 * moved * ((up + 1) * width + hidden);
  const double quantize =
      narrow ? quantize_s(tokens * parts, hidden, gpu) + quantize_s(rows, width, gpu) : 0;
  const double latency = gpu.constants.grouped_launch_s + gpu.traffic(routed) +
                         grouped_time(touched, rows / touched, hidden, up * width, e, math) +
                         grouped_time(touched, rows / touched, width, hidden, e, math) + quantize;
  return {latency, flop_of(query), gpu.peak};
}

Priced moe_layer(const Query& query, const Hardware& hardware) {
  return grouped_gemm(work::experts_of_rank(query), hardware);
}

}  // namespace rooflua::modelled
