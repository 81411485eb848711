#pragma once
// A page that needs nothing but itself: one file, no network, readable in light and dark, on a wide
// screen and a narrow one, and on paper.

#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

/// Well-formed XHTML-style HTML5, piece by piece. Everything given as text is escaped; `html` is
/// not.
class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  void heading(std::string_view text);  // opens a section of the page, in the list of contents
  void paragraph(std::string_view text);
  void lead(std::string_view text);  // a paragraph that says what the page is about
  void note(std::string_view text);  // small print
  /// Small print that says which variants are drawn; the script of choices says it anew.
  void choosable(std::string_view text);
  void preformatted(std::string_view text);
  /// The first row is the header; cells that begin with a digit, '-' or '+' are aligned right.
  void table(const std::vector<std::vector<std::string>>& rows);
  /// Rows of {term, text}.
  void definitions(const std::vector<std::vector<std::string>>& rows);
  /// Begins a folded part with that line as its title; it ends at close_details().
  void open_details(std::string_view line);
  void close_details();
  /// A grid of measure/html/grid.h, which is HTML.
  void grid(const std::string& html);
  /// Charts beside each other where there is room.
  void charts(const std::vector<std::string>& figures);

  /// A document that a reader can take from the page as JSON or CSV.
  void data(const std::string& json);
  /// The values of variants that a reader can choose (measure/html/choice.h), with their script.
  void choices(const std::string& json);

  std::string text() const;

 private:
  std::string title_, body_, contents_, data_, choices_;
  int sections_ = 0;
};

}  // namespace rooflua
