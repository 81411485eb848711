#pragma once
// Reads files of one flat JSON object per line without building values, for 100,000 lines and more.

#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

class JsonLines {
 public:
  struct Member {
    std::string_view key;    // as written; escapes are not decoded
    std::string_view value;  // text without its quotes; a number, word, array or object as written
    bool is_text = false;
    bool is_number() const;
    double number() const;  // 0 if it is none
  };

  /// @param text  the whole file; must outlive the scanner
  /// @param name  stands for the file in messages
  JsonLines(std::string_view text, std::string name);

  /// The next line that is not blank; false at the end.
  /// @throws Error "name:line: ..." if it is not one object
  bool next();

  /// Its members; valid until the next call.
  const std::vector<Member>& members() const { return members_; }
  int line() const { return line_; }

 private:
  [[noreturn]] void fail(std::string_view expected) const;
  void skip_spaces();
  void expect(char c);
  std::size_t end_of_quoted(std::size_t begin) const;  // in rest_
  std::string_view quoted();
  std::string_view value();

  std::string_view text_, rest_;
  std::string name_;
  int line_ = 0;
  std::vector<Member> members_;
};

/// What a text is that stands so between its quotes: its escapes are decoded.
std::string decoded(std::string_view text);

/// The members of an object that stands in one line. @throws Error as JsonLines does
std::vector<JsonLines::Member> members_in(std::string_view object, const std::string& name);

}  // namespace rooflua
