#include "app/deployment/batch_option.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/csv.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

/// "512+1024" or "2048x64": two whole numbers around a separator.
std::pair<std::int64_t, std::int64_t> pair_of(const std::string& text, char separator,
                                              const std::string& option, const char* form) {
  const std::size_t cut = text.find(separator);
  const auto left = cut == std::string::npos ? std::nullopt : parse_number(text.substr(0, cut));
  const auto right = cut == std::string::npos ? std::nullopt : parse_number(text.substr(cut + 1));
  const auto whole = [](std::optional<double> value) {
    return value && *value >= 0 && *value < 1e9 &&
           *value == static_cast<double>(static_cast<std::int64_t>(*value));
  };
  if (!whole(left) || !whole(right) || *right < 1)
    throw Error(option, std::string("expected ") + form + ", found '" + text + "'");
  return {static_cast<std::int64_t>(*left), static_cast<std::int64_t>(*right)};
}

}  // namespace

Json batch_of(const std::vector<std::string>& prefill, const std::vector<std::string>& decode,
              const char* command, const std::vector<std::string>& images) {
  Json batch = Json::object();
  batch["name"] = "step";
  Json prefills = Json::array();
  for (const std::string& each : prefill) {
    const auto [context, tokens] = pair_of(each, '+', "--prefill", "CTX+NEW, for example 0+4096");
    Json chunk = Json::object();
    chunk["context_tokens"] = context;
    chunk["new_tokens"] = tokens;
    prefills.push_back(std::move(chunk));
  }
  if (!prefill.empty()) batch["prefills"] = std::move(prefills);
  Json contexts = Json::array();
  for (const std::string& each : decode) {
    const auto [context, count] = pair_of(each, 'x', "--decode", "CTXxCOUNT, for example 2048x64");
    if (count > 1'000'000) throw Error("--decode", "at most a million requests");
    for (std::int64_t i = 0; i < count; ++i) contexts.push_back(context);
  }
  if (!decode.empty()) batch["decode_contexts"] = std::move(contexts);
  Json sizes = Json::array();
  for (const std::string& each : images) {
    const auto [width, height] = pair_of(each, 'x', "--images", "WxH, for example 1024x768");
    if (width < 1 || width > 1'000'000 || height > 1'000'000)
      throw Error("--images", "a side has 1 to 1,000,000 pixels, found '" + each + "'");
    Json size = Json::object();
    size["width"] = width;
    size["height"] = height;
    sizes.push_back(std::move(size));
  }
  if (!images.empty()) batch["images"] = std::move(sizes);
  if (prefill.empty() && decode.empty() && images.empty()) {
    throw Error(command, "nothing to price: give --prefill CTX+NEW, --decode CTXxCOUNT or --images WxH");
  }
  return batch;
}

}  // namespace rooflua::app
