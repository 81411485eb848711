#include "app/run_report.h"

#include <algorithm>

#include "base/json_text.h"
#include "measure/write/interval_lines.h"
#include "measure/write/left_out.h"
#include "measure/write/notes.h"
#include "measure/write/report.h"
#include "measure/write/result.h"
#include "measure/write/table.h"

namespace rooflua::app {

namespace {

constexpr std::size_t most_lines = 3;  // of variants that have the same fate

/// The table with one line per variant, for a scenario that varies something.
std::string compare_variants(const std::vector<script::VariantResult>& results,
                             const std::string& file) {
  std::vector<Variant> variants;
  for (const script::VariantResult& each : results) {
    if (!each.known()) continue;
    Variant variant;
    variant.name = each.document.find("name")->text();
    if (each.partial() != nullptr) variant.name += " (partial)";
    variant.summary = script::summary_of(each, file);
    variants.push_back(std::move(variant));
  }
  return comparison(variants);
}

/// "max_num_seqs=4: 12 failed (exceeds_kv_cache)" for every variant with failures.
std::string failures(const std::vector<script::VariantResult>& results) {
  std::string out;
  for (const script::VariantResult& each : results) {
    if (!each.known()) continue;
    const Json* failed = each.document.find("summary")->find("failed");
    if (failed == nullptr || !failed->is_object()) continue;
    for (const Json::Member& reason : failed->members()) {
      out += each.document.find("name")->text() + ": " + std::to_string(reason.value.integer()) +
             " failed (" + std::string(reason.key) + ")\n";
    }
  }
  return out;
}

/// A line for each variant; of more than three one line for all.
std::string fates(const std::vector<std::string>& names, const std::string& fate,
                  std::size_t variants) {
  std::string out;
  if (names.size() > most_lines) {
    return grouped(static_cast<std::int64_t>(names.size())) + " of " +
           grouped(static_cast<std::int64_t>(variants)) + " variants: " + fate + " (" +
           names.front() + " ... " + names.back() + ")\n";
  }
  for (const std::string& name : names) out += name + ": " + fate + "\n";
  return out;
}

/// What is said of variants that failed, were stopped or were not started.
std::string missing(const script::Scenario& scenario,
                    const std::vector<script::VariantResult>& results) {
  std::vector<std::string> failed, not_run;
  std::string stopped;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = scenario.variants()[i].name;
    if (!results[i].problem.empty()) {
      failed.push_back(name);
    } else if (!results[i].known()) {
      not_run.push_back(name);
    }
    if (const Json* partial = results[i].partial())
      stopped += name + ": " + script::partial_line(*partial) + "\n";
  }
  return fates(failed, "FAILED", results.size()) + stopped +
         fates(not_run, "PARTIAL: not run", results.size());
}

/// One line per kind of deployment: how far figures of its runs may be off.
std::string intervals(const std::vector<script::VariantResult>& results) {
  std::vector<const Json*> documents;
  for (const script::VariantResult& each : results) {
    if (each.known()) documents.push_back(&each.document);
  }
  return interval_text(interval_kinds(documents));
}

/// One line per source of requests that was not sent completely and per note, whatever the number
/// of variants.
std::string notes(const std::vector<script::VariantResult>& results) {
  std::vector<const Json*> documents;
  for (const script::VariantResult& each : results) {
    if (each.known()) documents.push_back(&each.document);
  }
  std::string out;
  for (const std::string& line : left_out_lines(documents)) out += line + "\n";
  for (const std::string& line : notes_of(documents)) out += line + "\n";
  return out;
}

std::string served_variants(script::Scenario& scenario,
                            const std::vector<script::VariantResult>& results,
                            const std::string& file, bool partial) {
  std::string out =
      compare_variants(results, file) + failures(results) + missing(scenario, results) +
      intervals(results);
  for (const script::VariantResult& each : results) {
    if (each.details.empty()) continue;
    out += "\n== " + text_of(each.document, "name") + "\n" + each.details;
  }
  const std::string differences = partial ? "" : scenario.over_seeds(results);
  return differences.empty() ? out : out + "\n" + differences + "\n";
}

}  // namespace

bool is_part(const script::Scenario& scenario) {
  return static_cast<std::int64_t>(scenario.variants().size()) < scenario.total();
}

NamedColumns named_metrics(const std::vector<script::VariantResult>& results) {
  NamedColumns out;
  for (const script::VariantResult& each : results) {
    const Json* search = each.known() ? each.document.find("search") : nullptr;
    for (const char* key : {"slo", "objectives", "metrics", "show"}) {
      const Json* list = search == nullptr ? nullptr : search->find(key);
      if (list == nullptr) continue;
      for (const Json& one : list->items())
        out.insert(one.is_object() ? text_of(one, "metric") : one.text());
    }
  }
  return out;
}

std::string strict_of_plan(const Json& plan) {
  const Json* strict = plan.find("strict");
  const Json* ranks = plan.find("ranks");
  if (strict == nullptr || ranks == nullptr || !ranks->items().empty()) return "";
  return text_of(*strict, "problem");
}

std::string several(const std::vector<std::string>& names) {
  std::string out = names.front();
  if (names.size() > most_lines)
    return out + " and " + std::to_string(names.size() - 1) + " others";
  for (std::size_t i = 1; i < names.size(); ++i) out += ", " + names[i];
  return out;
}

std::string report_text(script::Scenario& scenario,
                        const std::vector<script::VariantResult>& results, const std::string& own,
                        const RunArguments& arguments) {
  std::string out = scenario.title().empty() ? "" : scenario.title() + "\n\n";
  const bool partial = is_partial(results) || is_part(scenario);
  if (scenario.kind() == "serve" && results.size() > 1) {
    out += served_variants(scenario, results, arguments.scenario, partial);
  } else if (own.empty() || results.size() == 1 || arguments.explain ||
             scenario.kind() == "search" || scenario.kind() == "plan") {
    for (const script::VariantResult& each : results) {
      if (each.known()) out += each.text + "\n";
    }
    if (results.size() > 1) out += missing(scenario, results);
  }
  const bool ends_empty = out.size() > 1 && out.compare(out.size() - 2, 2, "\n\n") == 0;
  if (!own.empty()) out += (ends_empty ? "" : "\n") + own + "\n";
  return arguments.quiet ? out : out + notes(results);
}

}  // namespace rooflua::app
