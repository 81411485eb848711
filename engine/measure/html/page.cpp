#include "measure/html/page.h"

#include "html/page_assets.h"
#include "measure/html/text.h"

namespace rooflua {

namespace {

bool is_sign(char c) {
  return std::string_view("=*<>?:;,{}()&|!").find(c) != std::string_view::npos;
}

/// A script without its lines of comments and without spaces that mean nothing.
std::string shortened(std::string_view text) {
  std::string out;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (out.empty() || out.back() == '\n')) {
      if (c == ' ') continue;
      if (text.substr(i, 3) == "// ") i = text.find('\n', i);
      if (text[i] == '\n') continue;
    }
    if (c == '"' && text[i - 1] != '\\') quote = quote == 0 ? c : 0;
    const bool beside = c == ' ' && quote == 0 && (is_sign(out.back()) || is_sign(text[i + 1]));
    if (!beside) out += c;
  }
  return out;
}

bool looks_like_a_number(const std::string& cell) {
  if (cell.empty()) return false;
  const char first = cell[0];
  if (first == 'x') return cell.size() > 1 && cell[1] >= '0' && cell[1] <= '9';
  return (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '<' ||
         first == '>';
}

/// JSON that is neither markup nor an entity.
std::string no_markup(const std::string& json) {
  std::string out;
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

/// An element with lines, and the key by which the script finds it.
std::string element(const std::string& tag, const std::string& attributes, const HtmlText& text) {
  std::string out = "<" + tag + attributes;
  if (!text.key.empty()) out += " data-key=\"" + escaped(text.key) + "\"";
  out += ">";
  for (std::size_t i = 0; i < text.lines.size(); ++i)
    out += (i == 0 ? "" : "<br/>") + escaped(text.lines[i]);
  return out + "</" + tag + ">";
}

bool is_amount(const HtmlText& cell) {
  if (cell.lines.size() != 1) return cell.lines.empty();
  const std::string& text = cell.lines.front();
  return text.empty() || looks_like_a_number(text.substr(text[0] == '$' ? 1 : 0));
}

/// A column is one of numbers if all of its filled cells look like it.
std::vector<bool> number_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<bool> out;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (out.size() < rows[i].size()) out.resize(rows[i].size(), true);
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      const std::string& cell = rows[i][column];
      if (!cell.empty() && !looks_like_a_number(cell)) out[column] = false;
    }
  }
  return out;
}

}  // namespace

HtmlPage::HtmlPage(std::string_view title) : title_(escaped(title)) {}

void HtmlPage::heading(std::string_view text) {
  const std::string id = "section" + std::to_string(++sections_);
  contents_ += "<a href=\"#" + id + "\">" + escaped(text) + "</a>\n";
  const std::size_t at = body_.size();
  body_ += "<h2 id=\"" + id + "\">" + escaped(text) + "</h2>\n";
  places_.push_back({std::string(text), at, body_.size()});
}

std::vector<HtmlPage::Section> HtmlPage::sections() const {
  std::vector<Section> out;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::size_t end = i + 1 < places_.size() ? places_[i + 1].heading : body_.size();
    out.push_back({places_[i].title, body_.substr(places_[i].begin, end - places_[i].begin)});
  }
  return out;
}

std::string_view HtmlPage::style() {
  return page_style;
}

void HtmlPage::paragraph(std::string_view text) {
  body_ += "<p>" + escaped(text) + "</p>\n";
}

void HtmlPage::lead(std::string_view text) {
  body_ += "<p class=\"lead\">" + escaped(text) + "</p>\n";
}

void HtmlPage::subheading(std::string_view text) {
  body_ += "<h3>" + escaped(text) + "</h3>\n";
}

void HtmlPage::lead(const HtmlText& text) {
  body_ += element("p", " class=\"lead\"", text) + "\n";
}

void HtmlPage::facts(const std::vector<std::pair<std::string, HtmlText>>& list) {
  if (list.empty()) return;
  body_ += "<dl>\n";
  for (const auto& [title, text] : list)
    body_ += "<dt>" + escaped(title) + "</dt>" + element("dd", "", text) + "\n";
  body_ += "</dl>\n";
}

void HtmlPage::fields(const std::vector<HtmlField>& list) {
  body_ += "<p class=\"fields\">";
  for (const HtmlField& each : list) {
    body_ += "<label>" + escaped(each.label) + " <input type=\"number\" min=\"0\" step=\"any\" " +
             "disabled=\"disabled\" data-field=\"" + escaped(each.key) + "\" value=\"" +
             escaped(each.value) + "\"/> " + escaped(each.unit) + "</label>\n";
  }
  body_ += "</p>\n";
}

void HtmlPage::cards(const std::vector<std::string>& head,
                     const std::vector<std::vector<HtmlText>>& rows) {
  std::vector<bool> amounts(head.size(), true);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size() && i < head.size(); ++i)
      amounts[i] = amounts[i] && is_amount(row[i]);
  body_ += "<div class=\"scroll\"><table class=\"cards\">\n<thead><tr>";
  for (std::size_t i = 0; i < head.size(); ++i)
    body_ += element("th", amounts[i] ? " class=\"n\"" : "", {{head[i]}});
  body_ += "</tr></thead>\n<tbody>\n";
  for (const auto& row : rows) {
    body_ += "<tr>";
    for (std::size_t i = 0; i < row.size() && i < head.size(); ++i) {
      const std::string label = " data-label=\"" + escaped(head[i]) + "\"";
      body_ += "<td" + std::string(amounts[i] ? " class=\"n\"" : "") + label + ">" +
               element("span", "", row[i]) + "</td>";
    }
    body_ += "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
}

void HtmlPage::open_plan() {
  has_plan_ = true;
  body_ += "<div class=\"plan\">\n";
}

void HtmlPage::close_plan(const std::string& json) {
  body_ += "<script type=\"application/json\">" + no_markup(json) + "</script>\n</div>\n";
}

void HtmlPage::definitions(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return;
  body_ += "<dl>\n";
  for (const auto& row : rows)
    body_ += "<dt>" + escaped(row.at(0)) + "</dt><dd>" + escaped(row.at(1)) + "</dd>\n";
  body_ += "</dl>\n";
}

void HtmlPage::open_details(std::string_view line) {
  body_ += "<details><summary>" + escaped(line) + "</summary>\n";
}

void HtmlPage::close_details() {
  body_ += "</details>\n";
}

void HtmlPage::note(std::string_view text) {
  body_ += "<p class=\"note\">" + escaped(text) + "</p>\n";
}

void HtmlPage::choosable(std::string_view text) {
  body_ += "<p class=\"note drawn\">" + escaped(text) + "</p>\n";
}

void HtmlPage::preformatted(std::string_view text) {
  body_ += "<pre>" + escaped(text) + "</pre>\n";
}

void HtmlPage::table(const std::vector<std::vector<std::string>>& rows) {
  const std::vector<bool> numbers = number_columns(rows);
  body_ += "<div class=\"scroll\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string tag = i == 0 ? "th" : "td";
    body_ += "<tr>";
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      const bool right = column < numbers.size() && numbers[column];
      body_ +=
          "<" + tag + (right ? " class=\"n\">" : ">") + escaped(rows[i][column]) + "</" + tag + ">";
    }
    body_ += "</tr>\n";
  }
  body_ += "</table></div>\n";
}

void HtmlPage::charts(const std::vector<std::string>& figures) {
  body_ += "<div class=\"charts\">\n";
  for (const std::string& each : figures) body_ += each;
  body_ += "</div>\n";
}

void HtmlPage::grid(const std::string& html) {
  body_ += html;
}

void HtmlPage::data(const std::string& json) {
  data_ = no_markup(json);
}

void HtmlPage::choices(const std::string& json) {
  choices_ = no_markup(json);
}

std::string HtmlPage::text() const {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>";
  out += title_ + "</title>\n<style>" + page_style + "</style>\n</head>\n<body>\n<h1>" + title_ +
         "</h1>\n";
  if (sections_ > 1) out += "<nav>" + contents_ + "</nav>\n";
  out += "<div id=\"controls\"></div>\n" + body_ + "<div id=\"readout\"></div>\n";
  if (!data_.empty())
    out += "<script type=\"application/json\" id=\"data\">" + data_ + "</script>\n";
  std::string script = shortened(page_script);
  if (!choices_.empty()) {
    out += "<script type=\"application/json\" id=\"choices\">" + choices_ + "</script>\n";
    script += shortened(choice_script);
  }
  out += "<script>//<![CDATA[\n" + script + "//]]></script>\n";
  if (has_plan_) out += "<script>//<![CDATA[\n" + shortened(plan_script) + "//]]></script>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace rooflua
