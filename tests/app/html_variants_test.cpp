// The page of many variants: goodput and own metrics are drawn, two numbers make a grid, an axis
// has one unit, and the reader chooses what is drawn.

#include <fstream>
#include <regex>

#include "base/json.h"
#include "measure/write/table.h"
#include "tests/app/program.h"
#include "tests/measure/well_formed.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::filesystem::path folder() {
  return rooflua::test::scratch("html_variants");
}

struct Page {
  std::string text;
  Json document;
  std::string file;
};

/// The page of a small scenario with these keys. @param status  what the program ends with
Page page_of(const std::string& keys, const std::string& more = "", int status = 0) {
  const auto scenario = folder() / "scenario.lua", html = folder() / "page.html",
             json = folder() / "result.json";
  std::ofstream(scenario)
      << "return { rooflua = 1, seed = 5, model = 'llama-3.1-8b', hardware = 'h200',\n"
      << keys
      << "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 30,\n"
         "    prompt_tokens = 300, output_tokens = 30 } }\n";
  const Said said =
      rooflua::test::rooflua("run " + scenario.string() + " --quiet --html " + html.string() +
                             " --json " + json.string() + " " + more + " 2>&1");
  INFO(said.text);
  REQUIRE(said.status == status);
  Page out{file_text(html), read_json(json.string()), html.string()};
  CHECK(ill_formed(out.text) == "");
  return out;
}

/// The figures of a page whose title contains that text.
std::vector<std::string> figures(const std::string& page, const std::string& title) {
  std::vector<std::string> out;
  for (std::size_t at = page.find("<figure"); at != std::string::npos;
       at = page.find("<figure", at + 1)) {
    const std::string figure = page.substr(at, page.find("</figure>", at) - at);
    const std::size_t begin = figure.find("<figcaption>") + 12;
    if (contains(figure.substr(begin, figure.find("</figcaption>") - begin), title))
      out.push_back(figure);
  }
  return out;
}

const char* slo = "slo = { ttft_s = 1, tpot_s = 0.02 },\n";
const char* own =
    "metrics = { slow_frac = require 'metrics.ttft_above_frac' { above_s = 0.02 } },\n";

std::string seats(int count) {
  std::string out = "vary = { ['scheduler.max_num_seqs'] = { ";
  for (int i = 1; i <= count; ++i) out += std::to_string(2 * i) + ", ";
  return out + "} },\n";
}

const char* two_numbers =
    "vary = { ['scheduler.max_num_seqs'] = { 2, 8, 64 }, ['workload.rate_per_s'] = { 5, 200 } },\n";

}  // namespace

TEST_CASE("goodput and own metrics are drawn, along a number and as a bar for each variant") {
  for (const char* vary : {"vary = { ['scheduler.max_num_seqs'] = { 2, 8, 64 } },\n",
                           "vary = { scheduler = { 'vllm_v1', 'sjf', 'static_batch' } },\n",
                           "vary = { ['scheduler.max_num_seqs'] = { 2, 8 } },\n", two_numbers}) {
    INFO(vary);
    const Page page = page_of(std::string(slo) + own + vary);
    CHECK(figures(page.text, "oodput").size() >= 1);
    REQUIRE(figures(page.text, "slow_frac").size() >= 1);
    const std::string drawn = figures(page.text, "slow_frac")[0];
    CHECK(count_of(drawn, ">%</text>") + count_of(drawn, ">slow_frac (%)</text>") == 1);
    const Page plain = page_of(vary);
    CHECK(figures(plain.text, "oodput").empty());
    CHECK(figures(plain.text, "slow_frac").empty());
  }
}

TEST_CASE("a bar says what the document says") {
  const Page page =
      page_of(std::string(slo) + "vary = { scheduler = { 'vllm_v1', 'static_batch' } },\n");
  const auto drawn = figures(page.text, "Goodput");
  REQUIRE(drawn.size() == 1);
  for (const Json& variant : page.document.find("variants")->items()) {
    const double goodput = variant.find("summary")->find("goodput_per_s")->number();
    CHECK(count_of(drawn[0], ">" + figure(goodput) + " requests/s</text>") == 1);
  }
}

TEST_CASE("the page of own metrics does not depend on jobs") {
  const std::string keys = std::string(slo) + own + seats(4);
  CHECK(page_of(keys).text == page_of(keys, "--jobs 3").text);
}

TEST_CASE("every limit stands in the unit of its axis") {
  for (const char* vary : {"vary = { ['scheduler.max_num_seqs'] = { 1, 2, 64 } },\n",
                           "vary = { ['scheduler.max_num_seqs'] = { 1, 64 }, "
                           "['workload.rate_per_s'] = { 1, 300 } },\n"}) {
    for (const char* limits : {"slo = { ttft_s = 1, tpot_s = 0.02, e2e_s = 20 },\n",
                               "slo = { ttft_s = 0.0005, tpot_s = 5, e2e_s = 0.4 },\n"}) {
      INFO(vary << limits);
      const Page page = page_of(std::string(limits) + vary, "--set workload.num_requests=200");
      int found = 0;
      for (const std::string& figure : figures(page.text, "")) {
        static const std::regex limit(">SLO [0-9.,]+ ([a-z]+)[^<]*</li>");
        static const std::regex axis("text-anchor=\"start\">(?:[^<]*\\()?(us|ms|s)\\)?</text>");
        std::smatch of_limit, of_axis;
        if (!std::regex_search(figure, of_limit, limit)) continue;
        INFO(figure.substr(0, 300));
        REQUIRE(std::regex_search(figure, of_axis, axis));
        CHECK(of_limit[1] == of_axis[1]);
        ++found;
      }
      CHECK(found >= 6);
      CHECK(!contains(page.text, "_s_p99 ("));  // no label that names another unit
    }
  }
}

TEST_CASE("two numbers make a grid with a cell for each run") {
  const Page page = page_of(std::string(slo) + own + two_numbers);
  REQUIRE(count_of(page.text, "class=\"heat\"") == 1);
  CHECK(count_of(page.text, "checked=\"checked\"") == 1);  // one metric is seen without a script
  const std::size_t panes = count_of(page.text, "class=\"pane\"");
  CHECK(panes == count_of(page.text, "type=\"radio\""));
  CHECK(panes >= 8);
  const std::size_t first = page.text.find("class=\"pane\"");
  const std::string goodput =
      page.text.substr(first, page.text.find("</div>\n<input", first) - first);
  const Json::Array& variants = page.document.find("variants")->items();
  REQUIRE(variants.size() == 6);
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const double value = variants[i].find("summary")->find("goodput_per_s")->number();
    CHECK(count_of(goodput, " data-v=\"" + std::to_string(i) + "\">" + figure(value) + "</td>") ==
          1);
  }
  CHECK(count_of(page.text, ">slow_frac (%)</label>") == 1);
  CHECK(count_of(page.text, "Framed") >= 1);
  CHECK(count_of(page.text, "Missing") == 0);
}

TEST_CASE("a grid says which cells have no figures, and why") {
  const Page page = page_of(
      "vary = { ['deployment.memory_utilization'] = { 0.05, 0.5, 0.9 }, "
      "['workload.rate_per_s'] = { 5, 20 } },\n",
      "", 1);
  CHECK(count_of(page.text, ">failed</td>") == 2 * count_of(page.text, "class=\"pane\""));
  CHECK(count_of(page.text,
                 ">Missing: rate_per_s=5, memory_utilization=0.05 and 1 more: failed: ") == 1);
}

TEST_CASE("a grid for each of what else varies has the same colours, and a sample has none") {
  const std::string numbers(two_numbers);
  const Page page = page_of("vary = { scheduler = { 'vllm_v1', 'sjf' }," + numbers.substr(8));
  CHECK(count_of(page.text, "class=\"heat\"") == 2);
  static const std::regex scale("<p class=\"scale\">.*</p>");
  std::vector<std::string> scales;
  for (std::sregex_iterator at(page.text.begin(), page.text.end(), scale), end; at != end; ++at)
    scales.push_back(at->str());
  REQUIRE(scales.size() % 2 == 0);
  for (std::size_t i = 0; i < scales.size() / 2; ++i)
    CHECK(scales[i] == scales[i + scales.size() / 2]);
  const Page seeds = page_of(numbers.substr(0, 8) + " seed = { 1, 2 }," + numbers.substr(8));
  CHECK(count_of(seeds.text, "class=\"heat\"") == 1);
  CHECK(contains(seeds.text, "the mean over its seeds"));
  const Page sample = page_of(
      "sweep = { method = 'sobol', n = 6, params = { ['workload.rate_per_s'] = { 5, 60 },"
      " ['scheduler.max_num_seqs'] = { 2, 64 } } },\n");
  CHECK(count_of(sample.text, "class=\"heat\"") == 0);
}

TEST_CASE("of more than ten variants the page holds the values of all, and says what it draws") {
  const Page page = page_of(slo + seats(12));
  CHECK(contains(page.text, "Drawn are the first 10 of 12 variants."));
  const std::size_t begin = page.text.find("id=\"choices\">") + 13;
  std::ofstream(folder() / "choices.json")
      << page.text.substr(begin, page.text.find('<', begin) - begin);
  const Json choices = read_json((folder() / "choices.json").string());
  CHECK(choices.find("variants")->items().size() == 12);
  CHECK(choices.find("charts")->items().size() == count_of(page.text, " data-draw=\""));
  for (const Json& chart : choices.find("charts")->items()) {
    const Json* curves = chart.find("curves");
    CHECK((curves != nullptr ? curves : chart.find("values"))->items().size() == 12);
  }
  CHECK(figures(page.text, "(TTFT)")[0].find("max_num_seqs=24") == std::string::npos);
  const Page few = page_of(slo + seats(10));
  CHECK(count_of(few.text, "id=\"choices\"") == 0);
  CHECK(count_of(few.text, "Drawn are") == 0);
}

namespace {

/// What a browser makes of a page after that script; empty where there is no browser.
std::string after(const Page& page, const std::string& script) {
  const auto changed = folder() / "changed.html";
  std::string text = page.text;
  text.insert(text.rfind("</body>"), "<script>" + script + "</script>");
  std::ofstream(changed) << text;
  const auto dom = folder() / "dom.html";
  const std::string command = "HOME=" + folder().string() +
                              " chromium --headless --no-sandbox --disable-gpu "
                              "--virtual-time-budget=2000 --dump-dom 'file://" +
                              changed.string() + "' > " + dom.string() + " 2> /dev/null";
  return std::system(command.c_str()) == 0 ? file_text(dom) : "";
}

}  // namespace

TEST_CASE("in a browser the filter and the boxes choose what is drawn") {
  if (std::system("chromium --version > /dev/null 2>&1") != 0) {
    WARN("SKIPPED: there is no chromium");
    return;
  }
  const Page page = page_of(slo + seats(12));
  const std::string typed =
      "var f = document.querySelector('input[type=search]'); f.value = 'max_num_seqs=24';"
      "f.dispatchEvent(new Event('input'));";
  const std::string filtered = after(page, typed);
  if (filtered.empty()) {
    WARN("SKIPPED: chromium does not start");
    return;
  }
  const std::string quantiles = figures(filtered, "(TTFT)")[0];
  CHECK(count_of(quantiles, "<polyline") == 1);
  CHECK(count_of(quantiles, "data-name=\"max_num_seqs=24\"") == 1);
  CHECK(contains(quantiles, ">SLO "));
  CHECK(contains(filtered, "Drawn are 1 of 12 variants"));
  // the filter reaches the charts that draw every variant: one dot of each line is left
  const std::string trend = figures(filtered, "Goodput")[0];
  CHECK(count_of(trend, "data-v=") == 12);
  CHECK(count_of(trend, " gone\"") == 11);
  static const std::regex one_point("<polyline[^>]* points=\"[0-9.]+,[0-9.]+\"");
  CHECK(std::regex_search(trend, one_point));
  CHECK(count_of(figures(filtered, "rests on")[0], "<g data-v=\"11\"") == 1);

  const std::string boxed = after(page,
                                  "document.querySelectorAll('#choice input')[11].click();"
                                  "document.querySelectorAll('#choice input')[0].click();");
  const std::string curves = figures(boxed, "(TPOT)")[0];
  CHECK(count_of(curves, "<polyline") == 10);
  CHECK(count_of(curves, "data-name=\"max_num_seqs=24\"") == 1);
  CHECK(count_of(curves, "data-name=\"max_num_seqs=2\"") == 0);
}
