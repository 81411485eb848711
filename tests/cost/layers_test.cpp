#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "cost/work/formulas.h"
#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("a GEMM of 2 x 3 x 5 is 60 flop and moves its three matrices once") {
  CHECK(flop::gemm(2, 3, 5) == 60);
  CHECK(bytes::gemm(2, 3, 5, 2, 1, 4) == 2 * 6 + 15 + 4 * 10);
  CHECK(bytes::weight(4096, 4096, 2) == 33554432);
}

TEST_CASE("chunks conserve causal work exactly, however a prompt is cut") {
  for (const double chunk : {1., 7., 256., 2048., 5000.}) {
    for (const double prompt : {1., 13., 4096., 65537.}) {
      double pairs = 0;
      for (double done = 0; done < prompt; done += chunk) {
        pairs += flop::causal_pairs(std::min(chunk, prompt - done), done);
      }
      CHECK(pairs == prompt * (prompt + 1) / 2);
    }
  }
}

TEST_CASE("causal work lies between none and all pairs, and a decode is a chunk of one token") {
  CHECK(flop::causal_pairs(1, 0) == 1);
  CHECK(flop::causal_pairs(4, 0) == 10);
  CHECK(flop::causal_pairs(4, 0) < flop::dense_pairs(4, 0));
  CHECK(flop::attention_decode(32, 128, 1, 1000) == flop::attention_prefill(32, 128, 1, 1000));
  CHECK(flop::attention_decode(32, 128, 3, 600) ==
        flop::attention_decode(32, 128, 1, 100) + flop::attention_decode(32, 128, 2, 500));
}

TEST_CASE("a window that is never full is causal attention, and a full one is a rectangle") {
  CHECK(flop::window_pairs(100, 50, 4096) == flop::causal_pairs(100, 50));
  CHECK(flop::window_pairs(100, 5000, 4096) == 100 * 4096);
  CHECK(flop::window_pairs(10, 0, 4) == 1 + 2 + 3 + 7 * 4);
  CHECK(flop::window_pairs(10, 3, 4) == 10 * 4);
}

TEST_CASE("half of the square understates a fresh prompt by half its length in pairs") {
  CHECK(flop::causal_pairs(4096, 0) - flop::half_square_pairs(4096, 0) == 2048);
  CHECK(flop::half_square_pairs(1, 1000) > 500 * flop::causal_pairs(1, 0));
}

TEST_CASE("absorbed latent attention is grouped attention with one wide KV head") {
  // DeepSeek-V3: 128 heads, latent 512, rope 64: 2 h (576 + 512) per pair.
  CHECK(flop::mla_absorbed(128, 512, 64, 10) == 2 * 128 * (576 + 512) * 10);
  CHECK(flop::mla_expanded(128, 128, 64, 128, 10) == 2 * 128 * (192 + 128) * 10);
  CHECK(flop::mla_expanded(32, 64, 64, 128, 7) == flop::attention(32, 128, 7));
  CHECK(bytes::latent_kv(1, 512, 64, 2) == 1152);
}

TEST_CASE("KV of Llama-3.1-8B is 4096 bytes per token and layer, read again with every decode") {
  CHECK(bytes::kv(1, 8, 128, 2) == 4096);
  CHECK(bytes::attention_decode(32, 8, 128, 1, 999, 2, 2) == 1000 * 4096 + 2 * 32 * 128 * 2);
  CHECK(bytes::attention_prefill(32, 8, 128, 10, 990, 2, 1) == 1000 * 2048 + 2 * 10 * 32 * 128 * 2);
}

TEST_CASE("one token touches k experts, many tokens touch all, and never more") {
  CHECK(bytes::touched_experts(128, 8, 0) == 0);
  CHECK(bytes::touched_experts(128, 8, 1) == Approx(8).epsilon(1e-12));
  CHECK(bytes::touched_experts(8, 2, 2) == Approx(8 * (1 - 0.75 * 0.75)).epsilon(1e-12));
  CHECK(bytes::touched_experts(128, 8, 100000) == Approx(128));
  CHECK(bytes::touched_experts(4, 4, 1) == 4);
  double before = 0;
  for (double tokens = 0; tokens < 500; ++tokens) {
    const double touched = bytes::touched_experts(128, 8, tokens);
    CHECK(touched >= before);
    CHECK(touched <= 128);
    before = touched;
  }
  CHECK(bytes::expert_weights(8, 2, 1, 4096, 14336, 2) == Approx(2 * 3 * 4096. * 14336 * 2));
}

TEST_CASE("the LM head is padded to 64 columns on every rank") {
  CHECK(bytes::padded_vocabulary(128256, 1) == 128256);
  CHECK(bytes::padded_vocabulary(32000, 8) == 32256);
  CHECK(bytes::lm_head(4096, 128256, 1, 2) == 1050673152);
}

TEST_CASE("a gated delta state is a matrix per value head and the convolution's past") {
  // Qwen3-Next: 16 key heads, 32 value heads, 128 wide, convolution of 4.
  CHECK(bytes::gated_delta_state(16, 128, 32, 128, 4, 4, 2) ==
        32 * 128 * 128 * 4 + (2 * 2048 + 4096) * 3 * 2);
  CHECK(flop::gated_delta(2, 32, 128, 128) == 2 * 7 * 32 * 128 * 128);
  CHECK(flop::short_convolution(1, 8192, 4) == 65536);
}

TEST_CASE("activations move what they read and write") {
  CHECK(bytes::add_norm(2, 4096, 2) == 2 * 4 * 4096 * 2);
  CHECK(bytes::rope(1, 32, 8, 128, 2) == 2 * 40 * 128 * 2);
  CHECK(bytes::gated_activation(1, 14336, 2) == 3 * 14336 * 2);
  CHECK(bytes::embedding(1, 4096, 2) == 2 * 4096 * 2);
  CHECK(bytes::quantize(1, 4096, 2) == 3 * 4096);
  CHECK(bytes::combine_experts(1, 8, 2048, 2) == 9 * 2048 * 2);
  CHECK(flop::gated_mlp(1, 2, 3) == 36);
  CHECK(flop::plain_mlp(1, 2, 3) == 24);
  CHECK(flop::experts(1, 2, 2, 3) == 72);
  CHECK(flop::softmax(2, 3) == 30);
}

TEST_CASE("every formula is listed once and refuses numbers that no shape has") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Formula& formula : formulas()) {
    INFO(formula.group << "." << formula.name);
    std::vector<double> values(formula.arity, 2.0);
    CHECK(formula.evaluate(values) == formula.call(values.data()));
    CHECK(std::count(formula.arguments.begin(), formula.arguments.end(), ',') == formula.arity - 1);
    for (double& value : values) {
      for (const double wrong : {nan, -1.0, std::numeric_limits<double>::infinity()}) {
        value = wrong;
        CHECK_THROWS_AS(formula.evaluate(values), Error);
      }
      value = 2;
    }
    values.push_back(2);
    CHECK_THROWS_AS(formula.evaluate(values), Error);
    int same = 0;
    for (const Formula& other : formulas()) {
      same += other.group == formula.group && other.name == formula.name;
    }
    CHECK(same == 1);
  }
}

TEST_CASE("a formula's complaint names the argument") {
  for (const Formula& formula : formulas()) {
    if (formula.name != "window_pairs") continue;
    const double values[] = {1, -2, 3};
    try {
      formula.evaluate(values);
      FAIL("not refused");
    } catch (const Error& error) {
      CHECK(error.where() == "cost.flop.window_pairs");
      CHECK(error.message().find("context_tokens: expected") == 0);
    }
  }
}
