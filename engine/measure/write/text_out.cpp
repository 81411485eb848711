#include "measure/write/text_out.h"

#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/json.h"

namespace rooflua {

namespace {
constexpr std::size_t buffer_bytes = 1 << 16;
}

TextOut::TextOut(std::ostream& out, std::string name) : out_(&out), name_(std::move(name)) {
  buffer_.reserve(buffer_bytes + 1024);
}

TextOut& TextOut::operator<<(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= buffer_bytes) flush();
  return *this;
}

TextOut& TextOut::integer(std::int64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return *this << std::string_view(digits, end);
}

TextOut& TextOut::operator<<(double number) {
  return *this << std::string_view(json_number(number));
}

TextOut& TextOut::decimal(Picoseconds time, int digits) {
  char text[40];
  char* end = std::to_chars(text, text + 24, time).ptr;
  const int sign = time < 0 ? 1 : 0;
  const int length = static_cast<int>(end - text) - sign;
  std::string out(text, text + sign);
  const std::string_view figures(text + sign, static_cast<std::size_t>(length));
  if (length > digits) {
    out += figures.substr(0, figures.size() - static_cast<std::size_t>(digits));
  } else {
    out += '0';
  }
  std::string fraction(static_cast<std::size_t>(length < digits ? digits - length : 0), '0');
  fraction +=
      length > digits ? figures.substr(figures.size() - static_cast<std::size_t>(digits)) : figures;
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (!fraction.empty()) out += '.' + fraction;
  return *this << std::string_view(out);
}

void TextOut::flush() {
  out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
  out_->flush();
  if (!*out_) throw Error(name_, "could not be written (disk full?)");
}

}  // namespace rooflua
