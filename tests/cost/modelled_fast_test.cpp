// The modelled attention is computed in vectors and past every cache, modelled GEMMs in vectors;
// these are their equations once more, one line each, and both must agree to the last bit.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cost/database/mfu_database.h"
#include "cost/model/kernel.h"
#include "cost/work/formulas.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

constexpr KernelConstants fitted;

Hardware gpu(const char* name, double tflop_per_s, double gb_per_s, int sms) {
  Hardware hardware;
  hardware.name = name;
  hardware.peak[Dtype::bf16] = tflop_per_s * unit::TFLOP / unit::s;
  hardware.memory_bandwidth = gb_per_s * unit::GB / unit::s;
  hardware.sms = sms;
  hardware.clock_hz = 1.98e9;
  return hardware;
}

double fourth(double x) {
  return (x * x) * (x * x);
}
double root(double x) {
  return std::sqrt(std::sqrt(x));
}

/// Decode attention of heads that are not divided, KV in 16 bits.
double decode_s(const Query& q, const Hardware& hardware) {
  const double bandwidth = hardware.memory_bandwidth.in_base_units() * fitted.memory_efficiency;
  const double peak = hardware.peak_for(Dtype::bf16).in_base_units() * fitted.attention_math;
  const double heads = q.heads, kv_heads = q.kv_heads, d = q.head_dim, context = q.context_tokens;
  const double tiles = q.batch * kv_heads * std::ceil(heads / kv_heads / 64);
  const double kv_bytes = bytes::kv(1, kv_heads, d, 2), io_bytes = 2 * heads * d * 2;
  const double moved = q.batch * (context * kv_bytes + io_bytes);
  const double math_s = tiles * 2 * 64 * (2 * d) * context / peak;
  const double block_s =
      128 * kv_bytes / kv_heads / (fitted.decode_sm_bytes_per_clock * hardware.clock_hz);
  double best = std::numeric_limits<double>::infinity();
  for (double split = 1; split <= 128; split *= 2) {
    const double waves = std::ceil(tiles * split / hardware.sms);
    const double stream_s =
        waves * (fitted.decode_tile_s + std::ceil(context / split / 128) * block_s);
    const double partial = split > 1 ? split * q.batch * io_bytes * 2 : 0;
    const double traffic_s = (moved + partial) / bandwidth;
    const double together_s = root(fourth(stream_s) + fourth(traffic_s) + fourth(math_s));
    best = std::min(best, (split > 1 ? fitted.decode_split_s : 0) + together_s);
  }
  return fitted.attention_launch_s + best;
}

/// A GEMM in 16 bits: the best tile and split of k.
double gemm_s(const Query& q, const Hardware& hardware) {
  const double bandwidth = hardware.memory_bandwidth.in_base_units() * fitted.memory_efficiency;
  const double peak = hardware.peak_for(Dtype::bf16).in_base_units();
  const double moved = bytes::gemm(q.m, q.k, q.n, 2, 2, 2);
  constexpr double tiles[7][2] = {{64, 32},   {64, 64},   {64, 128}, {64, 256},
                                  {128, 128}, {128, 256}, {256, 128}};
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [rows, columns] : tiles) {
    for (double split = 1; split <= 16; split *= 2) {
      const double steps = std::ceil(q.k / split / 64) * 64;
      const double waves =
          std::ceil(std::ceil(q.m / rows) * std::ceil(q.n / columns) * split / hardware.sms);
      const double math_s =
          flop::gemm(rows, steps, columns) / (peak / hardware.sms * fitted.gemm_math);
      const double loaded = std::min(q.m, rows) * 2 + std::min(q.n, columns) * 2;
      const double load_s = loaded * steps / (fitted.gemm_sm_bytes_per_clock * hardware.clock_hz);
      const double tile_s = fitted.gemm_tile_s + std::max(math_s, load_s);
      const double partial = split > 1 ? 2 * 4 * q.m * q.n * split : 0;
      const double together_s =
          root(fourth(waves * tile_s) + fourth((moved + partial) / bandwidth));
      best = std::min(best, (split > 1 ? fitted.split_s : 0) + together_s);
    }
  }
  return fitted.kernel_launch_s + best;
}

class Noise {
 public:
  std::uint64_t below(std::uint64_t limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_ = 11;
};

Query random_query(Noise& noise) {
  Query q;
  q.op = Op::attention_decode;
  const int heads = 1 << noise.below(8);
  q.heads = heads;
  q.kv_heads = std::max(1, heads >> noise.below(5));
  q.head_dim = 64 << noise.below(3);
  q.batch = static_cast<double>(1 + noise.below(noise.below(2) == 0 ? 8 : 4096));
  const auto sum = static_cast<double>(q.batch + noise.below(1 << 22));
  switch (noise.below(4)) {
    case 0:  // a border of blocks, or of blocks times splits
      q.context_tokens = 128.0 * static_cast<double>(1 + noise.below(600));
      break;
    case 1:  // one beside it
      q.context_tokens = 128.0 * static_cast<double>(1 + noise.below(600)) + 1;
      break;
    default:  // a mean
      q.context_tokens = sum / q.batch;
  }
  return q;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("modelled decode is its equations to the last bit") {
  Noise noise;
  int differ = 0;
  for (int round = 0; round < 200000; ++round) {
    const Hardware hardware = gpu("test", 989.4, 4800, static_cast<int>(1 + noise.below(200)));
    const Query query = random_query(noise);
    differ += !same_bits(modelled_kernel(query, hardware).latency_s, decode_s(query, hardware));
  }
  CHECK(differ == 0);
}

TEST_CASE("a modelled GEMM is its equations to the last bit") {
  Noise noise;
  int differ = 0;
  for (int round = 0; round < 50000; ++round) {
    const Hardware hardware = gpu("test", 989.4, 4800, static_cast<int>(1 + noise.below(200)));
    Query query;
    query.op = Op::gemm;
    query.m = static_cast<double>(1 + noise.below(noise.below(2) == 0 ? 300 : 20000));
    query.k = static_cast<double>(1 + noise.below(20000));
    query.n = static_cast<double>(1 + noise.below(30000));
    if (noise.below(2) == 0) query.k = 64 * std::ceil(query.k / 64);
    differ += !same_bits(modelled_kernel(query, hardware).latency_s, gemm_s(query, hardware));
  }
  CHECK(differ == 0);
}

TEST_CASE("without tables a database says what the model says, whatever might lend") {
  DatabaseOptions lending;
  lending.hardware = gpu("lender", 989.4, 4800, 132);
  DatabaseOptions options;
  options.hardware = gpu("borrower", 400, 2000, 100);
  const auto alone = MfuDatabase::from_tables({}, options);
  options.donor = MfuDatabase::from_tables({}, lending);
  const auto lent = MfuDatabase::from_tables({}, options);
  CHECK(alone->only_models(Op::attention_decode));
  CHECK(lent->only_models(Op::gemm));
  Noise noise;
  int differ = 0;
  Query last = random_query(noise);
  for (int round = 0; round < 2000; ++round) {
    Query query = random_query(noise);
    if (round % 2 == 1) {
      query.op = Op::attention_prefill;
      query.new_tokens = static_cast<double>(1 + noise.below(5000));
    }
    // Every third time the shape of before, which a database keeps, with other numbers.
    if (round % 3 == 2) {
      query.heads = last.heads, query.kv_heads = last.kv_heads, query.head_dim = last.head_dim;
      query.kv_dtype = last.kv_dtype;
    } else if (round % 7 == 3) {
      query.kv_dtype = Dtype::fp8;
    }
    last = query;
    const Estimate expected = modelled_kernel(query, *options.hardware);
    for (const auto& database : {alone, lent}) {
      const Estimate found = database->estimate(query);
      differ += !same_bits(found.latency_s, expected.latency_s) ||
                !same_bits(found.mfu, expected.mfu) || found.evidence != Evidence::modelled;
    }
  }
  CHECK(differ == 0);
}

TEST_CASE("a database with a table of the op, or a lender with one, does not only model it") {
  KernelTable table;
  table.name = "gemm_bf16";
  table.op = Op::gemm;
  table.axes = {"m", "k", "n"};
  DatabaseOptions lending;
  lending.hardware = gpu("lender", 989.4, 4800, 132);
  DatabaseOptions options;
  options.hardware = gpu("borrower", 400, 2000, 100);
  options.donor = MfuDatabase::from_tables({table}, lending);
  const auto lent = MfuDatabase::from_tables({}, options);
  CHECK_FALSE(options.donor->only_models(Op::gemm));
  CHECK_FALSE(lent->only_models(Op::gemm));
  CHECK(lent->only_models(Op::attention_decode));
}
