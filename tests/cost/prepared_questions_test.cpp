// Questions that are asked together have the answers that they have alone, whatever was asked
// before.

#include "cost/database/prepared_questions.h"

#include <bit>
#include <cmath>
#include <cstdint>

#include "cost/lookup/lookup.h"
#include "cost/tables/kernel_table.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Hardware gpu() {
  Hardware hardware;
  hardware.name = "test";
  hardware.peak[Dtype::bf16] = 400 * unit::TFLOP / unit::s;
  hardware.memory_bandwidth = 2000 * unit::GB / unit::s;
  hardware.sms = 100;
  hardware.clock_hz = 1.5e9;
  return hardware;
}

/// Rows of three GEMMs, so that others stand between them or beside them.
KernelTable gemms() {
  KernelTable table;
  table.name = "gemm_bf16";
  table.op = Op::gemm;
  table.axes = axis_names(Op::gemm);
  for (const double k : {512., 1024., 4096.}) {
    for (const double m : {1., 16., 256., 4096.}) {
      KernelRow row;
      row.shape = {m, k, 2 * k};
      row.latency_s = 4e-6 + 1e-14 * m * k * k;
      table.rows.push_back(row);
    }
  }
  return table;
}

std::vector<PreparedQuestion> questions() {
  std::vector<PreparedQuestion> list;
  for (const double k : {512., 777., 4096., 9000.}) {
    Query query;
    query.op = Op::gemm;
    query.k = k, query.n = 1.5 * k;
    list.push_back({query, changing_number(Op::gemm, "m"), nullptr});
  }
  Query decode;
  decode.op = Op::attention_decode;
  decode.heads = 32, decode.kv_heads = 8, decode.head_dim = 128;
  list.push_back({decode, changing_number(Op::attention_decode, "batch"),
                  changing_number(Op::attention_decode, "context_tokens")});
  Query prefill = decode;
  prefill.op = Op::attention_prefill;
  list.push_back({prefill, nullptr, changing_number(Op::attention_prefill, "new_tokens")});
  Query latent = decode;
  latent.op = Op::mla_decode;
  latent.kv_lora_rank = 512, latent.qk_rope_head_dim = 64;
  list.push_back({latent, changing_number(Op::attention_decode, "batch"),
                  changing_number(Op::attention_decode, "context_tokens")});
  Query fixed = list.front().query;
  fixed.m = 77;
  list.push_back({fixed, nullptr, nullptr});
  return list;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_CASE("questions asked together have the answers they have alone") {
  for (const bool measured : {false, true}) {
    DatabaseOptions options;
    options.hardware = gpu();
    std::vector<KernelTable> tables;
    if (measured) tables.push_back(gemms());
    const auto alone = MfuDatabase::from_tables(tables, options);
    const auto asked = MfuDatabase::from_tables(tables, options);
    const std::vector<PreparedQuestion> list = questions();
    const PreparedQuestions together(asked, list);
    REQUIRE(together.size() == list.size());
    int differ = 0;
    std::uint64_t state = 3;
    for (int round = 0; round < 20000; ++round) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto first = static_cast<double>(1 + (state >> 33) % 3000);
      const auto second = static_cast<double>(1 + (state >> 45) % 40) * (round % 2 == 0 ? 1 : 33.5);
      const std::vector<Answer>& answers = together.answer(first, second);
      for (std::size_t i = 0; i < list.size(); ++i) {
        Query query = list[i].query;
        if (list[i].first) list[i].first(query) = first;
        if (list[i].second) list[i].second(query) = second;
        const Estimate& expected = alone->estimate(query);
        differ += !same_bits(answers[i].mfu, expected.mfu) ||
                  !same_bits(answers[i].latency_s, expected.latency_s) ||
                  answers[i].evidence != expected.evidence;
      }
    }
    CHECK(differ == 0);
  }
}

TEST_CASE("questions that fail together fail again, and do not stand in the way of others") {
  DatabaseOptions options;
  options.hardware = gpu();
  const PreparedQuestions together(MfuDatabase::from_tables({}, options), questions());
  const double before = together.answer(16, 100)[0].latency_s;
  CHECK_THROWS_AS(together.answer(0, 100), Error);
  CHECK_THROWS_AS(together.answer(0, 100), Error);
  CHECK_THROWS_AS(together.answer(std::nan(""), 100), Error);
  CHECK(together.answer(16, 100)[0].latency_s == before);
  CHECK(changing_number(Op::attention_decode, "heads") == nullptr);
  CHECK(changing_number(Op::gemm, "tokens") == nullptr);
}
