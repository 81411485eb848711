#include "spec/hf/tensors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "spec/weights.h"

namespace rooflua::hf {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t longest_header = std::uint64_t{64} << 20;
constexpr std::size_t most_files = 4096;
constexpr const char* index_name = "model.safetensors.index.json";

/// A part of a name, and the class that it says; the first that fits counts.
struct Sign {
  std::string_view part;
  std::string_view of;
};
constexpr std::string_view not_described = "not described";
constexpr Sign signs[] = {
    {"visual", not_described},
    {"vision", not_described},
    {"audio", not_described},
    {"multi_modal_projector", not_described},
    {"mtp", not_described},
    {"nextn", not_described},
    {"embed_tokens", "embedding"},
    {"wte", "embedding"},
    {"word_embeddings", "embedding"},
    {"lm_head", "lm_head"},
    {"shared_expert", "shared"},
    {".experts.", "experts"},
    {"block_sparse_moe.gate", "router"},
    {"mlp.gate.", "router"},
    {"router", "router"},
    {"indexer", "index"},
    {"norm", "small"},
    {".bias", "small"},
    {"linear_attn", "linear_attention"},
    {"mamba", "linear_attention"},
    {"o_proj", "attention_output"},
    {"attn", "attention"},
    {"attention", "attention"},
    {"mlp", "dense_mlp"},
    {"feed_forward", "dense_mlp"},
    {"ffn", "dense_mlp"},
};

/// The layer of a name ("model.layers.12.mlp"); -1: none.
int layer_of(const std::string& name) {
  const std::size_t at = name.find("layers.");
  if (at == std::string::npos) return -1;
  int layer = 0;
  std::size_t i = at + 7, digits = 0;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && digits < 6; ++i, ++digits)
    layer = layer * 10 + (name[i] - '0');
  return digits > 0 ? layer : -1;
}

std::string_view class_of(const std::string& name, int layers) {
  if (layer_of(name) >= layers) return not_described;
  for (const Sign& each : signs)
    if (name.find(each.part) != std::string::npos) return each.of;
  return not_described;
}

/// Tensors of a class and a format.
struct Sum {
  double elements = 0, bytes = 0;
};
/// By class, then by format.
using Sums = std::map<std::string, std::map<std::string, Sum>>;

/// Elements of packed formats are fewer in a header than weights there are.
bool is_whole(const std::string& format) {
  return format == "BF16" || format == "F16" || format == "F32" || format.starts_with("F8_");
}

Json header_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::array<unsigned char, 8> size{};
  if (!in || !in.read(reinterpret_cast<char*>(size.data()), size.size()))
    throw Error(file.string(), "is no file of weights: it has no header");
  std::uint64_t length = 0;
  for (std::size_t i = size.size(); i-- > 0;) length = length << 8 | size[i];
  if (length > longest_header)
    throw Error(file.string(), "says that its header has " + std::to_string(length) +
                                   " bytes; at most " + std::to_string(longest_header) +
                                   " are read");
  std::string text(static_cast<std::size_t>(length), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(length)))
    throw Error(file.string(), "ends within its header of " + std::to_string(length) + " bytes");
  return parse_json(text, file.string());
}

void add_tensors(const fs::path& file, int layers, Sums& sums) {
  const Json header = header_of(file);
  if (!header.is_object()) throw Error(file.string(), "expected tensors by their names");
  for (const Json::Member& each : header.members()) {
    if (each.key == "__metadata__") continue;
    const Fields fields(each.value, file.string(), each.key);
    double elements = 1;
    for (const double extent : fields.numbers("shape")) {
      if (extent < 0 || extent > 1e15 || extent != std::floor(extent))
        throw Error(fields.where("shape"), "expected whole numbers from 0 to 1e15");
      elements *= extent;
    }
    const std::vector<double> ends = fields.numbers("data_offsets");
    if (ends.size() != 2 || !(ends[0] >= 0 && ends[1] >= ends[0] && ends[1] <= 1e15))
      throw Error(fields.where("data_offsets"), "expected a first byte, and an end behind it");
    const std::string format = fields.need_text("dtype");
    const bool is_scale = each.key.find("scale") != std::string::npos;
    const std::string of(class_of(each.key, layers));
    Sum& sum = sums[of][is_scale ? "scales" : format];
    sum.elements += elements;
    sum.bytes += ends[1] - ends[0];
  }
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g GB", bytes / 1e9);
  return text;
}

std::string bytes_text(const Sums& sums) {
  double all = 0;
  std::string parts;
  for (const auto& [of, formats] : sums) {
    for (const auto& [format, sum] : formats) {
      all += sum.bytes;
      parts += (parts.empty() ? "" : ", ") + of + " " + gigabytes(sum.bytes) + " " + format;
    }
  }
  return "files of weights hold " + gigabytes(all) + ": " + parts;
}

/// Elements of a class in files; nothing where a format does not tell how many weights they are.
std::optional<double> elements_of(const Sums& sums, WeightClass of) {
  double out = 0;
  const auto found = sums.find(std::string(weight_class_words[static_cast<std::size_t>(of)].name));
  if (found == sums.end()) return out;
  for (const auto& [format, sum] : found->second) {
    if (format == "scales") continue;
    if (!is_whole(format)) return std::nullopt;
    out += sum.elements;
  }
  return out;
}

/// Where files hold another number of weights of a class than the description counts, by more than
/// half a percent, as far as their formats tell it. Both parts of attention are one: names of
/// projections differ.
std::string differences(const Model& model, const Sums& sums) {
  const WeightParts counted = weights(model);
  std::string out;
  for (const auto& word : weight_class_words) {
    if (word.value == WeightClass::attention_output) continue;
    std::optional<double> there = elements_of(sums, word.value);
    double own = counted.of(word.value);
    if (word.value == WeightClass::attention) {
      const auto output = elements_of(sums, WeightClass::attention_output);
      there = there && output ? std::optional(*there + *output) : std::nullopt;
      own += counted.attention_output;
    }
    if (!there || std::abs(*there - own) <= 0.005 * std::max(*there, own) + 1e5) continue;
    char text[160];
    std::snprintf(text, sizeof text, "%s%s: %.4g there, %.4g here", out.empty() ? "" : "; ",
                  std::string(word.name).c_str(), *there, own);
    out += text;
  }
  return out;
}

}  // namespace

std::vector<fs::path> weight_files(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored))
    if (entry.path().extension() == ".safetensors") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  if (out.size() > most_files)
    throw Error(folder.string(), std::to_string(out.size()) + " files of weights; at most " +
                                     std::to_string(most_files) + " are read");
  if (out.empty() && fs::exists(folder / index_name, ignored)) out.push_back(folder / index_name);
  return out;
}

void note_weight_files(Model& model, const fs::path& folder) {
  const std::vector<fs::path> files = weight_files(folder);
  if (files.empty()) return;
  if (files.front().filename() == index_name) {
    std::error_code ignored;
    if (fs::file_size(files.front(), ignored) > longest_header)
      throw Error(files.front().string(), "is longer than an index of weights");
    const Json index = read_json(files.front());
    const Fields fields(index, files.front().string());
    const auto metadata = fields.table("metadata");
    const auto total = metadata ? metadata->number("total_size") : std::nullopt;
    if (total && *total > 0)
      model.notes.push_back(
          {"files of weights hold " + gigabytes(*total) + " by their index; " +
           gigabytes(weight_bytes(weights(model), model, model.weight_dtype.value_or(model.dtype)) /
                     unit::byte) +
           " are described"});
    return;
  }
  Sums sums;
  for (const fs::path& each : files) add_tensors(each, model.layers, sums);
  model.notes.push_back({bytes_text(sums)});
  if (const std::string text = differences(model, sums); !text.empty())
    model.notes.push_back(
        {"the description has other numbers of weights than the files: " + text, Touched::nothing});
}

}  // namespace rooflua::hf
