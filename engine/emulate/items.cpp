#include "emulate/items.h"

#include <algorithm>

#include "http/refused.h"
#include "serve/traces/identity.h"

namespace rooflua::emulate {

using http::Refused;

namespace {

constexpr std::size_t looked_at = 1 << 20;  // bytes of a file: EXIF data and thumbnails stand first
constexpr double most_pixels = 1e6;         // along a side

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}
std::uint32_t big(std::string_view bytes, std::size_t at, int count) {
  std::uint32_t out = 0;
  for (int i = 0; i < count; ++i) out = out << 8 | byte_at(bytes, at + static_cast<std::size_t>(i));
  return out;
}
std::uint32_t little(std::string_view bytes, std::size_t at, int count) {
  std::uint32_t out = 0;
  for (int i = count; i-- > 0;) out = out << 8 | byte_at(bytes, at + static_cast<std::size_t>(i));
  return out;
}

using Size = std::optional<std::pair<int, int>>;

Size size_of(std::uint32_t width, std::uint32_t height) {
  if (width < 1 || height < 1 || width > most_pixels || height > most_pixels) return std::nullopt;
  return std::pair{static_cast<int>(width), static_cast<int>(height)};
}

/// The first frame header (SOF) among the segments.
Size jpeg_size(std::string_view bytes) {
  std::size_t at = 2;
  while (at + 9 <= bytes.size()) {
    if (byte_at(bytes, at) != 0xFF) return std::nullopt;
    const std::uint32_t marker = byte_at(bytes, at + 1);
    if (marker == 0xFF) {  // fill
      ++at;
      continue;
    }
    const bool frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (frame) return size_of(big(bytes, at + 7, 2), big(bytes, at + 5, 2));
    if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD8)) {  // without a length
      at += 2;
      continue;
    }
    const std::uint32_t length = big(bytes, at + 2, 2);
    if (length < 2 || marker == 0xD9 || marker == 0xDA) return std::nullopt;
    at += 2 + length;
  }
  return std::nullopt;
}

Size webp_size(std::string_view bytes) {
  if (bytes.size() < 30) return std::nullopt;
  const std::string_view form = bytes.substr(12, 4);
  if (form == "VP8X") return size_of(1 + little(bytes, 24, 3), 1 + little(bytes, 27, 3));
  if (form == "VP8 ") return size_of(little(bytes, 26, 2) & 0x3FFF, little(bytes, 28, 2) & 0x3FFF);
  if (form != "VP8L" || byte_at(bytes, 20) != 0x2F) return std::nullopt;
  const std::uint32_t bits = little(bytes, 21, 4);
  return size_of(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF));
}

int value_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  return c == '/' || c == '_' ? 63 : -1;
}

/// The first bytes of base64. @throws Refused at a character that it does not have
std::string first_bytes(std::string_view text, const char* key) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=' || out.size() >= looked_at) break;
    if (c == '\n' || c == '\r') continue;
    const int value = value_of(c);
    if (value < 0) throw Refused(400, std::string(key) + ": the data is no base64", key);
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<char>(bits >> count & 0xFF));
  }
  return out;
}

Item image_of(std::string_view base64, const char* key) {
  const Size size = picture_size(first_bytes(base64, key));
  if (!size)
    throw Refused(
        400, std::string(key) + ": no PNG, JPEG, WebP or GIF with a size in its first MiB", key);
  return {.width = size->first, .height = size->second, .content = identity("item", base64)};
}

/// "data:image/png;base64,iVBOR..."
Item image_at(const std::string& url, const char* key) {
  const std::size_t comma = url.find(',');
  const bool is_data = url.starts_with("data:") && comma != std::string::npos &&
                       std::string_view(url).substr(0, comma).ends_with(";base64");
  if (!is_data)
    throw Refused(400,
                  std::string(key) +
                      ": an address is not opened here; send the picture as data:image/...;base64,",
                  key);
  return image_of(std::string_view(url).substr(comma + 1), key);
}

Item sound_of(const Json& audio) {
  constexpr const char* key = "input_audio";
  const Json* data = audio.find("data");
  if (data == nullptr || !data->is_text()) throw Refused(400, "input_audio: data is missing", key);
  const std::string bytes = first_bytes(data->text(), key);
  const auto seconds = wav_seconds(bytes, data->text().size() / 4 * 3);
  if (!seconds)
    throw Refused(400, "input_audio: how long a sound is can be read of WAV alone", key);
  return {
      .kind = Item::Kind::audio, .seconds = *seconds, .content = identity("item", data->text())};
}

/// A text, or the text at a key of an object.
const std::string* text_in(const Json* value, std::string_view key) {
  if (value == nullptr) return nullptr;
  const Json* found = value->is_object() ? value->find(key) : value;
  return found != nullptr && found->is_text() ? &found->text() : nullptr;
}

}  // namespace

std::optional<std::pair<int, int>> picture_size(std::string_view bytes) {
  if (bytes.size() >= 24 && bytes.starts_with("\x89PNG\r\n\x1a\n"))
    return size_of(big(bytes, 16, 4), big(bytes, 20, 4));
  if (bytes.size() >= 10 && (bytes.starts_with("GIF87a") || bytes.starts_with("GIF89a")))
    return size_of(little(bytes, 6, 2), little(bytes, 8, 2));
  if (bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP")
    return webp_size(bytes);
  if (bytes.starts_with("\xFF\xD8")) return jpeg_size(bytes);
  return std::nullopt;
}

std::optional<double> wav_seconds(std::string_view bytes, std::size_t whole_bytes) {
  if (bytes.size() < 12 || !bytes.starts_with("RIFF") || bytes.substr(8, 4) != "WAVE")
    return std::nullopt;
  double rate = 0;
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::string_view name = bytes.substr(at, 4);
    const std::uint32_t length = little(bytes, at + 4, 4);
    if (name == "fmt " && at + 20 <= bytes.size()) rate = little(bytes, at + 16, 4);
    if (name == "data") {
      const double there = static_cast<double>(whole_bytes > at + 8 ? whole_bytes - at - 8 : 0);
      const double seconds = rate > 0 ? std::min<double>(length, there) / rate : 0;
      return seconds > 0 ? std::optional(seconds) : std::nullopt;
    }
    at += 8 + std::size_t{length} + length % 2;
  }
  return std::nullopt;
}

std::optional<Item> item_of(const Json& part) {
  const std::string* type = part.is_object() ? text_in(&part, "type") : nullptr;
  if (type == nullptr) return std::nullopt;
  if (*type == "image_url" || *type == "input_image") {
    const std::string* url = text_in(part.find("image_url"), "url");
    if (url == nullptr)
      throw Refused(400, *type + ": the data of the picture is missing", "messages");
    return image_at(*url, "image_url");
  }
  if (*type == "image") {
    const Json* source = part.find("source");
    const std::string* data =
        source != nullptr && source->is_object() ? text_in(source, "data") : nullptr;
    if (data == nullptr)
      throw Refused(400, "image: an address is not opened here; send the picture as base64",
                    "messages");
    return image_of(*data, "image");
  }
  if (*type != "input_audio") return std::nullopt;
  const Json* audio = part.find("input_audio");
  if (audio == nullptr || !audio->is_object())
    throw Refused(400, "input_audio: data is missing", "input_audio");
  return sound_of(*audio);
}

}  // namespace rooflua::emulate
