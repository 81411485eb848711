#include "base/error.h"

#include <filesystem>

#include "tests/catch.h"

using namespace rooflua;

TEST_CASE("an error reads where, then what") {
  const Error error("a.lua:30", "expected a number");
  CHECK(std::string(error.what()) == "a.lua:30: expected a number");
  CHECK(error.where() == "a.lua:30");
  CHECK(error.message() == "expected a number");
  CHECK(std::string(Error("", "alone").what()) == "alone");
}

TEST_CASE("a misspelt name gets the name that was meant") {
  const std::vector<std::string> known{"max_num_seqs", "max_num_batched_tokens", "policy"};
  CHECK(suggestions("max_num_seq", known).front() == "max_num_seqs");
  CHECK(suggestions("polcy", known) == std::vector<std::string>{"policy"});
  CHECK(suggestions("batched_tokens", known).front() == "max_num_batched_tokens");
  CHECK(suggestions("MAX_NUM_SEQS", known).front() == "max_num_seqs");
}

TEST_CASE("a name is found by its letters in their order") {
  const std::vector<std::string> known{"e2e_s_p95", "tpot_s_p95", "ttft_s_mean", "ttft_s_p95"};
  CHECK(suggestions("ttft95", known) == std::vector<std::string>{"ttft_s_p95"});
  CHECK(suggestions("ttftmean", known).front() == "ttft_s_mean");
  CHECK(suggestions("e2ep95", known).front() == "e2e_s_p95");
  CHECK(suggestions("95tt", known).empty());
}

TEST_CASE("a name with parts is found by a slip in its first part") {
  const std::vector<std::string> known{"a100-sxm-80gb", "b200", "h20", "h200-sxm", "h800", "l40s"};
  CHECK(suggestions("h2000", known).front() == "h200-sxm");
  CHECK(suggestions("h20", known).front() == "h20");
  CHECK(suggestions("h8000", known).front() == "h800");
}

TEST_CASE("a name unlike any other gets no suggestion but the list") {
  const std::vector<std::string> known{"alpha", "beta"};
  CHECK(suggestions("zzzzzz", known).empty());
  CHECK(unknown_name("parameter", "zzzzzz", known) ==
        "unknown parameter 'zzzzzz' (known: alpha, beta)");
  CHECK(unknown_name("parameter", "alpa", known) ==
        "unknown parameter 'alpa'; did you mean 'alpha'? (known: alpha, beta)");
}

TEST_CASE("of many known names an error has those that are near, and how many there are") {
  std::vector<std::string> known;
  for (int i = 0; i < 60; ++i) known.push_back("name_" + std::to_string(i * 7919));
  known.emplace_back("needle");
  CHECK(unknown_name("key", "needel", known) ==
        "unknown key 'needel'; did you mean 'needle'? (61 names are known)");
  CHECK(unknown_name("key", "zzzzzzzzzz", known).find("(known: name_0, ") != std::string::npos);
}

TEST_CASE("at most three suggestions are made, the closest first") {
  const std::vector<std::string> known{"abcf", "abce", "abcd", "abcdx", "abc"};
  const auto near = suggestions("abcd", known);
  REQUIRE(near.size() == 3);
  CHECK(near.front() == "abcd");
}

TEST_CASE("our own mistake is a logic error, not the user's Error") {
  CHECK_THROWS_AS(ROOFLUA_ASSERT(1 == 2), std::logic_error);
  CHECK_NOTHROW(ROOFLUA_ASSERT(1 == 1));
}

TEST_CASE("memory that has run out is said in words") {
  CHECK(message_of(std::bad_alloc()) == "not enough memory");
  CHECK(message_of(std::length_error("vector::_M_default_append")) == "not enough memory");
  CHECK(message_of(Error("a.toml:1", "is missing")) == "a.toml:1: is missing");
}

TEST_CASE("what the system says of a path is said with the path, without C++") {
  const std::filesystem::path path(std::string(290, 'x'));
  try {
    static_cast<void>(std::filesystem::is_directory(path));
    FAIL("a name of 290 characters was accepted");
  } catch (const std::exception& problem) {
    CHECK(message_of(problem) == path.string() + ": File name too long");
  }
}

TEST_CASE("a text of ten million letters is no misspelt name, and is refused at once") {
  const std::vector<std::string> known{"llama", "qwen"};
  CHECK(suggestions(std::string(10'000'000, 'x') + "llama", known).empty());
}
