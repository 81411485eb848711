#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/error.h"
#include "cost/model/kernel.h"
#include "cost/work/formulas.h"
#include "cost/work/op_work.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr KernelConstants fitted;

Hardware gpu(double tflop_per_s, double gb_per_s) {
  Hardware hardware;
  hardware.name = "test";
  hardware.peak[Dtype::bf16] = tflop_per_s * unit::TFLOP / unit::s;
  hardware.memory_bandwidth = gb_per_s * unit::GB / unit::s;
  hardware.link_bandwidth = 450 * unit::GB / unit::s;
  hardware.sms = 132;
  hardware.clock_hz = 1.98e9;
  return hardware;
}
const Hardware h200 = gpu(989.4, 4800);

/// Sizes between 1 and `most`, small ones as likely as large ones.
class Sizes {
 public:
  double pick(double most) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    const double uniform = double(state_ >> 11) / 9007199254740992.0;
    return std::floor(std::pow(most, uniform));
  }

 private:
  std::uint64_t state_ = 7;
};

Query gemm(double m, double k, double n) {
  Query query;
  query.op = Op::gemm;
  query.m = m, query.k = k, query.n = n;
  return query;
}

Query attention(Op op, int heads, int kv_heads, double batch, double t, double context) {
  Query query;
  query.op = op;
  query.heads = heads, query.kv_heads = kv_heads, query.head_dim = 128;
  query.batch = batch, query.new_tokens = t, query.context_tokens = context;
  query.qk_nope_head_dim = 128, query.qk_rope_head_dim = 64, query.v_head_dim = 128;
  query.kv_lora_rank = 512;
  return query;
}

Query grouped(double tokens, int experts, int topk, int ranks) {
  Query query;
  query.op = Op::grouped_gemm;
  query.experts = experts, query.experts_per_token = topk, query.ranks = ranks;
  query.hidden_size = 2048, query.intermediate_size = 768, query.tokens = tokens;
  return query;
}

Query passing_over(double kernel, double tokens, double width) {
  Query query;
  query.op = Op::elementwise;
  query.kernel = kernel, query.tokens = tokens, query.width = width;
  return query;
}

double seconds(const Query& query, const Hardware& hardware = h200) {
  return modelled_kernel(query, hardware).latency_s;
}

/// Never above peak, never below bytes / bandwidth, and honest about what it is.
void check_ceiling(const Query& query, double flop, double bytes) {
  const Estimate estimate = modelled_kernel(query, h200);
  CHECK(estimate.evidence == Evidence::modelled);
  CHECK(estimate.rows == 0);
  CHECK(estimate.mfu > 0);
  CHECK(estimate.mfu < 1);
  CHECK(estimate.mfu == Approx(flop / (estimate.latency_s * 989.4e12)));
  CHECK(estimate.latency_s >= bytes / 4800e9);
}

}  // namespace

TEST_CASE("no modelled GEMM beats the ceiling, and none gets faster with more rows") {
  Sizes sizes;
  for (int round = 0; round < 300; ++round) {
    const double k = sizes.pick(65536), n = sizes.pick(65536);
    double before = 0;
    double m = sizes.pick(300);
    for (int step = 0; step < 20; ++step) {
      check_ceiling(gemm(m, k, n), flop::gemm(m, k, n), bytes::gemm(m, k, n, 2, 2, 2));
      const double time = seconds(gemm(m, k, n));
      CHECK(time >= before);
      CHECK(seconds(gemm(m, k + 1, n)) >= time);
      CHECK(seconds(gemm(m, k, n + 1)) >= time);
      before = time;
      m = step < 5 ? m + 1 : std::ceil(m * 1.3);
    }
  }
}

TEST_CASE("no modelled attention beats the ceiling, and none gets faster with more tokens") {
  Sizes sizes;
  for (int round = 0; round < 200; ++round) {
    const int kv_heads = 1 << int(sizes.pick(4) - 1), group = int(sizes.pick(16));
    const int heads = kv_heads * group;
    const double batch = sizes.pick(256), t = sizes.pick(16384), p = sizes.pick(65536) - 1;
    const Query prefill = attention(Op::attention_prefill, heads, kv_heads, batch, t, p);
    check_ceiling(prefill, batch * flop::attention_prefill(heads, 128, t, p),
                  batch * bytes::attention_prefill(heads, kv_heads, 128, t, p, 2, 2));
    for (const Op op : {Op::attention_prefill, Op::mla_prefill}) {
      const double time = seconds(attention(op, heads, kv_heads, batch, t, p));
      CHECK(seconds(attention(op, heads, kv_heads, batch, t + 1, p)) >= time);
      CHECK(seconds(attention(op, heads, kv_heads, batch, t, p + 1)) >= time);
      CHECK(seconds(attention(op, heads, kv_heads, batch + 1, t, p)) >= time);
    }
    const Query decode = attention(Op::attention_decode, heads, kv_heads, batch, 0, p + 1);
    check_ceiling(decode, batch * flop::attention(heads, 128, p + 1),
                  batch * bytes::kv(p + 1, kv_heads, 128, 2));
    for (const Op op : {Op::attention_decode, Op::mla_decode}) {
      const double time = seconds(attention(op, heads, kv_heads, batch, 0, p + 1));
      CHECK(seconds(attention(op, heads, kv_heads, batch, 0, p + 2)) >= time);
      CHECK(seconds(attention(op, heads, kv_heads, batch + 1, 0, p + 1)) >= time);
    }
  }
}

TEST_CASE("a grouped GEMM reads the experts that its tokens touch, and more tokens take longer") {
  for (const int ranks : {1, 4}) {
    double before = 0;
    for (double tokens = 1; tokens < 20000; tokens = std::ceil(tokens * 1.1)) {
      const double touched = bytes::touched_experts(128, 8, tokens * ranks) / ranks;
      check_ceiling(grouped(tokens, 128, 8, ranks), flop::experts(tokens, 8, 2048, 768),
                    touched * 3 * 2048 * 768 * 2);
      const double time = seconds(grouped(tokens, 128, 8, ranks));
      CHECK(time >= before);
      before = time;
    }
  }
}

TEST_CASE("a large GEMM runs at the stated share of peak, a thin one at that of bandwidth") {
  CHECK(modelled_kernel(gemm(8192, 8192, 8192), h200).mfu == Approx(fitted.gemm_math).epsilon(0.1));
  const double weights = 16384.0 * 65536 * 2;
  CHECK(weights / seconds(gemm(1, 16384, 65536)) ==
        Approx(fitted.memory_efficiency * 4800e9).epsilon(0.05));
  CHECK(seconds(gemm(1, 1, 1)) >= fitted.kernel_launch_s);
}

TEST_CASE("heads are divided by tp and KV heads at least one per rank") {
  const Query whole = attention(Op::attention_decode, 8, 1, 16, 0, 4096);
  Query sharded = attention(Op::attention_decode, 32, 2, 16, 0, 4096);
  sharded.tp = 4;
  CHECK(seconds(sharded) == seconds(whole));
}

TEST_CASE("an FP8 cache nearly halves the time of a long decode") {
  Query query = attention(Op::attention_decode, 32, 8, 128, 0, 32768);
  const double wide = seconds(query);
  query.kv_dtype = Dtype::fp8;
  CHECK(wide / seconds(query) > 1.7);
  CHECK(wide / seconds(query) <= 2);
}

TEST_CASE("narrow weights on a GPU that cannot multiply them save traffic, not arithmetic") {
  Query thin = gemm(1, 8192, 8192), fat = gemm(8192, 8192, 8192);
  const double thin_wide = seconds(thin), fat_wide = seconds(fat);
  thin.dtype = fat.dtype = Dtype::int4;
  CHECK(seconds(thin) < 0.45 * thin_wide);
  CHECK(seconds(fat) == Approx(fat_wide).epsilon(0.05));
}

TEST_CASE("moving bytes needs bandwidth alone, and an element-wise kernel its launch too") {
  Hardware bare;
  bare.name = "bare";
  bare.memory_bandwidth = 1000 * unit::GB / unit::s;
  Query query;
  query.op = Op::memory;
  query.bytes = 1e9;
  const double traffic = 1e-3 / fitted.memory_efficiency;
  CHECK(seconds(query, bare) == Approx(traffic));
  CHECK(std::isnan(modelled_kernel(query, bare).mfu));
  query.op = Op::launch;
  CHECK(seconds(query, bare) == fitted.kernel_launch_s);
  query = passing_over(Kernel::silu_mul, 1e5, 5000);  // two reads and one write of 16 bits
  CHECK(seconds(query, bare) == Approx(3 * traffic + fitted.kernel_launch_s));
}

TEST_CASE("no modelled element-wise kernel is faster than its own bytes, of any format and size") {
  Sizes sizes;
  Hardware narrow = h200;  // its SMs together ask for more than its memory gives
  narrow.memory_bandwidth = 300 * unit::GB / unit::s;
  for (int round = 0; round < 300; ++round) {
    const double tokens = sizes.pick(1e6), width = sizes.pick(65536);
    for (const double kernel :
         {Kernel::none, Kernel::norm, Kernel::rope, Kernel::silu_mul, Kernel::quantize}) {
      Query query = passing_over(kernel, tokens, width);
      const double wide = seconds(query, narrow);
      CHECK(wide >= bytes_of(query) / 300e9);
      query.dtype = Dtype::fp8;  // the tables of this op have 16 bits whatever the weights have
      CHECK(seconds(query, narrow) == wide);
    }
  }
}

TEST_CASE("an element-wise kernel moves what the formula of its bytes says") {
  CHECK(bytes_of(passing_over(Kernel::norm, 3, 100)) == bytes::add_norm(3, 100, 2));
  CHECK(bytes_of(passing_over(Kernel::rope, 3, 100)) == bytes::rope(3, 1, 0, 100, 2));
  CHECK(bytes_of(passing_over(Kernel::silu_mul, 3, 100)) == bytes::gated_activation(3, 100, 2));
  CHECK(bytes_of(passing_over(Kernel::quantize, 3, 100)) == bytes::quantize(3, 100, 2));
}

TEST_CASE("the experts that a question is priced with are those that its bytes count") {
  for (const double tokens : {1., 3., 17., 400., 30000.}) {
    for (const double ranks : {1., 2., 8.}) {
      for (const double tp : {1., 2.}) {
        Query gemms = grouped(tokens, 128, 8, 1);
        gemms.ranks = ranks * tp, gemms.tp = tp;
        const double weights = bytes::expert_weights(128, 8, tokens * ranks, 2048, 768, 2);
        CHECK(bytes_of(gemms) == Approx(weights / ranks / tp));
        Query layer = gemms;  // whose tokens are those of all ranks
        layer.op = Op::moe_layer, layer.expert_ranks = ranks, layer.tokens = tokens * ranks;
        CHECK(bytes_of(layer) == bytes_of(gemms));
        CHECK(flop_of(layer) == Approx(flop_of(gemms)));
        CHECK(seconds(layer) == Approx(seconds(gemms)));
      }
    }
  }
}

TEST_CASE("an all-reduce of the modelled kernel is the collective's") {
  Query query;
  query.op = Op::all_reduce;
  query.bytes = 1e6, query.ranks = 2;
  CHECK(seconds(query) == Approx(8.24e-6));
  CHECK(std::isnan(modelled_kernel(query, h200).mfu));
}

TEST_CASE("linear attention reads and writes its state, whatever the context") {
  Query query;
  query.op = Op::linear_attention;
  query.conv = 4, query.key_heads = 16, query.key_head_dim = 128;
  query.value_heads = 32, query.value_head_dim = 128;
  query.decode = true, query.batch = 256;
  const double state = bytes::gated_delta_state(16, 128, 32, 128, 4, 4, 2);
  CHECK(seconds(query) >= 2 * 256 * state / 4800e9);
  const double at_256 = seconds(query);
  query.batch = 257;
  CHECK(seconds(query) > at_256);
  query.decode = false, query.batch = 1, query.new_tokens = 4096;
  CHECK(modelled_kernel(query, h200).mfu < 1);
}

TEST_CASE("a shape that is none, or a GPU that does not say, is an error that names it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(seconds(gemm(0, 1, 1)), Error);
  CHECK_THROWS_AS(seconds(gemm(1, nan, 1)), Error);
  CHECK_THROWS_AS(seconds(attention(Op::attention_prefill, 0, 1, 1, 1, 0)), Error);
  CHECK_THROWS_AS(seconds(attention(Op::attention_prefill, 8, 1, 1, 1, -1)), Error);
  CHECK_THROWS_AS(seconds(grouped(1, 0, 2, 1)), Error);
  Hardware silent = h200;
  silent.sms = 0;
  CHECK_THROWS_AS(seconds(gemm(1, 1, 1), silent), Error);
}

TEST_CASE("every constant that an op rests on moves its price") {
  const auto price_with = [](const Query& query, const KernelConstant& constant, double factor) {
    Hardware hardware = h200;
    hardware.peak[Dtype::fp8] = 1978.9 * unit::TFLOP / unit::s;
    hardware.family.constants.*constant.value *= factor;
    return seconds(query, hardware);
  };
  std::vector<Query> queries{gemm(4096, 4096, 4096), gemm(1, 4096, 4096), gemm(16, 16384, 256),
                             grouped(4096, 128, 8, 1), grouped(4, 128, 8, 1)};
  for (const double batch : {1., 64.}) {
    queries.push_back(attention(Op::attention_decode, 32, 8, batch, 0, 8192));
    queries.push_back(attention(Op::attention_prefill, 32, 8, batch, 2048, 0));
  }
  Query fp8 = grouped(4096, 128, 8, 1);
  fp8.dtype = Dtype::fp8;
  queries.push_back(fp8);
  Query quantize;
  quantize.op = Op::elementwise, quantize.kernel = Kernel::quantize, quantize.tokens = 256;
  quantize.width = 128;
  queries.push_back(quantize);
  quantize.width = 16384;
  queries.push_back(quantize);
  for (const int ranks : {2, 4, 8}) {
    for (const double bytes : {1e3, 1e8}) {
      Query query;
      query.op = Op::all_reduce, query.ranks = ranks, query.bytes = bytes, query.eager = true;
      queries.push_back(query);
    }
  }
  for (const KernelConstant& constant : kernel_constants()) {
    if (constant.name.starts_with("all_to_all")) continue;  // no query: collective_test.cpp
    INFO(constant.name);
    bool moves = false;
    for (const Query& query : queries)
      moves |= price_with(query, constant, 0.9) != price_with(query, constant, 1);
    CHECK(moves);
  }
}
