#include <cmath>
#include <map>

#include "measure/html/page.h"
#include "measure/html/text.h"
#include "tests/catch.h"
#include "tests/measure/well_formed.h"

using namespace rooflua;
using rooflua::test::count_of;
using rooflua::test::ill_formed;

namespace {

HtmlPage example() {
  HtmlPage page("a < b & \"c\"");
  page.heading("One & two");
  page.paragraph("text <b>not bold</b>");
  page.table({{"name", "n"}, {"<x>", "3"}, {"y", "-"}});
  page.heading("Three");
  page.preformatted("return { x = 1 < 2 }");
  page.note("small");
  return page;
}

/// "--name: #rrggbb;" of a part of the style sheet.
std::map<std::string, int> colours(const std::string& css) {
  std::map<std::string, int> out;
  for (std::size_t at = css.find("--"); at != std::string::npos; at = css.find("--", at + 2)) {
    const std::size_t colon = css.find(": #", at);
    if (colon == std::string::npos || colon - at > 20) continue;
    out[css.substr(at + 2, colon - at - 2)] = std::stoi(css.substr(colon + 3, 6), nullptr, 16);
  }
  return out;
}

/// WCAG 2.1: relative luminance, and contrast between two of them.
double luminance(int rgb) {
  const auto linear = [](int byte) {
    const double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(rgb >> 16 & 255) + 0.7152 * linear(rgb >> 8 & 255) +
         0.0722 * linear(rgb & 255);
}

double contrast(int a, int b) {
  const double brighter = std::max(luminance(a), luminance(b));
  return (brighter + 0.05) / (std::min(luminance(a), luminance(b)) + 0.05);
}

}  // namespace

TEST_CASE("a page is well-formed, says what it was given, and asks for nothing") {
  const std::string text = example().text();
  CHECK(ill_formed(text) == "");
  CHECK(count_of(text, "&lt;b&gt;not bold") == 1);
  CHECK(count_of(text, "<b>") == 0);
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import", "<link", "//www"})
    CHECK(count_of(text, outside) == 0);
  CHECK(text == example().text());
}

TEST_CASE("the check for well-formed pages finds what is not") {
  for (const char* bad : {"<p>", "<p></b>", "<p a=b></p>", "a & b", "<p a=\"x<y\"></p>", "</p>",
                          "<p", "<p a=\"&\"></p>"})
    CHECK(ill_formed(bad) != "");
  CHECK(ill_formed("<p a=\"&lt;\">x &amp; y<br/></p>") == "");
}

TEST_CASE("columns of numbers are aligned right, with their header") {
  const std::string text = example().text();
  CHECK(count_of(text, "<th class=\"n\">n</th>") == 1);
  CHECK(count_of(text, "<td class=\"n\">3</td>") == 1);
  CHECK(count_of(text, "<td>&lt;x&gt;</td>") == 1);
}

TEST_CASE("every colour can be told from its background, in light and in dark") {
  const std::string text = HtmlPage("x").text();
  const std::size_t dark = text.find("prefers-color-scheme: dark");
  REQUIRE(dark != std::string::npos);
  const std::string parts[] = {text.substr(0, dark),
                               text.substr(dark, text.find("* {", dark) - dark)};
  for (const std::string& css : parts) {
    auto all = colours(css);
    REQUIRE(all.size() == 28);
    for (const auto& [name, rgb] : all) {
      if (name == "back" || name == "panel" || name == "rule") continue;
      if (name[0] == 'h') {  // a cell: its text is that of the page, from h6 on the background's
        INFO("the text on " << name);
        CHECK(contrast(rgb, all[name >= "h6" ? "back" : "text"]) >= 4.5);
        continue;
      }
      INFO(name << " against the background");
      CHECK(contrast(rgb, all["back"]) >= (name == "text" || name == "soft" ? 4.5 : 3.0));
    }
    CHECK(contrast(all["text"], all["panel"]) >= 4.5);
  }
}

TEST_CASE("text is escaped for elements and for attributes") {
  CHECK(escaped("<a href=\"x\">'&'</a>") ==
        "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  CHECK(escaped("a\x02"
                "b\n") ==
        "a\xEF\xBF\xBD"
        "b\n");
}

TEST_CASE("the script of choices comes with their values, and only then") {
  HtmlPage page = example();
  const std::string plain = page.text();
  CHECK(count_of(plain, "id=\"choices\"") == 0);
  page.choices("{\"variants\": [\"</script>&\"]}");
  const std::string text = page.text();
  CHECK(ill_formed(text) == "");
  CHECK(count_of(text, "\\u003c/script\\u003e\\u0026") == 1);
  CHECK(text.size() > plain.size() + 3000);  // the script
}

TEST_CASE("a page holds its data as JSON that is no markup, and is whole without its script") {
  HtmlPage page = example();
  CHECK(count_of(page.text(), "id=\"data\"") == 0);
  page.data("{\"a\": \"</script><b>&\"}");
  const std::string text = page.text();
  CHECK(ill_formed(text) == "");
  CHECK(count_of(text, "\\u003c/script\\u003e\\u003cb\\u003e\\u0026") == 1);
  const std::size_t script = text.find("<script>");
  for (const char* said : {"text &lt;b&gt;not bold", "<td>y</td>", "return { x = 1 &lt; 2 }"})
    CHECK(text.find(said) < script);
}

TEST_CASE("cells, facts and fields are text, and a script finds them by their keys") {
  HtmlPage page("x");
  page.open_plan();
  page.lead(HtmlText{{"a < b", "second"}, "le\"ad"});
  page.facts({{"How <sure>", {{"very & so"}, "sure"}}});
  page.fields({{"<b>", "0", "3\"", "per & hour"}});
  page.cards({"rank", "cost", "<name>"}, {{{{"1"}, "rank 0"}, {{"$3.00"}, "c"}, {{"<i>", "y"}, ""}},
                                          {{{"2"}, "rank 1"}, {{"-"}, "d"}, {{}, ""}}});
  page.close_plan("{\"a\": \"</script>\"}");
  const std::string text = page.text();
  CHECK(ill_formed(text) == "");
  CHECK(count_of(text, "<p class=\"lead\" data-key=\"le&quot;ad\">a &lt; b<br/>second</p>") == 1);
  CHECK(count_of(text, "<dt>How &lt;sure&gt;</dt><dd data-key=\"sure\">very &amp; so</dd>") == 1);
  CHECK(count_of(text, "disabled=\"disabled\" data-field=\"0\" value=\"3&quot;\"") == 1);
  CHECK(count_of(text,
                 "<td class=\"n\" data-label=\"cost\"><span data-key=\"c\">$3.00</span></td>") ==
        1);
  CHECK(count_of(text, "<td data-label=\"&lt;name&gt;\"><span>&lt;i&gt;<br/>y</span></td>") == 1);
  CHECK(count_of(text, "{\"a\": \"\\u003c/script\\u003e\"}") == 1);
  CHECK(count_of(text, "</script>") == 3);  // the data, the page's script, the plan's script
  CHECK(count_of(HtmlPage("x").text(), "</script>") == 1);
}
