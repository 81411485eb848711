#include "measure/html/page.h"

#include "measure/html/script.h"
#include "measure/html/text.h"

namespace rooflua {

namespace {

/// Series colours after Okabe and Ito (distinct for the colour-blind), darkened or lightened until
/// each has a contrast of 3 : 1 against its background; tests/measure/html_page_test.cpp computes
/// it.
constexpr const char* style = R"css(
:root { color-scheme: light dark;
  --back: #ffffff; --panel: #f6f7f9; --text: #1b2127; --soft: #56606b; --rule: #d9dde2;
  --s1: #0068b5; --s2: #c8510b; --s3: #00835f; --s4: #a8478a; --s5: #8a6500; --s6: #1b86b8;
  --s7: #6f5bd1; --s8: #56606b;
  --measured: #0b7a4b; --interpolated: #3d9970; --extrapolated: #b07c00; --stand_in: #c8510b;
  --modelled: #3f74c9; --assumed: #9b4a86; }
@media (prefers-color-scheme: dark) { :root {
  --back: #14171b; --panel: #1c2026; --text: #e6e9ed; --soft: #a2acb8; --rule: #343b44;
  --s1: #5aaef2; --s2: #f58b4c; --s3: #35c29a; --s4: #e08cc4; --s5: #e0b13c; --s6: #7fd0f0;
  --s7: #a99cf5; --s8: #a2acb8;
  --measured: #2fb37c; --interpolated: #7fcfa9; --extrapolated: #e0b13c; --stand_in: #f58b4c;
  --modelled: #78a5ee; --assumed: #d68bbf; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem clamp(0.8rem, 3vw, 2.5rem) 4rem; max-width: 78rem;
  background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.4rem 0 0.8rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 0.6rem; padding-top: 0.6rem;
  border-top: 1px solid var(--rule); overflow-wrap: anywhere; }
h3 { font-size: 1rem; margin: 1.4rem 0 0.4rem; overflow-wrap: anywhere; }
p { margin: 0.5rem 0; max-width: 48rem; overflow-wrap: anywhere; }
.lead { font-size: 1.1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.2rem; max-width: 54rem; }
dt { color: var(--soft); font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.4rem; } }
details { margin: 0.6rem 0; } summary { cursor: pointer; color: var(--s1); }
.note, figcaption + .note { color: var(--soft); font-size: 0.87rem; }
nav { color: var(--soft); font-size: 0.9rem; }
nav a { margin-right: 1rem; white-space: nowrap; }
a { color: var(--s1); }
pre { background: var(--panel); padding: 0.7rem 0.9rem; overflow-x: auto; border-radius: 6px;
  font: 0.82rem/1.45 ui-monospace, "DejaVu Sans Mono", "Liberation Mono", monospace; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: 0.87rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem 0.25rem 0; text-align: left; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
td:first-child { min-width: 9rem; }
td.n, th.n { text-align: right; } td.n { white-space: nowrap; }
.charts { display: grid; gap: 1.2rem 2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 27rem), 1fr)); }
figure { margin: 0.6rem 0; min-width: 0; break-inside: avoid; max-width: 37rem; }
figcaption { font-weight: 600; margin-bottom: 0.2rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 0.1rem 1.1rem; margin: 0.1rem 0 0.3rem;
  padding: 0; font-size: 0.83rem; color: var(--soft); }
.legend li { overflow-wrap: anywhere; }
.key { width: 22px; height: 12px; margin-right: 0.4rem; vertical-align: -1px; }
svg.chart { display: block; width: 100%; height: auto; font-size: 12px; overflow: visible; }
@media (max-width: 34rem) { svg.chart { font-size: 14px; } body { font-size: 14px; } }
svg text { fill: var(--soft); }
svg text.value { fill: var(--text); }
.grid { stroke: var(--rule); stroke-width: 1; } .grid.minor { stroke-dasharray: 1 3; }
.axis { stroke: var(--soft); stroke-width: 1; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.mark { fill-opacity: 0.75; stroke: none; } .mark:hover { fill-opacity: 1; stroke: var(--text); }
.fill { stroke: var(--back); stroke-width: 0.8; }
.over { paint-order: stroke; stroke: var(--back); stroke-width: 4px; }
.limit { stroke: var(--text); stroke-width: 1; stroke-dasharray: 3 3; }
.diagonal { fill: none; stroke: var(--soft); stroke-width: 1.2; }
.band { fill: var(--soft); fill-opacity: 0.11; stroke: none; }
.line.s1 { stroke: var(--s1); } .line.s2 { stroke: var(--s2); stroke-dasharray: 6 2.5; }
.line.s3 { stroke: var(--s3); } .line.s4 { stroke: var(--s4); stroke-dasharray: 6 2.5; }
.line.s5 { stroke: var(--s5); } .line.s6 { stroke: var(--s6); stroke-dasharray: 6 2.5; }
.line.s7 { stroke: var(--s7); } .line.s8 { stroke: var(--s8); stroke-dasharray: 6 2.5; }
.line.whisker { stroke-width: 1.5; stroke-opacity: 0.55; stroke-dasharray: none; }
.line.again { stroke-dasharray: 1.5 2.5; }
.s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); } .s4 { fill: var(--s4); }
.s5 { fill: var(--s5); } .s6 { fill: var(--s6); } .s7 { fill: var(--s7); } .s8 { fill: var(--s8); }
.again { fill-opacity: 0.55; } .line { fill: none; }
.e-measured { fill: var(--measured); } .e-interpolated { fill: var(--interpolated); }
.e-extrapolated { fill: var(--extrapolated); } .e-stand_in { fill: var(--stand_in); }
.e-modelled { fill: var(--modelled); } .e-assumed { fill: var(--assumed); }
.line, .mark { vector-effect: non-scaling-stroke; } .line.base { stroke-width: 3; stroke-dasharray: 9 3 2 3; }
[aria-sort], .legend li[role] { cursor: pointer; user-select: none; } .legend li.off { opacity: 0.4; }
[aria-sort="ascending"]::after { content: " \2191"; } [aria-sort="descending"]::after { content: " \2193"; }
td small { color: var(--soft); } svg.chart[data-x] { touch-action: pan-y; user-select: none; }
#controls { font-size: 0.87rem; color: var(--soft); margin: 0.6rem 0; }
#controls input, #controls select { max-width: 14rem; } #controls button { margin-left: 0.6rem; }
.cursor { stroke: var(--soft); stroke-dasharray: 2 2; pointer-events: none; }
#readout { position: fixed; display: none; pointer-events: none; background: var(--panel);
  color: var(--text); border: 1px solid var(--rule); border-radius: 5px; padding: 0.25rem 0.6rem;
  font-size: 0.8rem; font-variant-numeric: tabular-nums; white-space: pre; z-index: 1; }
@media print { body { max-width: none; } nav, #controls { display: none; } }
)css";

bool looks_like_a_number(const std::string& cell) {
  if (cell.empty()) return false;
  const char first = cell[0];
  if (first == 'x') return cell.size() > 1 && cell[1] >= '0' && cell[1] <= '9';
  return (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '<' ||
         first == '>';
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
  body_ += "<h2 id=\"" + id + "\">" + escaped(text) + "</h2>\n";
}

void HtmlPage::paragraph(std::string_view text) {
  body_ += "<p>" + escaped(text) + "</p>\n";
}

void HtmlPage::lead(std::string_view text) {
  body_ += "<p class=\"lead\">" + escaped(text) + "</p>\n";
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

void HtmlPage::data(const std::string& json) {
  data_.clear();
  for (const char c : json) {  // so that the text is neither markup nor an entity
    if (c == '<' || c == '>' || c == '&') {
      data_ += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026";
    } else {
      data_ += c;
    }
  }
}

std::string HtmlPage::text() const {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>";
  out +=
      title_ + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<h1>" + title_ + "</h1>\n";
  if (sections_ > 1) out += "<nav>" + contents_ + "</nav>\n";
  out += "<div id=\"controls\"></div>\n" + body_ + "<div id=\"readout\"></div>\n";
  if (!data_.empty())
    out += "<script type=\"application/json\" id=\"data\">" + data_ + "</script>\n";
  return out + "<script>//<![CDATA[\n" + page_script() + "//]]></script>\n</body>\n</html>\n";
}

}  // namespace rooflua
