#include "measure/html/report.h"

#include <algorithm>

#include "base/json_text.h"
#include "measure/html/choice.h"
#include "measure/html/page.h"
#include "measure/html/parts.h"
#include "measure/html/plan.h"
#include "measure/html/sections.h"
#include "measure/html/trend.h"
#include "measure/write/left_out.h"
#include "measure/write/notes.h"
#include "measure/write/result.h"
#include "measure/write/table.h"

namespace rooflua {

namespace {

constexpr std::size_t most_data_bytes = 400'000;  // larger documents are no part of the page

std::string facts(const HtmlReport& report) {
  const Json* seed = report.document.find("seed");
  const Json::Array& variants = report.document.find("variants")->items();
  std::string out =
      text_of(report.document, "scenario") + ", seed " + (seed == nullptr ? "0" : dump_json(*seed));
  if (variants.size() > 1) out += ", " + std::to_string(variants.size()) + " variants";
  for (const Json& each : variants) {
    if (const Json* own = each.find("seed"))
      out += ", " + text_of(each, "name") + " with seed " + dump_json(*own);
  }
  for (const std::string& each : report.options) out += ", " + each;
  for (const std::string& each : report.set) out += ", --set " + each;
  return out;
}

std::vector<html::Served> served(const HtmlReport& report) {
  std::vector<html::Served> out;
  const Json::Array& variants = report.document.find("variants")->items();
  const std::string file = text_of(report.document, "scenario");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const bool known = i < report.summaries.size() && report.summaries[i] != nullptr;
    out.push_back(
        {text_of(variants[i], "name"), variants[i].find("parameters"),
         known ? *report.summaries[i] : summary_from_json(*variants[i].find("summary"), file),
         i < report.drawings.size() ? &report.drawings[i] : nullptr});
  }
  return out;
}

/// Variants that are missing, and why.
void add_failed(HtmlPage& page, const Json& document) {
  const Json* failed = document.find("failed");
  if (failed == nullptr) return;
  std::vector<std::vector<std::string>> table{{"failed", "why"}};
  for (const Json& each : failed->items())
    table.push_back({text_of(each, "name"), text_of(each, "problem")});
  page.table(table);
}

/// What the workloads did not send, and what else a reader needs to know.
void add_notes(HtmlPage& page, const Json& document) {
  std::vector<const Json*> variants;
  for (const Json& each : document.find("variants")->items()) variants.push_back(&each);
  for (const std::string& line : left_out_lines(variants)) page.note(line);
  for (const std::string& line : notes_of(variants)) page.note(line);
  double most_noted = 0;
  for (const Json* each : variants) {
    const Json* summary = each->find("summary");
    const Json* share = summary == nullptr ? nullptr : summary->find("noted_frac");
    if (share != nullptr && share->is_number()) most_noted = std::max(most_noted, share->number());
  }
  if (most_noted > 0)
    page.note("These notes touch " + std::string(variants.size() > 1 ? "up to " : "") +
              percent(most_noted) + " of the time, which counts as unsupported.");
}

/// What the only plan of a page asks; "" where there are several, or none.
std::string question_of(const HtmlReport& report) {
  if (report.drawings.size() != 1 || !report.drawings.front().plan.is_object()) return "";
  return text_of(report.drawings.front().plan, "title");
}

/// Each plan has its part.
void add_plans(HtmlPage& page, const HtmlReport& report) {
  const Json::Array& variants = report.document.find("variants")->items();
  if (!text_of(report.document, "title").empty()) {
    if (const std::string question = question_of(report); !question.empty()) page.lead(question);
  }
  for (std::size_t i = 0; i < variants.size() && i < report.drawings.size(); ++i) {
    if (report.drawings[i].plan.is_object())
      html::add_plan(page, report.drawings[i].plan,
                     variants.size() > 1 ? text_of(variants[i], "name") : "");
  }
}

/// Whether a script's sections draw what the variants gave.
bool has_charts(const Json& sections) {
  if (!sections.is_array()) return false;
  return std::any_of(sections.items().begin(), sections.items().end(), [](const Json& section) {
    const Json* charts = section.find("charts");
    return charts != nullptr && !charts->items().empty();
  });
}

std::vector<html::OwnUnit> own_units(const HtmlReport& report) {
  std::vector<html::OwnUnit> own;
  if (report.own_units.is_array()) {
    for (const Json& each : report.own_units.items())
      own.push_back({text_of(each, "name"), text_of(each, "unit")});
  }
  return own;
}

void add_served(HtmlPage& page, const HtmlReport& report, const std::vector<html::Served>& runs) {
  html::Choice choice(runs);
  const std::vector<html::OwnUnit> own = own_units(report);
  html::add_sections(page, report.explored, report.parameters);
  html::add_summary(page, runs, choice);
  if (!html::add_trend(page, runs, report.parameters, own) && !has_charts(report.explored))
    html::add_bars(page, runs, own, choice);
  if (report.has_baseline) html::add_differences(page, runs);
  html::add_intervals(page, *report.document.find("variants"));
  html::add_latencies(page, runs, choice);
  html::add_timeline(page, runs, choice);
  html::add_single_plays(page, runs);
  html::add_breakdown(page, runs, choice);
  const std::string choices = choice.json();
  if (!choices.empty()) page.choices(choices);
}

void add_parameters(HtmlPage& page, const HtmlReport& report) {
  if (report.parameters.is_array() && !report.parameters.items().empty()) {
    page.heading("Parameters");
    std::vector<std::vector<std::string>> table{{"parameter", "value", "unit", ""}};
    for (const Json& row : report.parameters.items())
      table.push_back({text_of(row, "path"), text_of(row, "value"), text_of(row, "unit"),
                       text_of(row, "note")});
    page.open_details(std::to_string(table.size() - 1) + " parameters of the scenario");
    page.table(table);
    page.close_details();
  }
  if (!report.source.empty()) {
    page.open_details("The scenario file");
    page.preformatted(report.source);
    page.close_details();
  }
}

}  // namespace

std::string html_report(const HtmlReport& report) {
  return html_page(report).text();
}

HtmlPage html_trend(const HtmlReport& report) {
  HtmlPage page(text_of(report.document, "title"));
  const std::vector<html::Served> runs = served(report);
  html::Choice choice(runs);
  html::add_sections(page, report.explored, report.parameters);
  if (!html::add_trend(page, runs, report.parameters, own_units(report)))
    html::add_bars(page, runs, own_units(report), choice);
  return page;
}

HtmlPage html_page(const HtmlReport& report) {
  const std::string title = text_of(report.document, "title");
  const std::string kind = text_of(report.document, "kind");
  const std::string question = question_of(report);
  HtmlPage page(!title.empty()      ? title
                : !question.empty() ? question
                                    : text_of(report.document, "scenario"));
  page.note(facts(report));
  add_failed(page, report.document);
  add_notes(page, report.document);
  html::add_header(page, report.source);
  if (!report.own_text.empty()) {
    page.heading("Result");
    page.preformatted(report.own_text);
  }
  const Json& variants = *report.document.find("variants");
  if (kind == "serve") {
    add_served(page, report, served(report));
  } else if (kind == "price") {
    html::add_prices(page, variants);
    html::add_intervals(page, variants);
  } else if (kind == "static") {
    html::add_static(page, variants);
  } else if (kind == "plan") {
    add_plans(page, report);
  } else if (kind == "search") {
    html::add_sections(page, report.explored, report.parameters);
    html::add_evidence(page, variants);
  }
  add_parameters(page, report);
  const std::string data = dump_json(report.document);
  if (data.size() <= most_data_bytes) {
    page.data(data);
  } else {
    page.note("The document of " + grouped(static_cast<std::int64_t>(data.size())) +
              " bytes is too large for this page; --json FILE writes it.");
  }
  return page;
}

}  // namespace rooflua
