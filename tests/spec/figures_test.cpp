#include "base/error.h"
#include "spec/figures/model.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

template <class T>
T read(const std::string& json) {
  const Json document = parse_json(json, "a.json");
  const Fields fields(document, "a.json", "part");
  T out;
  read_figures(fields, out);
  fields.finish();
  return out;
}

template <class Call>
std::string problem_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a figure is read, shown and checked by its row") {
  const auto experts =
      read<MixtureOfExperts>(R"({"experts": 8, "experts_per_token": 2, "intermediate_size": 64})");
  CHECK(experts.experts == 8);
  CHECK(experts.shared_intermediate_size == 0);
  CHECK(dump_json(figures_json(experts)) ==
        R"({"experts":8,"experts_per_token":2,"intermediate_size":64,)"
        R"("shared_intermediate_size":0,"dense_layers":0})");
  CHECK(problem_of([] { read<MixtureOfExperts>(R"({"experts": 8})"); }) ==
        "a.json: part.experts_per_token: is missing; expected a whole number");
  CHECK(problem_of([] { read<Mamba2>(R"({"heads": 0})"); }) ==
        "a.json: part.heads: expected 1 to 10000 heads, found 0");
  MixtureOfExperts wrong = experts;
  wrong.latent_size = -1;
  CHECK(problem_of([&] { check_figures(wrong, "a.json: moe."); }) ==
        "a.json: moe.latent_size: expected 0 to 1e+06 elements, found -1");
}

TEST_CASE("an error names the key of the file, not the member") {
  CHECK(problem_of([] { read<SparseIndex>(R"({"index_heads": 1, "index_head_dim": 0})"); }) ==
        "a.json: part.index_head_dim: expected 1 to 65536 elements, found 0");
  CHECK(problem_of([] { read<SparseIndex>(R"({"heads": 1})"); }) ==
        "a.json: part.index_heads: is missing; expected a whole number");
  SparseIndex index{1, 1, 1, 0};
  CHECK(problem_of([&] { check_figures(index, ""); }) ==
        "index_block: expected 1 to 1e+06 tokens, found 0");
}

TEST_CASE("what is left out has the value of the struct, or of the enclosing table") {
  const FigureTable& table = figures<SparseIndex>();
  CHECK(left_out(table, table.rows[3]).number() == 1);
  CHECK(left_out(table, table.rows[4]).boolean());
  CHECK(left_out(table, table.rows[0]).is_null());
  const Json document = parse_json(R"({"v_head_dim": 5})", "a.json");
  LatentAttention mla{1, 2, 3, 4, 6};
  read_figures(Fields(document, "a.json"), mla, true);
  CHECK((mla.kv_lora_rank == 2 && mla.v_head_dim == 5));
}
