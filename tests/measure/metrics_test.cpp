#include "measure/record/metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "measure/write/report.h"
#include "measure/write/result.h"
#include "measure/write/run_columns.h"
#include "tests/catch.h"
#include "tests/measure/synthetic_run.h"

using namespace rooflua;

namespace {

template <class Metric>
void check_declarations(std::span<const Metric> metrics) {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics) {
    INFO(metric.name);
    CHECK(names.insert(metric.name).second);
    CHECK_FALSE(metric.label.empty());
    CHECK_FALSE(metric.help.empty());
    const bool is_rate = metric.name.find("_per_s") != std::string_view::npos;
    const bool in_seconds = !is_rate && (metric.name.ends_with("_s") ||
                                         metric.name.find("_s_") != std::string_view::npos);
    CHECK(in_seconds == (metric.unit == "s" || metric.unit == "block-seconds"));
  }
}

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> out;
  for (const Json::Member& member : object.members()) out.push_back(member.key);
  return out;
}

}  // namespace

TEST_CASE("every metric has one name, a label, help, and a unit that its name agrees with") {
  check_declarations(run_metrics());
  check_declarations(group_metrics());
  check_declarations(replica_metrics());
  check_declarations(session_metrics());
  for (const PartRow* part : parts()) check_declarations(part->metrics);
}

TEST_CASE("a part is once in the list, and says where it stands in reports and on pages") {
  std::set<std::string_view> names;
  std::size_t in_reports = 0, on_pages = 0;
  for (const PartRow* part : parts()) {
    INFO(part->name);
    CHECK(names.insert(part->name).second);
    CHECK_FALSE(part->help.empty());
    CHECK((part->many == (part->metrics.front().name == "name")));
    CHECK((part->many || part->text != nullptr));
    CHECK((part->labels.empty() == (part->cells == nullptr)));
  }
  using P = PartPosition;
  for (const P::Spot spot : {P::before_groups, P::among_parts, P::at_end}) {
    in_reports += parts_at(&PartRow::in_report, spot).size();
    on_pages += parts_at(&PartRow::on_page, spot).size();
  }
  CHECK(in_reports == parts().size());
  CHECK(on_pages + parts_at(&PartRow::on_page, P::nowhere).size() == parts().size());
}

TEST_CASE("figures of every part are written, read and put into tables") {
  Summary summary = test::synthetic_summary();
  for (const PartRow* part : parts()) {
    if (!part->many) summary.add(*part, part->empty());
    for (int i = 0; part->many && i < 2; ++i) summary.add(*part, part->empty());
  }
  std::set<std::string> found;
  const Json document = to_json(summary);
  for (const std::string& key : keys(document)) found.insert(key);
  for (const PartRow* part : parts()) {
    INFO(part->name);
    CHECK(found.count(std::string(part->name)) == 1);
    const Json& own = *document.find(part->name);
    const Json& one = part->many ? own.items().at(1) : own;
    CHECK(keys(one).size() == part->metrics.size());
    CHECK(cells_of({part, part->empty()}).size() == labels_of(*part).size());
  }
  const std::string text = dump_json(document);
  CHECK(dump_json(to_json(summary_from_json(parse_json(text, "s"), "s"))) == text);
  CHECK(report(summary).find("Jain's index") < report(summary).find("drafts    "));
}

namespace {

/// Counts steps, and overrides on_step() alone.
class Steps : public CounterOf<Steps> {
 public:
  void on_step(const StepDone&) override { ++steps; }
  void forget_steps() override { steps = 0; }
  std::vector<std::any> figures(const Summary&, const RunSpan&) const override { return {}; }
  int steps = 0;
};

}  // namespace

TEST_CASE("a part that is counted keeps its run in one process, and is copied with it") {
  CHECK(SummaryObserver().undivided() == "");
  SummaryOptions options;
  options.parts["gate"] = true;
  SummaryObserver first(options);
  CHECK(first.undivided() == "gate");
  SummaryObserver second = first;
  test::play(second);
  const auto admitted = [](const SummaryObserver& of) {
    return to_json(of.summary()).find("gate")->find("admitted")->integer();
  };
  CHECK(admitted(first) == 0);
  CHECK(admitted(second) == 2);
}

TEST_CASE("a counter hears what it overrides, and steps one by one") {
  Steps counter;
  CHECK(counter.hears(PartEvent::step));
  CHECK_FALSE(counter.hears(PartEvent::end));
  CHECK_FALSE(counter.hears(PartEvent::row));
  CHECK_FALSE(counter.may_divide());
  Batch batch;
  StepPrice price;
  const std::vector<RepeatedStep> repeated(3, RepeatedStep{0, 0, 1, &price, 0, 0});
  StepsDone done;
  done.first.batch = &batch;
  done.first.price = &price;
  done.steps = repeated;
  static_cast<PartCounter&>(counter).on_steps(done);
  CHECK(counter.steps == 3);
  CHECK(dynamic_cast<Steps&>(*counter.copy()).steps == 3);
}

TEST_CASE("a document has the declared metrics in the declared order") {
  Summary summary = test::synthetic_summary();
  const std::vector<std::string> without = keys(to_json(summary));
  CHECK(std::find(without.begin(), without.end(), "wasted_prompt_tokens") == without.end());
  summary.wasted_prompt_tokens = summary.wasted_output_tokens = 3;  // requests were aborted
  const std::vector<std::string> written = keys(to_json(summary));
  std::vector<std::string> expected;
  for (const Metric& metric : run_metrics()) {
    if (!std::holds_alternative<std::monostate>(metric.source)) expected.emplace_back(metric.name);
  }
  for (const char* key : {"classes", "replicas", "sessions"}) expected.emplace_back(key);
  CHECK(written == expected);
  CHECK(to_json(summary).find("replicas")->items().at(0).find("wait_frac") == nullptr);
  summary.replicas.front().wait_frac = 0.25;
  const Json document = to_json(summary);
  const Json& replica = document.find("replicas")->items().at(0);
  CHECK(replica.find("wait_frac")->number() == 0.25);
  summary.replicas.push_back(summary.replicas.front());
  summary.replicas.back().wait_frac = {};  // this one steps alone
  CHECK(report(summary).find("waits") != std::string::npos);
  CHECK(report(summary).find("nan") == std::string::npos);
  summary.replicas.front().wait_frac = {};
  CHECK(report(summary).find("waits") == std::string::npos);
  expected = {"name"};
  for (const auto& metric : group_metrics()) {
    const std::string name(metric.name);
    const bool of_drafts = name == "tokens_per_round" || name == "acceptance_rate";
    const bool of_gate = name.starts_with("held_s");
    if (!of_drafts && !of_gate) expected.push_back(name);  // no drafts and no gate here
  }
  for (const auto& metric : replica_metrics()) expected.emplace_back(metric.name);
  CHECK(keys(replica) == expected);
}

TEST_CASE("goodput is null in a summary without an SLO, and not there in its classes") {
  SummaryOptions options;
  options.classes = {"batch", "chat"};
  SummaryObserver observer(options);
  test::play(observer);
  const Json document = to_json(observer.summary());
  CHECK(document.find("goodput_per_s")->is_null());
  CHECK(document.find("classes")->items().at(0).find("goodput_per_s") == nullptr);
}

TEST_CASE("a column gives the number that the summary holds") {
  const Summary s = test::synthetic_summary();
  CHECK(run_column("ttft_s_p99").value(s) == s.ttft_s.p99);
  CHECK(run_column("ttft_s_p99").label() == "TTFT p99");
  CHECK(run_column("preemptions").value(s) == 1);
  CHECK(run_column("goodput_per_s").value(s) == *s.goodput_per_s);
  CHECK(run_column("failed").value(s) == 1);
  CHECK(run_column("evidence").value(s) == s.unsupported_share());
  CHECK(std::isnan(run_column("goodput_per_s").value(SummaryObserver().summary())));
  CHECK(std::isnan(run_column("time_s").value(s)));
  CHECK(replica_column("busy_frac").value(s.replicas.at(0)) == s.replicas.at(0).busy_frac);
  CHECK(group_column("tpot_s_p50").value(s.classes.at(0)) == s.classes.at(0).tpot_s.p50);
  CHECK(run_column("kv_used_frac_max").is_share());
  CHECK(run_column("failed").is_count());
}

TEST_CASE("derived metrics are made of metrics that exist") {
  for (const DerivedMetric& metric : derived_metrics()) {
    INFO(metric.name);
    for (const std::string_view factor : metric.factors)
      CHECK((factor.empty() || run_column(factor).metric->name == factor));
    CHECK((metric.divisor == "gpus" || run_column(metric.divisor).figure == nullptr));
  }
}

TEST_CASE("columns that say nothing are left out of tables, and a scenario's metrics added") {
  Summary quiet = SummaryObserver().summary(), busy = test::synthetic_summary();
  busy.own.push_back({"late_frac", "1", 0.25});
  const std::vector<WantedColumn> wanted = {
      {"requests_per_s", "req/s"}, {"ttft_s_p50"}, {"goodput_per_s"}, {"failed"}};
  const auto labels = [&](const std::vector<const Summary*>& runs, Empty empty) {
    std::vector<std::string> out;
    for (const RunColumn& column : run_columns(wanted, runs, empty)) out.push_back(column.title());
    return out;
  };
  using Titles = std::vector<std::string>;
  CHECK(labels({&quiet}, Empty::keep) == Titles{"req/s", "TTFT p50 us"});
  CHECK(labels({&quiet}, Empty::drop) == Titles{"req/s"});
  CHECK(labels({&quiet, &busy}, Empty::drop) ==
        Titles{"req/s", "TTFT p50 ms", "goodput/s", "failed", "late_frac"});
  const auto columns = run_columns(wanted, {&quiet, &busy}, Empty::keep);
  CHECK(columns.at(1).cell(quiet) == "-");
  CHECK(columns.at(4).cell(quiet) == "-");
  CHECK(columns.at(4).cell(busy) == "0.2500");
  CHECK(report(busy).find("metrics   late_frac 0.2500\n") != std::string::npos);
}

TEST_CASE("a scenario's own metrics survive being written and read") {
  Summary s = test::synthetic_summary();
  s.own = {{"a_frac", "1", 0.5}, {"none_s", "s", std::nan("")}};
  const std::string text = dump_json(to_json(s));
  const Summary read = summary_from_json(parse_json(text, "s"), "s");
  REQUIRE(read.own.size() == 2);
  CHECK(read.own[0].name == "a_frac");
  CHECK(read.own[0].value == 0.5);
  CHECK(std::isnan(read.own[1].value));
  CHECK(dump_json(to_json(read)) == text);
}

TEST_CASE("a summary as a document is what its text reads back as") {
  const Summary empty = SummaryObserver().summary();
  const Json read = parse_json(dump_json(to_json(empty)), "s");
  CHECK(document(empty).find("ttft_s")->find("p50")->is_null());
  CHECK(compare(document(empty), read, 0).differences.empty());
  CHECK(dump_json(document(test::synthetic_summary())) ==
        dump_json(to_json(test::synthetic_summary())));
}

TEST_CASE("links are in a summary where transfers shared some") {
  SummaryOptions options;
  options.links = {"nic", "switch"};
  options.wires = {{10, 0, 0}, {10, 0, 0}, {40, 0, 1}};
  SummaryObserver observer(options);
  test::play(observer);
  CHECK(to_json(observer.summary()).find("links") == nullptr);
  constexpr Picoseconds s = 1'000'000'000'000;
  const std::vector<std::int32_t> own = {0, 1}, through = {1, 2};
  observer.on_transfer({1, 0, 1, 0, 3 * s, 20, 2 * s, own});
  observer.on_transfer({2, 0, 1, 0, 4 * s, 30, 4 * s, through});
  const Summary summary = observer.summary();
  const Json document = to_json(summary);
  REQUIRE(document.find("links")->items().size() == 2);
  const Json& nic = document.find("links")->items()[0];
  CHECK(nic.find("name")->text() == "nic");
  CHECK(nic.find("transfers")->integer() == 2);
  CHECK(nic.find("bytes")->number() == 50);
  CHECK(nic.find("stretch_mean")->number() == 1.25);
  CHECK(nic.find("stretch_max")->number() == 1.5);
  CHECK(nic.find("busiest_frac")->number() == 50 / (10 * summary.seen_s));  // of wire 1
  const Json& other = document.find("links")->items()[1];
  CHECK(other.find("busiest_frac")->number() == 30 / (40 * summary.seen_s));
  CHECK(report(summary).find("busiest wire") != std::string::npos);
  CHECK(to_json(summary_from_json(document, "here")).find("links")->items().size() == 2);
}
