#include "spec/hf/unknown.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "spec/harmless_keys.h"
#include "spec/hf/refused.h"

namespace rooflua::hf {

namespace {

/// A feature that is switched off changes nothing, whatever it is.
bool is_off(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.boolean();
  if (value.is_number()) return value.number() == 0;
  if (value.is_text()) return value.text().empty();
  return value.is_array() ? value.items().empty() : value.members().empty();
}

/// Parts of words that name a figure of a model's shape.
constexpr std::string_view shape_words[] = {
    "expert", "moe",     "rout",     "group",  "kv",           "key_value", "head",   "layer",
    "window", "sliding", "compress", "latent", "lora",         "rank",      "dim",    "size",
    "width",  "block",   "mlp",      "ffn",    "feed_forward", "inner",     "attn",   "attention",
    "dense",  "sparse",  "share",    "cross",  "mamba",        "ssm",       "conv",   "state",
    "hybrid", "pattern", "interval", "topk",   "chunk",        "local",     "global", "tie_",
    "_tie",   "tied",    "vocab",    "embed",  "dtype",        "hidden",    "recurr", "linear",
    "index",  "altup",   "laurel",   "num_",   "n_",           "_per_",     "mtp",    "nextn",
    "depth",  "stride",  "pool",     "loop",   "repeat",       "expansion"};

bool speaks_of_shape(std::string_view key) {
  return std::any_of(std::begin(shape_words), std::end(shape_words), [&](std::string_view word) {
    return key.find(word) != std::string_view::npos;
  });
}

/// The path of a member that speaks of the shape, in a table or a list of tables; "" without one.
std::string shape_inside(const Json& value) {
  if (value.is_array()) {
    for (const Json& each : value.items())
      if (std::string found = shape_inside(each); !found.empty()) return found;
  }
  if (!value.is_object()) return "";
  for (const Json::Member& member : value.members()) {
    if (is_off(member.value) || is_harmless(member.key)) continue;
    if (speaks_of_shape(member.key)) return member.key;
    if (const std::string found = shape_inside(member.value); !found.empty())
      return member.key + "." + found;
  }
  return "";
}

[[noreturn]] void refuse(const Fields& config, const std::string& key, const std::string& why,
                         const std::string& known = "KNOWN") {
  throw Error(config.where(key),
              why + "; " + how_to_go_on_without(key) +
                  "; if it is another word for a known key, with read_as = { [\"" + key +
                  "\"] = \"" + known + "\" }, or --read-as " + key + "=" + known +
                  skeleton_of(config));
}

std::string joined(std::string word) {
  std::erase(word, '_');
  return word;
}

/// A known key that the file does not have, and that this one holds or is spelt nearly like; ""
/// without one.
std::string nearly(const std::string& key, const std::vector<std::string>& missed) {
  for (const std::string& each : missed) {
    const std::size_t letters = std::min(each.size(), key.size());
    const bool longer = key.size() <= each.size() + 6;  // "model_", "_v2"
    if (each.size() >= 8 && longer && key.find(each) != std::string::npos) return each;
    if (letters >= 6 && edit_distance(joined(key), joined(each)) <= (letters >= 10 ? 2U : 1U))
      return each;
  }
  return "";
}

/// Keys of encoders and of what feeds them.
bool speaks_of_encoders(std::string_view key) {
  for (const std::string_view part : {"vision", "visual", "vit_", "image", "img", "video", "audio",
                                      "speech", "sound", "talker", "project", "tower", "patch"}) {
    if (key.find(part) != std::string_view::npos) return true;
  }
  return false;
}

void check(const Fields& config, const Json::Member& member,
           const std::vector<std::string>& missed) {
  if (member.value.is_null()) return;
  const std::string near = nearly(member.key, missed);
  if (!near.empty()) refuse(config, member.key, "is not known; did you mean '" + near + "'?", near);
  if (is_off(member.value)) return;
  if (speaks_of_shape(member.key))
    refuse(config, member.key, "is not known, and by its name it may change the model's shape");
  if (const std::string inside = shape_inside(member.value); !inside.empty())
    refuse(config, member.key,
           "is not known, and by '" + inside + "' it may change the model's shape");
}

}  // namespace

std::string how_to_go_on_without(const std::string& key) {
  return "if the model is the same without this key, go on with ignore = {\"" + key +
         "\"} in the table of the model, or --ignore " + key;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    out += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most) out += " and " + std::to_string(names.size() - most) + " more";
  return out;
}

void check_unread(Model& model, const Fields& config) {
  const std::vector<std::string> missed = config.missed();
  std::vector<std::string> unknown;
  for (const Json::Member* member : config.unread()) {
    if (is_harmless(member->key)) continue;
    if (!speaks_of_encoders(member->key)) check(config, *member, missed);
    if (!is_off(member->value)) unknown.push_back(member->key);
  }
  if (unknown.empty()) return;
  model.notes.push_back(
      {"keys of the file that are not followed, whose effect on the cost is not known: " +
       listed(unknown)});
}

}  // namespace rooflua::hf
