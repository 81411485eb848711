#include "base/user/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/gzip.h"
#include "base/printable.h"

namespace rooflua {

namespace {

constexpr std::size_t most_unpacked = std::size_t{1} << 30;

// What a file is, by its first bytes -----------------------------------------------------------

struct Signature {
  std::string_view bytes;  // at the start of a file
  std::string_view what;   // what such a file is, and how to go on
};

using namespace std::string_view_literals;  // some signatures hold zeros

constexpr Signature signatures[] = {
    {"\x28\xB5\x2F\xFD"sv, "is packed with zstd; unpack it with unzstd"},
    {"\xFD\x37zXZ"sv, "is packed with xz; unpack it with unxz -k"},
    {"BZh"sv, "is packed with bzip2; unpack it with bunzip2 -k"},
    {"\x04\x22\x4D\x18"sv, "is packed with lz4; unpack it with unlz4"},
    {"\x1F\x9D"sv, "is packed with compress; unpack it with uncompress"},
    {"LZIP"sv, "is packed with lzip; unpack it with lunzip -k"},
    {"PK\x03\x04"sv, "is a zip archive; unpack it with unzip and name the file inside"},
    {"7z\xBC\xAF\x27\x1C"sv, "is a 7z archive; unpack it with 7z x and name the file inside"},
    {"Rar!"sv, "is a rar archive; unpack it and name the file inside"},
    {"PAR1"sv, "is a Parquet file; write it as CSV"},
    {"ARROW1"sv, "is an Arrow file; write it as CSV"},
    {"Obj\x01"sv, "is an Avro file; write it as JSON"},
    {"SQLite format 3"sv, "is an SQLite database; write it as CSV"},
    {"\x89HDF"sv, "is an HDF5 file; write it as CSV"},
    {"\x93NUMPY"sv, "is a NumPy file; write it as CSV"},
    {"\x80\x02"sv, "is a pickle of Python; write it as JSON"},
    {"\x80\x03"sv, "is a pickle of Python; write it as JSON"},
    {"\x80\x04"sv, "is a pickle of Python; write it as JSON"},
    {"\x80\x05"sv, "is a pickle of Python; write it as JSON"},
    {"%PDF"sv, "is a PDF"},
    {"\x89PNG"sv, "is a picture (PNG)"},
    {"\x7F"
     "ELF"sv,
     "is a program (ELF)"},
    {"\x84\x31\x95\x33"sv, "is text in GB18030; write it in UTF-8: iconv -f GB18030 -t UTF-8"},
    {"+/v8"sv, "is text in UTF-7; write it in UTF-8: iconv -f UTF-7 -t UTF-8"},
    {"version https://git-lfs.github.com/spec/"sv,
     "is a pointer of Git LFS, not the file itself; fetch it with git lfs pull"}};

/// Pages and pointers that begin with a word in any case, after spaces.
constexpr Signature openings[] = {
    {"<!doctype html", "is a page of the web (HTML), not the file itself; download the raw file"},
    {"<html", "is a page of the web (HTML), not the file itself; download the raw file"},
    {"<?xml", "is XML; write it as JSON or CSV"},
    {"404: not found", "is the answer of a server that has no such file; download it again"},
    {"../../.git/annex/",
     "is a pointer of git-annex, not the file itself; get it with git annex get"},
    {"/annex/objects/",
     "is a pointer of git-annex, not the file itself; get it with git annex get"}};

bool starts_in_any_case(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char expected, char found) {
           return expected == (found >= 'A' && found <= 'Z' ? found - 'A' + 'a' : found);
         });
}

void refuse_other_kinds(std::string_view text, const std::string& name) {
  for (const Signature& each : signatures) {
    if (text.starts_with(each.bytes)) throw Error(name, std::string(each.what));
  }
  constexpr std::size_t tar_mark = 257;
  if (text.size() > tar_mark && text.substr(tar_mark).starts_with("ustar"))
    throw Error(name, "is a tar archive; unpack it with tar -xf and name the file inside");
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return;
  for (const Signature& each : openings) {
    if (starts_in_any_case(text.substr(first), each.bytes))
      throw Error(name, std::string(each.what));
  }
}

// UTF-16 and UTF-32 ----------------------------------------------------------------------------

struct Encoding {
  std::string_view name;
  std::size_t unit = 1;  // bytes; 1: UTF-8, or none of these
  bool big = false;      // the first byte of a unit is its largest
  std::size_t mark = 0;  // bytes of the byte-order mark
};

/// By the byte-order mark, else by where the zeros of the first characters are, which are ASCII.
Encoding encoding_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF"sv)) return {"UTF-8", 1, false, 3};
  if (text.starts_with("\xFF\xFE\0\0"sv)) return {"UTF-32", 4, false, 4};
  if (text.starts_with("\0\0\xFE\xFF"sv)) return {"UTF-32", 4, true, 4};
  if (text.starts_with("\xFF\xFE"sv)) return {"UTF-16", 2, false, 2};
  if (text.starts_with("\xFE\xFF"sv)) return {"UTF-16", 2, true, 2};
  if (text.size() < 4) return {"UTF-8"};
  const std::array<bool, 4> zero = {text[0] == 0, text[1] == 0, text[2] == 0, text[3] == 0};
  if (zero == std::array{false, true, true, true}) return {"UTF-32", 4, false, 0};
  if (zero == std::array{true, true, true, false}) return {"UTF-32", 4, true, 0};
  if (zero == std::array{false, true, false, true}) return {"UTF-16", 2, false, 0};
  if (zero == std::array{true, false, true, false}) return {"UTF-16", 2, true, 0};
  return {"UTF-8"};
}

void add_utf8(std::uint32_t code, std::string& out) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
}

std::string in_utf8(std::string_view text, const Encoding& encoding, const std::string& name) {
  const auto damaged = [&](std::size_t position, const std::string& what) {
    throw Error(name, "is damaged text in " + std::string(encoding.name) + ": " + what +
                          " at byte " + std::to_string(position));
  };
  if (text.size() % encoding.unit != 0) damaged(text.size(), "it ends inside a character");
  const auto unit_at = [&](std::size_t position) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < encoding.unit; ++i) {
      const std::size_t from = encoding.big ? i : encoding.unit - 1 - i;
      value = value << 8 | static_cast<unsigned char>(text[position + from]);
    }
    return value;
  };
  std::string out;
  out.reserve(text.size() / encoding.unit);
  for (std::size_t i = encoding.mark; i < text.size(); i += encoding.unit) {
    std::uint32_t code = unit_at(i);
    if (encoding.unit == 2 && code >= 0xD800 && code < 0xDC00 && i + 4 <= text.size()) {
      const std::uint32_t low = unit_at(i + 2);
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        i += 2;
      }
    }
    if ((code >= 0xD800 && code < 0xE000) || code > 0x10FFFF) damaged(i, "no character");
    add_utf8(code, out);
  }
  return out;
}

// Text that is none ----------------------------------------------------------------------------

std::string line_of(std::string_view text, std::size_t position, const std::string& name) {
  const std::string_view before = text.substr(0, position);
  return at(name, static_cast<int>(1 + std::count(before.begin(), before.end(), '\n')));
}

void refuse_zeros(std::string_view text, const std::string& name) {
  const std::size_t first = text.find('\0');
  if (first == std::string_view::npos) return;
  if (text.find_first_not_of('\0', first) != std::string_view::npos)
    throw Error(line_of(text, first, name),
                "holds bytes of zero: this is no text, or it is damaged");
  throw Error(line_of(text, first, name),
              "ends with " + std::to_string(text.size() - first) +
                  " bytes of zero: the file was not written to its end; copy it again, or cut "
                  "them off if the text is complete");
}

void refuse_other_encodings(std::string_view text, const std::string& name) {
  const std::size_t first = first_not_utf8(text);
  if (first == std::string_view::npos) return;
  char byte[8];
  std::snprintf(byte, sizeof byte, "0x%02X", static_cast<unsigned char>(text[first]));
  throw Error(line_of(text, first, name),
              "is not UTF-8 (byte " + std::string(byte) +
                  "); if it is Latin-1 or Windows-1252, write it in UTF-8: iconv -f WINDOWS-1252 "
                  "-t UTF-8 FILE > NEW");
}

bool is_packed(std::string_view text) {
  return text.starts_with("\x1F\x8B"sv);
}

}  // namespace

std::string user_text(std::string bytes, const std::string& name) {
  if (is_packed(bytes)) bytes = unpack_gzip(std::move(bytes), name, most_unpacked);
  if (is_packed(bytes)) throw Error(name, "is packed with gzip twice; unpack it with gunzip -k");
  const Encoding encoding = encoding_of(bytes);
  if (encoding.unit > 1) {
    bytes = in_utf8(bytes, encoding, name);
  } else {
    bytes.erase(0, encoding.mark);
    refuse_other_kinds(bytes, name);
  }
  refuse_zeros(bytes, name);
  refuse_other_encodings(bytes, name);
  return bytes;
}

std::string files_like(const std::filesystem::path& path) {
  constexpr std::size_t most_names = 10000;
  std::vector<std::string> names;
  std::error_code ignored;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    if (names.size() == most_names) break;
    names.push_back(entry.path().filename().string());
  }
  const std::vector<std::string> near = suggestions(path.filename().string(), names);
  return near.empty() ? "" : "; did you mean '" + (path.parent_path() / near[0]).string() + "'?";
}

std::string read_user_text(const std::filesystem::path& path) {
  std::error_code problem;
  if (std::filesystem::is_directory(path, problem)) throw Error(path.string(), "is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const bool there = std::filesystem::exists(path, problem);
    throw Error(path.string(),
                there ? "cannot be read" : "there is no such file" + files_like(path));
  }
  std::string bytes;
  std::array<char, 1 << 16> block;
  while (in.read(block.data(), block.size()) || in.gcount() > 0)
    bytes.append(block.data(), static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw Error(path.string(), "cannot be read to its end");
  return user_text(std::move(bytes), path.string());
}

}  // namespace rooflua
