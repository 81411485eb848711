#include "spec/hf/kinds.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace rooflua::hf {

int count(const std::vector<std::string>& words, std::string_view word) {
  return static_cast<int>(std::count(words.begin(), words.end(), word));
}

void check_length(const Fields& fields, std::string_view key, std::size_t found, int layers) {
  if (found == static_cast<std::size_t>(layers)) return;
  throw Error(fields.where(key), "has " + std::to_string(found) + " entries for " +
                                     std::to_string(layers) + " layers");
}

std::vector<std::string> words_of(const Fields& fields, std::string_view key, int layers) {
  const std::vector<std::string> words = fields.texts(key);
  if (!words.empty()) check_length(fields, key, words.size(), layers);
  return words;
}

std::vector<std::string> layer_types(const Fields& fields, int layers) {
  const std::vector<std::string> known{"full_attention",   "sliding_attention", "chunked_attention",
                                       "linear_attention", "attention",         "mamba"};
  const std::vector<std::string> types = words_of(fields, "layer_types", layers);
  for (const std::string& type : types) {
    if (std::find(known.begin(), known.end(), type) == known.end())
      throw Error(fields.where("layer_types"), unknown_name("kind of layer", type, known));
  }
  return types;
}

std::vector<int> numbers_of(const Fields& fields, std::string_view key) {
  std::vector<int> out;
  const Json* list = fields.find(key);
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& each : list->items()) {
    if (!each.is_number() || std::abs(each.number()) > 1e9)
      throw Error(fields.where(key), "expected a list of numbers");
    out.push_back(static_cast<int>(each.number()));
  }
  return out;
}

void put(ModelDraft& model, AttentionLayers kind) {
  if (kind.layers > 0) model.attentions.push_back(std::move(kind));
}

}  // namespace rooflua::hf
