// run --html: the page agrees with --json, is well-formed, and is the same every time.

#include <fstream>
#include <map>

#include "base/json.h"
#include "measure/write/table.h"
#include "tests/app/program.h"
#include "tests/measure/well_formed.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::filesystem::path folder() {
  return rooflua::test::scratch("html");
}

struct Page {
  std::string text;
  Json document;
};

Page page_of(const std::string& scenario, const std::string& more = "") {
  const auto html = folder() / "page.html", json = folder() / "result.json";
  const Said said = rooflua::test::rooflua("run " + scenario + " --quiet --html " + html.string() +
                                           " --json " + json.string() + " " + more + " 2>&1");
  INFO(said.text);
  REQUIRE(said.status == 0);
  return {file_text(html), read_json(json.string())};
}

std::string written(const std::string& name, const std::string& text) {
  const auto path = folder() / name;
  std::ofstream(path) << text;
  return path.string();
}

const char* evil =
    "--- Is 1 < 2 && \"a\" > 'b'?  </style><script>alert(1)</script>\n"
    "---\n--- Setup     one <b>line</b>\n---           & its <i>continuation</i>\n"
    "return { rooflua = 1, title = '<Tom> & \"Jerry\" ]]></svg>', seed = 5,\n"
    "  model = 'llama-3.1-8b', hardware = 'h200',\n"
    "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 60,\n"
    "    prompt_tokens = 300, output_tokens = 30 },\n"
    "  vary = { ['scheduler.max_num_seqs'] = { { label = '<4>', value = 4 },\n"
    "    { label = 'a&b', value = 64 } } } }\n";

std::string cell_of(const std::string& figure) {
  return "<td class=\"n\">" + figure + "</td>";
}

/// Texts of the cells between two places.
std::vector<std::string> cells(const std::string& row) {
  std::vector<std::string> out;
  for (std::size_t at = row.find("<t"); at != std::string::npos; at = row.find("<t", at + 1)) {
    if (row[at + 2] != 'h' && row[at + 2] != 'd') continue;
    const std::size_t begin = row.find('>', at) + 1;
    out.push_back(row.substr(begin, row.find("</t", begin) - begin));
  }
  return out;
}

/// A row of the first table after `heading`, the one that begins with `first`: header -> cell.
std::map<std::string, std::string> row_of(const std::string& page, const std::string& heading,
                                          const std::string& first) {
  const std::size_t table = page.find("<table>", page.find(heading));
  const std::string text = page.substr(table, page.find("</table>", table) - table);
  std::vector<std::string> header;
  std::map<std::string, std::string> out;
  for (std::size_t at = text.find("<tr>"); at != std::string::npos;
       at = text.find("<tr>", at + 1)) {
    const std::vector<std::string> row = cells(text.substr(at, text.find("</tr>", at) - at));
    if (header.empty()) header = row;
    if (row.at(0) != first) continue;
    for (std::size_t i = 0; i < row.size(); ++i) out[header.at(i)] = row[i];
  }
  return out;
}

void check_page(const std::string& text) {
  CHECK(ill_formed(text) == "");
  for (const char* outside : {"http:", "https:", "src=", "url(", "@import", "<link"})
    CHECK(count_of(text, outside) == 0);
  for (const char* number : {">NaN", ":NaN", "\"NaN", ">nan", ":nan"})
    CHECK(count_of(text, number) == 0);
}

}  // namespace

TEST_CASE("a report of served variants shows what --json says") {
  const Page page = page_of("scenarios/02_chunk_size.lua");
  check_page(page.text);
  for (const char* section :
       {"Summary", "Against scheduler.max_num_batched_tokens", "Differences to the first",
        "Latencies", "Over time", "Where the time of a step goes", "Parameters"})
    CHECK(count_of(page.text, std::string("\">") + section) >= 1);
  const Json::Array& variants = page.document.find("variants")->items();
  const double first_per_s = variants[0].find("summary")->find("output_tokens_per_s")->number();
  for (const Json& variant : variants) {
    const Json& summary = *variant.find("summary");
    const std::string& name = variant.find("name")->text();
    auto row = row_of(page.text, ">Summary</h2>", name);
    const auto time = [&](const char* metric, const char* rank) {
      return figure(summary.find(metric)->find(rank)->number() * 1e3);
    };
    CHECK(row["requests/s"] == figure(summary.find("requests_per_s")->number()));
    CHECK(row["TTFT p50 ms"] == time("ttft_s", "p50"));
    CHECK(row["TTFT p99 ms"] == time("ttft_s", "p99"));
    CHECK(row["TPOT mean ms"] == time("tpot_s", "mean"));
    CHECK(row["TPOT p99 ms"] == time("tpot_s", "p99"));
    CHECK(row["ITL p99 ms"] == time("itl_s", "p99"));
    CHECK(row["E2E p99 ms"] == time("e2e_s", "p99"));
    CHECK(row["completed"] == "300");
    if (&variant == &variants[0]) continue;
    auto change = row_of(page.text, ">Differences to the first variant</h2>", name);
    CHECK(std::stod(change["tokens/s"]) ==
          Approx(100 * (summary.find("output_tokens_per_s")->number() / first_per_s - 1))
              .margin(0.051));
  }
  CHECK(count_of(page.text, "<figure>") ==
        18);  // 1 evidence, 4 of where latencies go, 3 trends, 4 latencies, 5 times, 1 ops
}

TEST_CASE("a page does not depend on jobs, and a page without variants compares nothing") {
  const std::string scenario = "scenarios/02_chunk_size.lua";
  CHECK(page_of(scenario).text == page_of(scenario, "--jobs 3").text);
  const std::string one =
      written("one.lua",
              "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200',\n"
              "workload = require 'workloads.constant' { rate_per_s = 5, num_requests = 1 } }");
  const Page single = page_of(one);
  check_page(single.text);
  CHECK(count_of(single.text, "Differences") == 0);
  CHECK(count_of(single.text, "Summary") >= 1);
}

TEST_CASE("titles, headers and labels cannot break out of a page") {
  const Page page = page_of(written("evil.lua", evil));
  check_page(page.text);
  CHECK(count_of(page.text, "<script") == 2);  // the page's own, and its data
  CHECK(count_of(page.text, "<script>alert") == 0);
  CHECK(count_of(page.text, "</script>") == 2);
  CHECK(count_of(page.text, "<b>") == 0);
  CHECK(count_of(page.text, "&lt;Tom&gt; &amp; &quot;Jerry&quot;") >= 2);
  CHECK(count_of(page.text, "<dt>Setup</dt><dd>one &lt;b&gt;line&lt;/b&gt; &amp; its") == 1);
  CHECK(count_of(page.text, "max_num_seqs=&lt;4&gt;") >= 1);
}

TEST_CASE("priced batches and static figures have pages") {
  const Page priced = page_of("scenarios/04_switches.lua");
  check_page(priced.text);
  const Json& first = priced.document.find("variants")->items()[3].find("price")->items()[0];
  CHECK(count_of(priced.text, cell_of(figure(first.find("time_s")->number() * 1e3))) >= 1);
  CHECK(count_of(priced.text, "attention_flop = dense, / 1.8") >= 1);
  const Page fixed = page_of("scenarios/06_infersim_table.lua");
  check_page(fixed.text);
  CHECK(count_of(fixed.text, "<td>decode_tokens_per_s</td>") == 1);
}

const char* small =
    "return { rooflua = 1, seed = 5, model = 'llama-3.1-8b', hardware = 'h200', %s\n"
    "  workload = require 'workloads.poisson' { rate_per_s = 20, num_requests = 30,\n"
    "    prompt_tokens = 300, output_tokens = 30 } }\n";

std::string with(const std::string& keys) {
  std::string out = small;
  return out.replace(out.find("%s"), 2, keys);
}

TEST_CASE("runs of several seeds are compared seed by seed, with intervals") {
  const std::string file = written(
      "seeds.lua", with("vary = { ['scheduler.max_num_seqs'] = { 64, 2 }, seed = { 1, 2, 3 } },"));
  const Page page = page_of(file, "--jobs 2");
  check_page(page.text);
  CHECK(count_of(page.text, ">Differences to the first variant</h2>") == 0);
  // The mean of the differences, by hand: variants 1..3 are the seeds of the baseline.
  const Json::Array& variants = page.document.find("variants")->items();
  REQUIRE(variants.size() == 6);
  double sum_s = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto p50 = [&](std::size_t at) {
      return variants[at].find("summary")->find("ttft_s")->find("p50")->number();
    };
    sum_s += p50(i + 3) - p50(i);
  }
  auto row = row_of(page.text, ">Differences over seeds</h2>", "ttft_s_p50");
  CHECK(row["variant"] == "max_num_seqs=2");
  const double unit = contains(row["difference"], " ms") ? 1e3 : 1;
  CHECK(std::stod(row["difference"]) == Approx(sum_s / 3 * unit).epsilon(1e-3));
  CHECK(std::stod(row["95 % from"]) < std::stod(row["difference"]));
}

TEST_CASE("a sweep is drawn against everything that it varied, and has no baseline") {
  const std::string file = written(
      "sweep.lua",
      with("sweep = { method = 'sobol', n = 4, params = { ['workload.rate_per_s'] = { 5, 60 },"
           " ['scheduler.max_num_seqs'] = { 2, 64 } } },"));
  const Page page = page_of(file, "--results " + (folder() / "sweep.sqlite").string());
  check_page(page.text);
  CHECK(count_of(page.text, ">Differences") == 0);
  for (const char* parameter : {"workload.rate_per_s", "scheduler.max_num_seqs"}) {
    CHECK(count_of(page.text, std::string(">TTFT p99 against ") + parameter) == 1);
    CHECK(count_of(page.text, std::string(">TPOT p99 against ") + parameter) == 1);
  }
  const Json& first = page.document.find("variants")->items()[0];
  const double rate = first.find("parameters")->find("workload.rate_per_s")->number();
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", rate);
  CHECK(count_of(page.text, cell_of(text)) >= 1);
  CHECK(page_of(file, "--results " + (folder() / "sweep.sqlite").string()).text == page.text);
}

/// The colours that the legends of a page give to that name, in order of the charts.
std::vector<std::string> colours_of(const std::string& page, const std::string& name) {
  std::vector<std::string> out;
  const std::string end = "</svg>" + name + "</li>";
  for (std::size_t at = page.find(end); at != std::string::npos; at = page.find(end, at + 1)) {
    const std::size_t from = page.rfind(" s", at) + 1;
    out.push_back(page.substr(from, page.find('"', from) - from));
  }
  return out;
}

TEST_CASE("a sweep of two parameters has a colour for each value of the other, and SLO lines") {
  const Page page = page_of(written("two.lua", with("slo = { ttft_s = 0.05, tpot_s = 0.01 },\n"
                                                    "  vary = { ['workload.rate_per_s'] = { 1, "
                                                    "200 }, ['deployment.tp'] = { 1, 2 } },")));
  check_page(page.text);
  for (const char* name : {"rate_per_s=1", "rate_per_s=200", "tp=1", "tp=2"}) {
    const std::vector<std::string> colours = colours_of(page.text, name);
    REQUIRE(colours.size() == 4);  // of four metrics
    CHECK(colours == std::vector<std::string>(4, colours[0]));
  }
  CHECK(colours_of(page.text, "tp=1") != colours_of(page.text, "tp=2"));
  CHECK(count_of(page.text, ">SLO 50 ms<") >= 1);
  CHECK(count_of(page.text, ">workload.rate_per_s (requests/s)</text>") == 4);
  CHECK(count_of(page.text, ">output_tokens_per_s (tokens/s)</text>") == 2);
}

TEST_CASE("searches have pages: what was tried, and the limit") {
  const char* rate =
      "kind = 'search', search = { goal = 'rate', slo = { ttft_s_p99 = 0.1 }, min = 1, max = 400, "
      "tolerance = 0.2, checks = 1 },";
  const Page page = page_of(written("rate.lua", with(rate)));
  check_page(page.text);
  const Json& search = *page.document.find("variants")->items()[0].find("search");
  CHECK(count_of(page.text, ">TTFT p99 against workload.rate_per_s") == 1);
  CHECK(count_of(page.text, ">SLO 100 ms") == 1);
  for (const Json& tried : search.find("tried")->items()) {
    char text[40];
    std::snprintf(text, sizeof text, "%.5g", tried.find("value")->number());
    CHECK(count_of(page.text, cell_of(text)) >= 1);
  }
  const Page front =
      page_of(written("front.lua", with("kind = 'search', search = { goal = 'pareto', vary = { "
                                        "['scheduler.max_num_seqs'] = { 2, 64 } } },")));
  check_page(front.text);
  CHECK(count_of(front.text, "Pareto front") >= 2);
  const Page moved =
      page_of(written("moved.lua", with("kind = 'search', search = { goal = 'sensitivity', params "
                                        "= { 'steps.host_step_s', 'steps.sampler_s' } },")));
  check_page(moved.text);
  CHECK(count_of(moved.text, "steps.sampler_s") >= 2);  // in the table, and a bar
  CHECK(count_of(moved.text, ">1 % more of each: ") >= 1);
  CHECK(count_of(moved.text, "<pre") == 1);  // the scenario's file, nothing else
  const Page cheap = page_of(written(
      "cheap.lua",
      with("kind = 'search', search = { goal = 'cheapest', slo = { tpot_s_mean = 1 }, "
           "deployments = { { name = 'one', cost_per_hour = 2, set = {} }, { name = 'two', "
           "cost_per_hour = 3, set = { replicas = 2 } }, { name = 'too small', "
           "cost_per_hour = 1, set = { model = 'llama-3.1-70b', hardware = 'l40s' } } } },")));
  check_page(cheap.text);
  CHECK(count_of(cheap.text, "against cost (SLO: tpot_s_mean &lt;= 1 s)") >= 1);
  CHECK(count_of(cheap.text, "does not fit") == 2);  // in the table, and in the data
}

TEST_CASE("the page of a search says what its time rests on") {
  for (const char* goal :
       {"goal = 'rate', slo = { ttft_s_p99 = 1 }, min = 1, max = 4, tolerance = 0.5, checks = 0",
        "goal = 'pareto', vary = { ['scheduler.max_num_seqs'] = { 2, 64 } }",
        "goal = 'sensitivity', params = { 'steps.host_step_s' }",
        "goal = 'cheapest', slo = { tpot_s_mean = 1 }, deployments = { { name = 'one', "
        "cost_per_hour = 2, set = {} } }"}) {
    INFO(goal);
    const Page page = page_of(
        written("rests.lua", with("kind = 'search', search = { " + std::string(goal) + " },")));
    check_page(page.text);
    CHECK(count_of(page.text, "What the time rests on") >= 1);
    const Json& evidence =
        *page.document.find("variants")->items()[0].find("summary")->find("evidence");
    for (const Json::Member& share : evidence.members())
      CHECK(count_of(page.text, ">" + share.key + "<") >= 1);
  }
}

TEST_CASE("a new scenario's page has its method section, and not what is for its author") {
  const std::string name = (folder() / "chat").string();
  std::filesystem::remove(name + ".lua");
  REQUIRE(rooflua::test::rooflua("new " + name).status == 0);
  const Page page = page_of(name + ".lua", "--set workload.num_requests=5");
  const std::string head = page.text.substr(0, page.text.find("The scenario file"));
  CHECK(count_of(head, "What the answer does not cover.") == 1);
  CHECK(count_of(head, "rooflua check") == 0);
  CHECK(count_of(head, "@type") == 0);
}

TEST_CASE("a page that cannot be written is said before the run") {
  const Said said =
      rooflua::test::rooflua("run scenarios/02_chunk_size.lua --html /nowhere/x.html 2>&1");
  CHECK(said.status == 1);
  CHECK(contains(said.text, "there is no folder"));
}

TEST_CASE("a page of which no request was completed says of what they failed") {
  const std::string file =
      written("full.lua",
              "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h200',\n"
              "  deployment = { kv_blocks = 10 }, workload = require 'workloads.poisson' {\n"
              "    num_requests = 20, prompt_tokens = 3000, output_tokens = 10 } }\n");
  const auto html = folder() / "full.html";
  const Said said = rooflua::test::rooflua("run " + file + " --quiet --html " + html.string());
  CHECK(said.status == 1);
  const std::string page = file_text(html);
  CHECK(contains(page, "exceeds_kv_cache"));
  CHECK(contains(page, "Nothing was priced"));
  CHECK(!contains(page, "What the time rests on"));
}

TEST_CASE("the pure functions of a page's script do what they say, in node") {
  if (std::system("node --version > /dev/null 2>&1") != 0) {
    WARN("SKIPPED: there is no node");
    return;
  }
  const std::string page = (rooflua::test::scratch() / "script.html").string();
  const std::string test = (source_dir() / "tests/measure/page_script.js").string();
  const char* many = "vary = { ['workload.rate_per_s'] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 } },";
  for (const bool choice : {false, true}) {
    const std::string scenario = written("script.lua", with(choice ? many : ""));
    CHECK(rooflua::test::rooflua("run " + scenario + " --quiet --html " + page).status == 0);
    CHECK(
        std::system(("node '" + test + "' '" + page + (choice ? "' choice" : "'") + " > /dev/null")
                        .c_str()) == 0);
  }
}
