// Files of weights beside a config.json: headers, the index, and files that lie.

#include "spec/hf/tensors.h"

#include <cstdint>
#include <fstream>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;
namespace fs = std::filesystem;

namespace {

constexpr const char* config = R"({"model_type": "llama", "num_hidden_layers": 1, "hidden_size": 64,
  "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 128, "vocab_size": 256,
  "max_position_embeddings": 512, "tie_word_embeddings": false, "torch_dtype": "bfloat16"})";

fs::path folder_with(const std::string& name, const std::string& header, std::uint64_t length) {
  const fs::path folder = test::scratch(name);
  fs::remove_all(folder);
  fs::create_directories(folder);
  std::ofstream(folder / "config.json") << config;
  std::ofstream out(folder / "model.safetensors", std::ios::binary);
  for (int i = 0; i < 8; ++i) out.put(static_cast<char>(length >> (8 * i) & 0xff));
  out << header;
  return folder;
}

fs::path folder_with(const std::string& name, const std::string& header) {
  return folder_with(name, header, header.size());
}

std::string tensor(const std::string& name, int rows, int columns, int& at) {
  const int bytes = 2 * rows * columns;
  const std::string text = "\"" + name + R"(": {"dtype": "BF16", "shape": [)" +
                           std::to_string(rows) + ", " + std::to_string(columns) +
                           R"(], "data_offsets": [)" + std::to_string(at) + ", " +
                           std::to_string(at + bytes) + "]}";
  at += bytes;
  return text;
}

std::string header(int mlp_width, const std::string& more = "") {
  int at = 0;
  std::string out = R"({"__metadata__": {"format": "pt"})";
  const auto add = [&](const std::string& name, int rows, int columns) {
    out += ", " + tensor(name, rows, columns, at);
  };
  add("model.embed_tokens.weight", 256, 64);
  add("lm_head.weight", 256, 64);
  for (const char* each : {"q_proj", "k_proj", "v_proj", "o_proj"})
    add("model.layers.0.self_attn." + std::string(each) + ".weight", 64, 64);
  for (const char* each : {"gate_proj", "up_proj"})
    add("model.layers.0.mlp." + std::string(each) + ".weight", mlp_width, 64);
  add("model.layers.0.mlp.down_proj.weight", 64, mlp_width);
  return out + more + "}";
}

std::string notes_of(const fs::path& folder) {
  std::string out;
  for (const ModelNote& each : model_from_config_json(folder / "config.json").notes)
    out += each.text + "\n";
  return out;
}

std::string problem_of(const fs::path& folder) {
  try {
    notes_of(folder);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("headers give bytes by class and format, and what the description lacks") {
  const std::string good = notes_of(folder_with("tensors", header(128)));
  CHECK(good.find("files of weights hold") != std::string::npos);
  CHECK(good.find("dense_mlp 4.915e-05 GB BF16") != std::string::npos);
  CHECK(good.find("other numbers") == std::string::npos);
  int at = 1 << 20;
  const std::string more = ", " + tensor("model.layers.0.memory.table", 4000, 64, at) + ", " +
                           tensor("model.layers.1.mlp.up_proj.weight", 64, 64, at);
  CHECK(notes_of(folder_with("tensors", header(128, more))).find("not described 0.0005202 GB") !=
        std::string::npos);
  CHECK(notes_of(folder_with("tensors", header(4096)))
            .find("dense_mlp: 7.864e+05 there, 2.458e+04") != std::string::npos);
}

TEST_CASE("an index gives the sum of bytes") {
  const fs::path folder = folder_with("index", header(128));
  fs::remove(folder / "model.safetensors");
  std::ofstream(folder / "model.safetensors.index.json")
      << R"({"metadata": {"total_size": 147456}, "weight_map": {}})";
  CHECK(notes_of(folder).find("hold 0.0001475 GB by their index") != std::string::npos);
  std::ofstream(folder / "model.safetensors.index.json") << R"({"metadata": {"total_size": "x"}})";
  CHECK(problem_of(folder).find("total_size") != std::string::npos);
}

TEST_CASE("files that lie are refused before memory is taken") {
  const std::string text = header(128);
  CHECK(problem_of(folder_with("liar", text, ~std::uint64_t{0})).find("at most") !=
        std::string::npos);
  CHECK(problem_of(folder_with("liar", text, text.size() + 9)).find("ends within") !=
        std::string::npos);
  CHECK(problem_of(folder_with("liar", "", 4)).find("ends within") != std::string::npos);
  for (const char* each : {"[]", "{", R"({"a": 3})",
                           R"({"a": {"dtype": "BF16", "shape": [-1], "data_offsets": [0, 2]}})",
                           R"({"a": {"dtype": "BF16", "shape": [1e300], "data_offsets": [0, 2]}})",
                           R"({"a": {"dtype": "BF16", "shape": [1], "data_offsets": [4, 2]}})",
                           R"({"a": {"dtype": 5, "shape": [1], "data_offsets": [0, 2]}})"}) {
    INFO(each);
    CHECK(problem_of(folder_with("liar", each)).find("model.safetensors") != std::string::npos);
  }
}
