#pragma once
// Images and sounds of a request: what a part of a message says of them. Their size is read from
// the first bytes of the data; nothing is decoded, and no address is opened.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace rooflua::emulate {

struct Item {
  enum class Kind { image, audio } kind = Kind::image;
  int width = 0, height = 0;  // pixels of an image
  double seconds = 0;         // of a sound
  std::uint64_t content = 0;  // the same of the same data
};

/// Tokens of an item in the prompt. @throws Refused where the model takes none of its kind
using ItemTokens = std::function<std::int64_t(const Item&)>;

/// What a part of a message is: image_url, input_image, image and input_audio, as OpenAI's and
/// Anthropic's APIs write them. Nothing of other parts.
/// @throws Refused with status 400 for an address (it is not opened), data that is no base64, and
/// files without a size: PNG, JPEG, WebP and GIF have one, of sounds WAV
std::optional<Item> item_of(const Json& part);

/// Width and height in the first bytes of a picture; nothing where they are not in there.
std::optional<std::pair<int, int>> picture_size(std::string_view bytes);
/// Seconds of a WAV file, by its header and its length.
std::optional<double> wav_seconds(std::string_view bytes, std::size_t whole_bytes);

}  // namespace rooflua::emulate
