#pragma once
// A page that needs nothing but itself: one file, no network, readable in light and dark, on a wide
// screen and a narrow one, and on paper.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rooflua {

/// Lines of text that the page's script finds by their key and replaces; "" = it leaves them.
struct HtmlText {
  std::vector<std::string> lines;
  std::string key = {};
};

/// A number that a reader can change where scripts run: "H100 $ [3] per GPU and hour".
struct HtmlField {
  std::string label, key, value, unit;
};

/// Well-formed XHTML-style HTML5, piece by piece. Everything given as text is escaped; `html` is
/// not.
class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  void heading(std::string_view text);  // opens a section of the page, in the list of contents
  void subheading(std::string_view text);
  void paragraph(std::string_view text);
  void lead(std::string_view text);  // a paragraph that says what the page is about
  void lead(const HtmlText& text);
  void note(std::string_view text);  // small print
  /// Small print that says which variants are drawn; the script of choices says it anew.
  void choosable(std::string_view text);
  void preformatted(std::string_view text);
  /// The first row is the header; cells that begin with a digit, '-' or '+' are aligned right.
  void table(const std::vector<std::vector<std::string>>& rows);
  /// A table whose cells have lines. On a narrow screen each row is a list of its cells.
  void cards(const std::vector<std::string>& head, const std::vector<std::vector<HtmlText>>& rows);
  /// Titles, each with its lines.
  void facts(const std::vector<std::pair<std::string, HtmlText>>& list);
  void fields(const std::vector<HtmlField>& list);
  /// A part in which the script computes texts with keys again from `json`; it ends there.
  void open_plan();
  void close_plan(const std::string& json);
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

  /// What stands below a heading, as HTML without the heading.
  struct Section {
    std::string title, html;
  };
  /// Those of the page, in order; what stands above the first heading is none.
  std::vector<Section> sections() const;
  /// What charts, tables and notes look like, as CSS.
  static std::string_view style();

 private:
  struct Place {
    std::string title;
    std::size_t heading, begin;  // in the body
  };
  std::string title_, body_, contents_, data_, choices_;
  std::vector<Place> places_;
  int sections_ = 0;
  bool has_plan_ = false;
};

}  // namespace rooflua
