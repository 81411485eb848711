// The page of a plan: of `plan` and of `run`, and what a price that a reader changes does to it.

#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "tests/app/program.h"
#include "tests/measure/well_formed.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::filesystem::path folder() {
  return rooflua::test::scratch("html_plan");
}

std::filesystem::path written(const std::string& name, const std::string& text) {
  const auto path = folder() / name;
  std::ofstream(path) << text;
  return path;
}

/// A question about two GPUs, one deployment of each.
std::string question(const std::string& h100, const std::string& l40s, const std::string& plan = "",
                     const std::string& top = "") {
  return "return { rooflua = 1, kind = 'plan', model = 'llama-3.1-8b', seed = 1, " + top +
         "workload = require 'workloads.poisson' { prompt_tokens = 300, output_tokens = 30 },\n"
         "plan = { load = { rate_per_s = 60 }, slo = { ttft_s_p99 = 0.5, tpot_s_p99 = 0.03 }, "
         "requests = 300, replicates = 4, strategy = require 'strategies.exhaustive' {}, "
         "gpus = { { 'h100-sxm', most = 4, price_per_hour = " +
         h100 + " }, { 'l40s', most = 16, price_per_hour = " + l40s +
         " } }, candidates = require 'candidates.ladder' { tp = { 1 }, max_num_seqs = { 64 }, "
         "max_num_batched_tokens = { 1024 } }, " +
         plan + " } }\n";
}

std::string page_of(const std::string& name, const std::string& scenario,
                    const std::string& more = "") {
  const auto file = written(name + ".lua", scenario), html = folder() / (name + ".html");
  const Said said = rooflua::test::rooflua("run " + file.string() + " --quiet --html " +
                                           html.string() + " " + more + " 2>&1");
  INFO(said.text);
  REQUIRE(said.status == 0);
  return file_text(html);
}

void check_page(const std::string& text) {
  CHECK(ill_formed(text) == "");
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import", "<link"})
    CHECK(count_of(text, outside) == 0);
  for (const char* number : {">NaN", ":NaN", "\"NaN", ">nan", ":nan", "undefined<", "null<"})
    CHECK(count_of(text, number) == 0);
}

/// What stands at the keys of a page, as markup.
std::map<std::string, std::string> keyed(const std::string& page) {
  std::map<std::string, std::string> out;
  const std::string before = "data-key=\"";
  for (std::size_t at = page.find(before); at != std::string::npos;
       at = page.find(before, at + 1)) {
    const std::size_t key = at + before.size(), text = page.find('>', key) + 1;
    std::string value = page.substr(text, page.find("</", text) - text);
    for (std::size_t line = value.find("<br>"); line != std::string::npos;
         line = value.find("<br>"))
      value.replace(line, 4, "<br/>");
    out[page.substr(key, page.find('"', key) - key)] = value;
  }
  return out;
}

/// The places of a page's lines, "x,y x,y ...", by the title of the chart and the line's name.
std::map<std::string, std::string> lines_of(const std::string& page) {
  std::map<std::string, std::string> out;
  const std::string title = "aria-label=\"", name = "data-name=\"", places = "points=\"";
  for (std::size_t at = page.find(name); at != std::string::npos; at = page.find(name, at + 1)) {
    const std::size_t chart = page.rfind(title, at) + title.size(), points = page.find(places, at);
    const auto upto_quote = [&](std::size_t from) {
      return page.substr(from, page.find('"', from) - from);
    };
    out[upto_quote(chart) + ": " + upto_quote(at + name.size())] =
        upto_quote(points + places.size());
  }
  return out;
}

bool has_browser() {
  return std::system("chromium --version > /dev/null 2>&1") == 0;
}

/// The page after a reader gave these prices, as chromium has it.
std::string edited(const std::string& page, const std::vector<std::string>& prices) {
  std::string script = "<script>";
  for (std::size_t i = 0; i < prices.size(); ++i) {
    script += "document.querySelectorAll('[data-field=\"" + std::to_string(i) +
              "\"]').forEach((f) => { f.value = '" + prices[i] +
              "'; f.dispatchEvent(new Event('input')); });";
  }
  std::string with = page;
  with.insert(with.rfind("</body>"), script + "</script>");
  const auto file = written("edited.html", with), dump = folder() / "dumped.html";
  const std::string profile = (folder() / "profile").string();
  REQUIRE(
      std::system(("timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir='" +
                   profile + "' --virtual-time-budget=2000 --dump-dom 'file://" + file.string() +
                   "' > '" + dump.string() + "' 2> /dev/null")
                      .c_str()) == 0);
  return file_text(dump);
}

/// The keys of the rows of a page's first table, from top to bottom: "0", "2", "1".
std::vector<std::string> rows_of(const std::string& page) {
  std::vector<std::string> out;
  const std::string before = "data-key=\"rank ";
  for (std::size_t at = page.find(before); at != std::string::npos;
       at = page.find(before, at + 1)) {
    const std::size_t from = at + before.size();
    out.push_back(page.substr(from, page.find('"', from) - from));
  }
  return out;
}

/// Heights of "x,y x,y ...": where the axis begins follows from the width of its numbers.
std::string heights(const std::string& places) {
  std::string out;
  std::istringstream in(places);
  for (std::string each; in >> each;) out += each.substr(each.find(',')) + " ";
  return out;
}

/// Both pages say the same of each deployment, in one order, whatever the rows are called.
void check_rows(const std::string& ours, const std::string& theirs) {
  const auto mine = rows_of(ours), fresh = rows_of(theirs);
  const auto own = keyed(ours), other = keyed(theirs);
  REQUIRE(mine.size() == fresh.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for (const std::string figure : {"rank ", "cost ", "difference ", "million ", "lost "}) {
      INFO(figure << "of row " << i);
      CHECK(own.at(figure + mine[i]) == other.at(figure + fresh[i]));
    }
  }
}

}  // namespace

TEST_CASE("run and plan write one page of a plan, whatever the number of jobs") {
  const std::string text = page_of("one", question("3", "1"));
  check_page(text);
  const std::size_t lead = text.find("Run llama-3.1-8b on ");
  REQUIRE(lead != std::string::npos);
  CHECK(lead < text.find("<svg class=\"chart\""));
  for (const char* heading : {"Verdict", "Prices", "Deployments", "Cost against load",
                              "What the figures rest on", "What was tried", "The report"})
    CHECK(count_of(text, std::string("\">") + heading + "</h2>") == 1);
  CHECK(page_of("one", question("3", "1"), "--jobs 3") == text);
  const auto html = folder() / "plan.html";
  const Said said = rooflua::test::rooflua("plan " + (folder() / "one.lua").string() +
                                           " --quiet --html " + html.string());
  CHECK(said.status == 0);
  const std::string own = file_text(html);
  check_page(own);
  CHECK(keyed(own) == keyed(text));
  CHECK(lines_of(own) == lines_of(text));
  const auto files = folder() / "files";
  CHECK(rooflua::test::rooflua("plan " + (folder() / "one.lua").string() + " --quiet --write " +
                               files.string())
            .status == 0);
  CHECK(file_text(files / "plan.html") == own);
}

TEST_CASE("a page is whole without its scripts, and folds what is long") {
  const std::string text = page_of("whole", question("3", "1"));
  const std::string report = "The text of the terminal, at the prices of the plan</summary>\n<pre>";
  CHECK(count_of(text, report) == 1);
  CHECK(count_of(text, "<details><summary>2 candidates</summary>") == 1);
  for (const auto& [key, value] : keyed(text)) {
    INFO(key);
    const bool may_be_empty = key.rfind("lost", 0) == 0 || key.rfind("difference", 0) == 0;
    CHECK((may_be_empty || !value.empty()));
  }
  CHECK(lines_of(text).size() == 4);  // two deployments in two charts
}

TEST_CASE("each plan of a file has its part, one without an answer, too") {
  const std::string text =
      page_of("parts",
              question("3", "1", "",
                       "title = 'A & B', vary = { ['plan.load.rate_per_s'] = { 60, 90000 } },\n"),
              "--jobs 2");
  check_page(text);
  CHECK(count_of(text, "<div class=\"plan\">") == 2);
  CHECK(count_of(text, "<h1>A &amp; B</h1>") == 1);
  for (const char* name : {"rate_per_s=60", "rate_per_s=90000"})
    CHECK(count_of(text, std::string("\">") + name + "</h2>") == 1);
  CHECK(count_of(text, "No deployment meets this.") >= 1);
  CHECK(count_of(text, "too few GPUs") >= 1);
}

TEST_CASE("names of GPUs and candidates are no markup on a page") {
  const std::string evil = "<b>\"x'&</script><script>alert(1)</script>";
  std::string scenario = question("3", "1");
  const std::string gpu = "{ 'l40s',";
  scenario.replace(scenario.find(gpu), gpu.size(), gpu + " label = [==[" + evil + "]==],");
  const std::string text = page_of("evil", scenario);
  check_page(text);
  CHECK(count_of(text, "<script>alert") == 0);
  CHECK(count_of(text, "<b>") == 0);
  CHECK(count_of(text, "</script>") == 4);  // two scripts, the data of the plan and of the page
  CHECK(count_of(text, "&lt;b&gt;&quot;x&#39;&amp;&lt;/script&gt;") > 3);
  if (!has_browser()) return;
  const std::string after = edited(text, {"9", "0.1"});
  CHECK(count_of(after, "<script>alert") == 0);
  CHECK(count_of(after, "<b>") == 0);
}

TEST_CASE("prices that a reader changes make the page of a plan with these prices") {
  if (!has_browser()) {
    WARN("SKIPPED: there is no chromium");
    return;
  }
  const std::vector<std::pair<std::string, std::string>> several{{"1250.125", "2.125"}, {"0", "1"}},
      one{{"3", "0.11"}};
  const std::map<std::string, std::vector<std::pair<std::string, std::string>>> cases{
      {"'cost'", several},
      {"'energy'", one},
      {"require 'objectives.weighted' { gpus = 0.3 }", one}};
  bool turned = false;
  for (const auto& [objective, prices] : cases) {
    INFO(objective);
    const std::string chosen = "objective = " + objective;
    const std::string page = page_of("before", question("3", "1", chosen));
    if (prices.size() > 1) {  // a browser takes seconds
      const auto unchanged = keyed(edited(page, {"3", "1"}));
      for (const auto& [key, value] : keyed(page)) {
        INFO(key);
        CHECK(unchanged.at(key) == value);
      }
    }
    for (const auto& [h100, l40s] : prices) {
      INFO(h100 << " and " << l40s);
      const std::string fresh = page_of("fresh", question(h100, l40s, chosen));
      const std::string after = edited(page, {h100, l40s});
      const std::map<std::string, std::string> ours = keyed(after), theirs = keyed(fresh);
      turned = turned || keyed(page).at("limits") != theirs.at("limits");
      for (const char* fact : {"lead", "changes", "limits", "rests"})
        CHECK(ours.at(fact) == theirs.at(fact));
      check_rows(after, fresh);
      for (const auto& [key, value] : theirs)
        if (key.rfind("candidate", 0) == 0) CHECK(ours.at(key) == value);
      const std::map<std::string, std::string> drawn = lines_of(after);
      for (const auto& [chart, places] : lines_of(fresh)) {
        INFO(chart);
        CHECK(heights(drawn.at(chart)) == heights(places));
      }
    }
  }
  CHECK(turned);
}

TEST_CASE("a GPU without a price has no costs until a reader gives one") {
  std::string scenario = question("3", "1", "objective = 'gpus'");
  const std::string price = ", price_per_hour = 1 ";
  scenario.replace(scenario.find(price), price.size(), "");
  const std::string text = page_of("unpriced", scenario);
  check_page(text);
  const std::map<std::string, std::string> before = keyed(text);
  CHECK(before.at("cost 0") == "$3.00");
  CHECK(before.at("cost 1") == "-");
  CHECK(before.at("million 1") == "-");
  CHECK(lines_of(text).size() == 3);  // GPUs of both, costs of one
  if (!has_browser()) return;
  const std::string after = edited(text, {"6", "2"});
  const auto priced = keyed(page_of("priced", question("6", "2", "objective = 'gpus'")));
  for (const char* cost : {"cost 0", "cost 1"}) CHECK(keyed(after).at(cost) == priced.at(cost));
  CHECK(lines_of(after).size() == 3);
  CHECK(keyed(edited(text, {"", "-1"})) == before);  // no prices
}
