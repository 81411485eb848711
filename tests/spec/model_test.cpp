#include "spec/model.h"

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/toml.h"
#include "spec/catalogue.h"
#include "spec/weights.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

const auto home = test::source_dir();

Model from_text(const std::string& text) {
  return model_from_document(parse_toml(text, "m.toml"), "mine", "m.toml");
}

/// Published counts of active parameters have the input embedding in, or leave it out, or the LM
/// head as well; those of names are rounded to whole billions.
bool agrees(const Model& model, double published) {
  const WeightParts parts = weights(model);
  const double most = model.active_parameters();
  const double least = most - parts.embedding - parts.lm_head;
  const double rounding = std::fmod(published, 1e9) == 0 ? 0.5e9 : 0;
  return published > 0.98 * least - rounding && published < 1.02 * most + rounding;
}

const std::string tiny =
    "layers = 2\nhidden_size = 8\nheads = 2\nvocab_size = 10\nintermediate_size = 16\n";

}  // namespace

TEST_CASE("the shipped models have the parameters that were published") {
  const auto names = model_names(home);
  CHECK(names.size() >= 61);
  for (const std::string& name : names) {
    INFO(name);
    const Model model = load_model(name, home);
    const Json file = read_toml(model.origin);
    const Json* published = file.find("published");
    REQUIRE(published != nullptr);
    CHECK(model.parameters() == Approx(published->find("parameters")->number()).epsilon(0.005));
    if (model.experts() != nullptr) {
      REQUIRE(published->find("active_parameters") != nullptr);
      CHECK(agrees(model, published->find("active_parameters")->number()));
    } else {
      CHECK(model.active_parameters() == model.parameters());
    }
    CHECK(model.source.find("https://") == 0);
    CHECK_FALSE(model.aliases.empty());
  }
}

TEST_CASE("active parameters that are published precisely are met within 2 %") {
  for (const char* name : {"deepseek-v3", "qwen3-235b-a22b", "qwen3-30b-a3b", "mixtral-8x7b",
                           "mixtral-8x22b", "gemma-4-26b-a4b", "nemotron-3-nano-30b-a3b"}) {
    INFO(name);
    const Model model = load_model(name, home);
    const Json file = read_toml(model.origin);
    const double published = file.find("published")->find("active_parameters")->number();
    CHECK(model.active_parameters() == Approx(published).epsilon(0.02));
  }
}

TEST_CASE("the counts of dense models are exact to the norms of q and k") {
  CHECK(load_model("llama-2-7b", home).parameters() == 6738415616.0);
  CHECK(load_model("llama-3.1-8b", home).parameters() == 8030261248.0);
  CHECK(load_model("mistral-nemo", home).parameters() == 12247782400.0);
  CHECK(load_model("qwen2.5-1.5b", home).parameters() == 1543714304.0);  // tied, with biases
  CHECK(load_model("mixtral-8x7b", home).parameters() == 46702792704.0);
  CHECK(load_model("qwen3-8b", home).parameters() == 8190735360.0 - 36 * 2 * 128);
}

TEST_CASE("every shipped model has been asked for") {
  for (const char* name :
       {"llama-2-7b",      "llama-2-13b",   "llama-2-70b",  "llama-3.1-8b", "llama-3.1-70b",
        "llama-3.3-70b",   "codellama-34b", "yi-34b",       "mistral-7b",   "mistral-nemo",
        "mixtral-8x7b",    "mixtral-8x22b", "qwen2.5-1.5b", "qwen2.5-3b",   "qwen2.5-7b",
        "qwen2.5-32b",     "qwen3-8b",      "qwen3-14b",    "qwen3-32b",    "qwen3-30b-a3b",
        "qwen3-235b-a22b", "deepseek-v3"}) {
    INFO(name);
    CHECK_NOTHROW(load_model(name, home));
  }
}

TEST_CASE("a model is found by its Hugging Face id and by common spellings") {
  const std::pair<const char*, const char*> spellings[] = {
      {"meta-llama/Llama-2-7b-hf", "llama-2-7b"},
      {"LLaMA v2 13B", "llama-2-13b"},
      {"meta-llama/Meta-Llama-3-8B", "llama-3.1-8b"},
      {"Llama-3-8B", "llama-3.1-8b"},
      {"LLAMA_3.1_8B", "llama-3.1-8b"},
      {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"},
      {"codellama/CodeLlama-34b-Instruct-hf", "codellama-34b"},
      {"someone/Qwen3-32B", "qwen3-32b"},
      {"mistralai/Mixtral-8x7B-v0.1", "mixtral-8x7b"},
      {"deepseek-ai/DeepSeek-V3", "deepseek-v3"}};
  for (const auto& [spelling, name] : spellings) {
    INFO(spelling);
    CHECK(load_model(spelling, home).name == name);
  }
}

TEST_CASE("every alias leads to its model and to no other") {
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : model_names(home))
    entries.push_back({name, load_model(name, home).aliases});
  for (const CatalogueEntry& entry : entries) {
    for (const std::string& alias : entry.aliases) {
      INFO(alias);
      CHECK(find_by_name("model", alias, entries) == entry.name);
    }
  }
}

TEST_CASE("a model is another one with other keys") {
  const auto changed = [](const std::string& text) {
    return load_changed_model(parse_toml(text, "t"), "here", home);
  };
  const Model half = changed("from = 'llama-3.1-8b'\nlayers = 16\n");
  CHECK(half.layers == 16);
  CHECK(half.name == "llama-3.1-8b+");
  CHECK(half.origin == "here");
  CHECK(half.aliases.empty());
  CHECK(half.source == load_model("llama-3.1-8b", home).source);
  CHECK(changed("from = 'qwen3-next-80b-a3b'\nhybrid = false\n").full_attention_layers() == 48);
  CHECK(changed("from = 'llama-3.1-8b'\ngated_mlp = false\n").gated_mlp == false);
  CHECK_THROWS_WITH(changed("from = 'llama-3.1-8b'\nlayer = 16\n"), ContainsSubstring("here"));
  CHECK_THROWS_WITH(changed("from = 'llama-3.1-9b'\n"), ContainsSubstring("llama-3.1-8b"));
}

TEST_CASE("the files of a model are its description and what lies beside a config.json") {
  const auto folder = test::scratch() / "files";
  std::filesystem::create_directories(folder);
  CHECK(model_files(folder).empty());
  CHECK(model_files(folder / "m.toml") == std::vector<std::filesystem::path>{folder / "m.toml"});
  CHECK(model_files(folder / "other.json").size() == 1);
  std::ofstream(folder / "config.json") << "{}";
  for (const auto& path : {folder, folder / "config.json"}) {
    CHECK(model_files(path) == std::vector<std::filesystem::path>{
                                   folder / "config.json", folder / "hf_quant_config.json",
                                   folder / "generation_config.json"});
  }
}

TEST_CASE("a generation_config.json beside a config.json says how tokens are drawn") {
  const auto folder = test::scratch() / "drawn";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json")
      << R"({"model_type": "llama", "hidden_size": 1024, "num_attention_heads": 8,
             "num_hidden_layers": 4, "vocab_size": 32000, "intermediate_size": 4096})";
  CHECK_FALSE(load_model(folder.string(), home).sampling.has_value());
  std::ofstream(folder / "generation_config.json")
      << R"({"do_sample": true, "eos_token_id": [1, 2], "temperature": 0.6, "top_k": 20})";
  const Model model = load_model(folder.string(), home);
  REQUIRE(model.sampling.has_value());
  CHECK(model.sampling->temperature == 0.6);
  CHECK(model.sampling->top_k == 20);
  CHECK(model.sampling->top_p == 1);
  CHECK(model.sampling->sorts());
  CHECK(model.sampling->source.find("generation_config.json") != std::string::npos);
}

TEST_CASE("an unknown model gets suggestions") {
  try {
    load_model("llama-3.1-9b", home);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what())
              .find("unknown model 'llama-3.1-9b'; did you mean 'llama-3.1-8b'") == 0);
  }
  CHECK_THROWS_AS(load_model("", home), Error);
  CHECK_THROWS_AS(load_model("no/such/config.json", home), Error);
}

TEST_CASE("KV bytes per token are what the shapes say") {
  CHECK(load_model("llama-2-7b", home).kv_bytes_per_token(Dtype::fp16) == 512 * unit::KiB);
  CHECK(load_model("llama-3.1-8b", home).kv_bytes_per_token(Dtype::bf16) == 128 * unit::KiB);
  CHECK(load_model("llama-3.1-8b", home).kv_bytes_per_token(Dtype::fp8) == 64 * unit::KiB);
  CHECK(load_model("deepseek-v3", home).kv_bytes_per_token(Dtype::bf16) ==
        61.0 * 576 * 2 * unit::byte);
}

TEST_CASE("a model of one's own is read, with defaults that say what they mean") {
  const Model model = from_text(tiny);
  CHECK(model.name == "mine");
  CHECK(model.kv_heads == 2);
  CHECK(model.head_dim == 4);
  CHECK(model.gated_mlp);
  // Per layer 4 * 8 * 8 of attention, 3 * 8 * 16 of MLP; 5 norms of 8; embedding and head of 80.
  CHECK(model.parameters() == 2 * (256 + 384) + 5 * 8 + 2 * 80);
  CHECK(from_text(tiny + "gated_mlp = false\n").parameters() == 2 * (256 + 256) + 5 * 8 + 2 * 80);
  CHECK(from_text(tiny + "tied_embeddings = true\n").parameters() == 2 * (256 + 384) + 5 * 8 + 80);
}

TEST_CASE("a hybrid keeps KV in its full-attention layers only, and a state in the others") {
  const Model model = from_text(
      "layers = 8\nhidden_size = 8\nheads = 2\nvocab_size = 10\nintermediate_size = 16\n"
      "[hybrid]\nfull_attention_interval = 4\nconv_kernel = 4\nkey_heads = 1\n"
      "key_head_dim = 2\nvalue_heads = 2\nvalue_head_dim = 3\n");
  CHECK(model.full_attention_layers() == 2);
  CHECK(model.linear_attention_layers() == 6);
  CHECK(model.kv_bytes_per_token(Dtype::bf16) == 2.0 * 2 * 2 * 4 * 2 * unit::byte);
  // Per layer: convolution (6 + 2 * 2) * 3 * 2 bytes, matrices 2 heads * 2 * 3 * 4 bytes.
  CHECK(model.state_bytes_per_request() == 6.0 * (60 + 48) * unit::byte);
}

TEST_CASE("a model that cannot be is refused with its line or key") {
  const auto refused = [](const std::string& text, const std::string& where) {
    try {
      from_text(text);
      FAIL("accepted: " << text);
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(where) != std::string::npos);
    }
  };
  refused(tiny + "hiden = 1\n", "m.toml:6: unknown key 'hiden'");
  refused(tiny + "kv_heads = 3\n", "kv_heads");
  refused(tiny + "dtype = \"bf17\"\n",
          "m.toml:6: dtype: unknown dtype 'bf17'; did you mean 'bf16'");
  refused(tiny + "[moe]\nexperts = 4\nexperts_per_token = 5\nintermediate_size = 8\n",
          "experts_per_token");
  refused(tiny + "[moe]\nexperts = 4\nexpert_per_token = 1\nintermediate_size = 8\n", "moe");
  refused(tiny +
              "[moe]\nexperts = 4\nexperts_per_token = 1\nintermediate_size = 8\n"
              "[[mlp]]\nkind = \"dense\"\nlayers = 2\n",
          "m.toml:6: moe: nothing reads it where there is [[mlp]]");
  // A key of one kind of layers is named as the file states it, not as the member or another kind.
  refused(tiny +
              "[[attention]]\nkind = \"mamba2\"\nlayers = 2\nheads = 4\nhead_dim = 8\ngroups = 1\n"
              "state_size = 8\nconv_kernel = 0\n",
          "m.toml:13: attention[1].conv_kernel: expected 1 to 1000 tokens, found 0");
  refused(tiny + "[hybrid]\nconv_kernel = 4\n", "hybrid.full_attention_interval: is missing");
  refused("layers = 2\n", "hidden_size: is missing");
  refused("layers = 0\nhidden_size = 8\nheads = 2\nvocab_size = 10\nintermediate_size = 16\n",
          "layers");
  refused("layers = \"two\"\n", "m.toml:1: layers: expected a number, found text \"two\"");
}
