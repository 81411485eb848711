// Images and sounds of requests: their size by the first bytes, and their tokens in the prompt.

#include "emulate/items.h"

#include "emulate/asked.h"
#include "tests/catch.h"

using namespace rooflua;
using namespace rooflua::emulate;

namespace {

using Size = std::optional<std::pair<int, int>>;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int each : values) out.push_back(static_cast<char>(each));
  return out;
}

const std::string png =
    bytes({0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n', 0, 0, 0, 13,
           'I',  'H', 'D', 'R', 0,    0,    4,    0,    0, 0, 3, 0});  // 1024 x 768
const std::string gif = "GIF89a" + bytes({0x40, 1, 0xF0, 0});          // 320 x 240
const std::string vp8 = "RIFF" + bytes({0, 0, 0, 0}) + "WEBPVP8 " +
                        bytes({0, 0, 0, 0, 0, 0, 0, 0x9D, 1, 0x2A, 0x40, 1, 0xF0, 0});
const std::string vp8x = "RIFF" + bytes({0, 0, 0, 0}) + "WEBPVP8X" +
                         bytes({10, 0, 0, 0, 0, 0, 0, 0, 0x3F, 1, 0, 0xEF, 0, 0});
const std::string vp8l = "RIFF" + bytes({0, 0, 0, 0}) + "WEBPVP8L" +
                         bytes({0, 0, 0, 0, 0x2F, 0x3F, 0xC1, 0x3B, 0, 0, 0, 0, 0, 0});
const std::string jpeg =
    bytes({0xFF, 0xD8, 0xFF, 0xE0, 0, 4,  1, 2, 0xFF, 0xC0, 0,
           11,   8,    0,    240,  1, 64, 3, 0, 0,    0});  // 320 x 240 behind a segment
const std::string wav =
    "RIFF" + bytes({0, 0, 0, 0}) + "WAVEfmt " +
    bytes({16, 0, 0, 0, 1, 0, 1, 0, 0x80, 0x3E, 0, 0, 0, 0x7D, 0, 0, 2, 0, 16, 0}) + "data" +
    bytes({0, 0x7D, 0, 0});  // a second of 32,000 bytes

std::string base64(const std::string& data) {
  constexpr const char* letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < data.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < data.size() ? static_cast<unsigned char>(data[i + j]) : 0U);
    for (int j = 3; j >= 0; --j) out.push_back(letters[three >> (6 * j) & 63]);
  }
  return out;
}

std::string chat(const std::string& part) {
  return R"({"model": "m", "messages": [{"role": "user", "content": [)" + part +
         R"(, {"type": "text", "text": "What is it?"}]}]})";
}
std::string picture(const std::string& data) {
  return R"({"type": "image_url", "image_url": {"url": "data:image/png;base64,)" + base64(data) +
         "\"}}";
}

PromptRules counting() {
  PromptRules rules;
  rules.item_tokens = [](const Item& item) -> std::int64_t {
    return item.kind == Item::Kind::image ? item.width * item.height / 1024
                                          : static_cast<std::int64_t>(item.seconds * 25);
  };
  return rules;
}

std::string problem(const std::string& body, const PromptRules& rules = counting()) {
  try {
    read_asked(Api::chat, body, rules);
  } catch (const Refused& refused) {
    return std::to_string(refused.status()) + " " + refused.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the size of a picture stands in its first bytes") {
  CHECK(picture_size(png) == Size{{1024, 768}});
  for (const std::string& each : {gif, vp8, vp8x, vp8l, jpeg})
    CHECK(picture_size(each) == Size{{320, 240}});
  CHECK(picture_size("BM not known") == std::nullopt);
}

TEST_CASE("a header that ends early, or a side of nothing, has no size") {
  for (const std::string& each : {png, gif, vp8, vp8x, vp8l, jpeg, wav}) {
    for (std::size_t length = 0; length < each.size(); ++length) {
      const std::string cut =
          each.substr(0, length);  // a buffer of its own: sanitizers see its end
      const Size size = picture_size(cut);
      CHECK((!size || *size == std::pair{320, 240}));
      CHECK((!wav_seconds(cut, cut.size()) || length >= each.size()));
    }
  }
  std::string none = png;
  none[18] = none[19] = 0;
  CHECK(picture_size(none) == std::nullopt);
  std::string endless = jpeg;
  endless[5] = 0;  // a segment of no bytes
  CHECK(picture_size(endless) == std::nullopt);
}

TEST_CASE("a sound is as long as its data") {
  CHECK(wav_seconds(wav, wav.size() + 32000) == 1.0);
  CHECK(wav_seconds(wav, wav.size() + 16000) == 0.5);  // a header that promises more than there is
  CHECK(wav_seconds(png, png.size()) == std::nullopt);
}

TEST_CASE("parts of messages are items in the words of each API") {
  const auto part = [](const std::string& text) { return item_of(parse_json(text, "test")); };
  CHECK(part(picture(png))->width == 1024);
  CHECK(
      part(R"({"type": "input_image", "image_url": "data:image/gif;base64,)" + base64(gif) + "\"}")
          ->height == 240);
  CHECK(part(R"({"type": "image", "source": {"type": "base64", "data": ")" + base64(jpeg) + "\"}}")
            ->width == 320);
  CHECK(part(R"({"type": "input_audio", "input_audio": {"format": "wav", "data": ")" +
             base64(wav + std::string(32000, 'x')) + "\"}}")
            ->kind == Item::Kind::audio);
  CHECK_FALSE(part(R"({"type": "text", "text": "data:image/png;base64,AAAA"})"));
  CHECK_FALSE(part("[1]"));
}

TEST_CASE("an item counts the tokens of its size, and is the same for the same data") {
  const Asked without = read_asked(Api::chat, chat(R"({"type": "text", "text": ""})"), counting());
  const Asked one = read_asked(Api::chat, chat(picture(png)), counting());
  CHECK(one.prompt.tokens == without.prompt.tokens + 768);
  CHECK(read_asked(Api::chat, chat(picture(png)), counting()).prompt.blocks == one.prompt.blocks);
  const Asked other = read_asked(Api::chat, chat(picture(png + "other pixels")), counting());
  CHECK(other.prompt.tokens == one.prompt.tokens);
  CHECK(other.prompt.blocks.back() != one.prompt.blocks.back());
}

TEST_CASE("what has no size here is refused, and no address is opened") {
  const auto url = [](const std::string& text) {
    return chat(R"({"type": "image_url", "image_url": {"url": ")" + text + "\"}}");
  };
  CHECK(problem(url("https://example.com/a.png")).find("not opened") != std::string::npos);
  CHECK(problem(url("file:///etc/passwd")).find("not opened") != std::string::npos);
  CHECK(problem(url("data:image/png;base64,****")).find("no base64") != std::string::npos);
  CHECK(problem(url("data:image/png;base64,AAAA")).find("no PNG") != std::string::npos);
  CHECK(problem(chat(R"({"type": "image_url"})")).find("missing") != std::string::npos);
  CHECK(problem(chat(R"({"type": "input_audio", "input_audio": {"data": "AAAA"}})")).find("WAV") !=
        std::string::npos);
  CHECK(problem(chat(picture(png)), PromptRules{}).find("400 this model takes text alone") == 0);
}

TEST_CASE("pictures of a few bytes that claim millions of tokens are refused") {
  PromptRules rules = counting();
  rules.item_tokens = [](const Item&) { return std::int64_t{1} << 20; };  // 4 MiB of text
  std::string some, many;
  for (int i = 0; i < 20; ++i) {
    if (i < 4) some += (i > 0 ? "," : "") + picture(gif);
    many += (i > 0 ? "," : "") + picture(gif);
  }
  CHECK_FALSE(read_asked(Api::chat, chat(some), rules).prompt.blocks.empty());
  CHECK(problem(chat(many), rules).find("more than 64 MiB") != std::string::npos);
  std::string turns;
  for (int i = 0; i < 20; ++i)
    turns +=
        std::string(i > 0 ? "," : "") + R"({"role": "user", "content": [)" + picture(gif) + "]}";
  CHECK(problem("{\"messages\": [" + turns + "]}", rules).find("more than 64 MiB") !=
        std::string::npos);
}
