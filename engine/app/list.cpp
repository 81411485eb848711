#include <cstdio>

#include "app/commands.h"
#include "base/error.h"
#include "base/numbers/digits.h"
#include "cost/database/mfu_database.h"
#include "cost/tables/importers.h"
#include "measure/write/table.h"
#include "script/vm/vm.h"
#include "spec/added_hardware.h"
#include "spec/hardware.h"
#include "spec/layer_kinds.h"
#include "spec/layers.h"
#include "spec/model.h"
#include "spec/weights.h"

namespace rooflua::app {

namespace {

void print_names(const std::vector<std::string>& names) {
  for (const std::string& each : names) std::printf("%s\n", each.c_str());
}

// Models ------------------------------------------------------------------------------------------

/// The window, ratio or selection that tells a kind of layers apart; "" where nothing does.
std::string figure_of(const AttentionLayers& each) {
  if (each.compression) return " 1:" + std::to_string(each.compression->ratio);
  if (each.index) return " " + std::to_string(each.index->topk * each.index->block);
  return each.window > 0 ? " " + std::to_string(each.window) : "";
}

/// "18 window 128 + 18 full"
std::string layers_of(const Model& model) {
  std::string out;
  for (const AttentionLayers& each : model.attentions) {
    out += (out.empty() ? "" : " + ") + std::to_string(each.layers) +
           (each.visits > 1 ? " x " + std::to_string(each.visits) : "") + " " + each.kind_name() +
           figure_of(each);
  }
  return out;
}

void add_once(std::string& list, std::string_view word) {
  if ((", " + list + ",").find(", " + std::string(word) + ",") != std::string::npos) return;
  list += (list.empty() ? "" : ", ") + std::string(word);
}

/// Formats of the weights as released; after a slash those of other releases.
std::string formats_of(const Model& model) {
  const WeightFormats own = weight_formats(model, std::nullopt);
  const WeightParts parts = weights(model);
  std::string out, others;
  if (parts.routed_experts > 0) add_once(out, name(own[WeightClass::experts]));
  if (parts.attention > 0) add_once(out, name(own[WeightClass::attention]));
  if (parts.dense_mlp > 0) add_once(out, name(own[WeightClass::dense_mlp]));
  for (const Release& each : model.releases) add_once(others, name(each.name));
  return others.empty() ? out : out + " / " + others;
}

std::string billions(double count) {
  char text[32];
  std::snprintf(text, sizeof text, count < 99.95e9 ? "%.1f" : "%.0f", count / 1e9);
  return text;
}

void print_models(const std::filesystem::path& home) {
  std::printf("%-27s %10s %7s %9s %10s  %-34s %s\n", "model", "parameters", "active", "context",
              "KV B/token", "formats / other releases", "layers");
  for (const std::string& each : model_names(home)) {
    const Model model = load_model(each, home);
    std::printf("%-27s %9sB %6sB %9d %10.0f  %-34s %s\n", each.c_str(),
                billions(model.parameters()).c_str(), billions(model.active_parameters()).c_str(),
                model.max_model_len, model.kv_bytes_per_token(model.dtype) / unit::byte,
                formats_of(model).c_str(), layers_of(model).c_str());
  }
  std::printf(
      "\nother names: rooflua list models --aliases; more on one by any of its names: rooflua help "
      "NAME\n");
}

/// Every alias of every model, and the format of the weights that are published under it.
void print_aliases(const std::filesystem::path& home) {
  check_model_names(home);
  for (const std::string& each : model_names(home)) {
    const Model model = load_model(each, home);
    for (const std::string& alias : model.aliases) {
      const auto found = std::find_if(model.alias_formats.begin(), model.alias_formats.end(),
                                      [&](const auto& format) { return format.first == alias; });
      std::printf(
          "%-27s %-60s %s\n", each.c_str(), alias.c_str(),
          found == model.alias_formats.end() ? "" : std::string(name(found->second)).c_str());
    }
  }
}

// GPUs --------------------------------------------------------------------------------------------

/// Measured rows of all tables in the folder of a GPU.
std::size_t rows_of(const std::filesystem::path& gpu) {
  std::size_t out = 0;
  for (const TableFile& file : list_tables(gpu, Layout::rooflua, ""))
    out += read_table(file).rows.size();
  return out;
}

/// Memory, bandwidth, measured rows and aliases of every GPU.
void print_hardware(const std::filesystem::path& home) {
  Table table;
  for (const std::size_t column : {4u, 5u}) table.left(column);
  table.add({"GPU", "memory GB", "TB/s", "rows", "tables of", "also"});
  for (const std::string& each : all_hardware_names(home)) {
    const Hardware gpu = load_hardware(each, home);
    const std::size_t rows = rows_of(std::filesystem::path(gpu.origin).parent_path());
    table.add({each, significant(gpu.memory / unit::GB, 4),
               figure(gpu.memory_bandwidth * unit::s / unit::TB),
               rows == 0 ? "-" : grouped(static_cast<std::int64_t>(rows)),
               rows > 0 || gpu.tables_from.empty() ? "" : gpu.tables_from,
               joined(gpu.aliases, ", ")});
  }
  std::printf(
      "%s\nrows: measured kernel times; - where there is a datasheet only\n"
      "tables of: the GPU whose MFU is taken\n",
      table.text().c_str());
}

std::unique_ptr<script::Vm> library(const std::filesystem::path& home) {
  return std::make_unique<script::Vm>(
      script::VmOptions{.home = home, .trusted = true, .interruptible = false});
}

void print_policies(const std::string& folder, const std::filesystem::path& home) {
  const Json policies = library(home)->call("rooflua", "list", {Json(folder)});
  for (const Json& each : policies.items()) {
    std::printf("%-22s %s\n", each.find("name")->text().c_str(), each.find("doc")->text().c_str());
  }
}

struct Kind {
  std::string name, doc;
};

/// What is no policy, and the kinds of policies.
std::vector<Kind> kinds(const std::filesystem::path& home) {
  std::vector<Kind> out = {
      {"models", "models: parameters, context, KV cache, formats, layers"},
      {"hardware", "GPUs: memory, bandwidth, measured rows, other names"},
      {"engines", "serving engines, and the releases whose rules are known"},
  };
  const Json rows = library(home)->call("rooflua.policy.kinds", "rows", {});
  for (const Json& each : rows.items()) {
    const std::string folder = each.find("folder")->text();
    out.push_back({folder == "lookup" ? "lookups" : folder, each.find("doc")->text()});
  }
  return out;
}

/// The kind that a word means: the name of its folder in scripts/ and bench_data/, or the kind
/// itself.
std::string kind_of(const std::string& word) {
  if (word == "lookup") return "lookups";
  return word == "gpus" ? "hardware" : word;
}

}  // namespace

std::vector<std::string> list_kinds(const std::filesystem::path& home) {
  std::vector<std::string> out;
  for (const Kind& each : kinds(home)) out.push_back(each.name);
  return out;
}

int list(const std::string& word, ListFlags flags, const std::filesystem::path& home) {
  if (flags.aliases && word != "models") throw Error("--aliases", "belongs to `list models`");
  if (flags.age && word != "engines") throw Error("--age", "belongs to `list engines`");
  if (word.empty()) {
    std::fputs("rooflua list KIND, where KIND is one of\n", stdout);
    for (const Kind& each : kinds(home))
      std::printf("  %-13s %s\n", each.name.c_str(), each.doc.c_str());
    return 0;
  }
  const std::string kind = kind_of(word);
  if (kind == "models") {
    flags.aliases ? print_aliases(home) : print_models(home);
  } else if (flags.age) {
    std::puts(library(home)->call("rooflua.help.ages", "text", {}).text().c_str());
  } else if (kind == "hardware") {
    print_hardware(home);
  } else if (kind == "lookups") {
    print_names(lookup_names());
    print_policies("lookup", home);  // lookups in Lua, from scripts/lookup
  } else {
    const std::vector<std::string> known = list_kinds(home);
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw Error("list", unknown_name("kind", kind, known));
    print_policies(kind, home);
  }
  return 0;
}

}  // namespace rooflua::app
