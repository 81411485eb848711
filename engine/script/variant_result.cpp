#include "script/variant_result.h"

#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/json_text.h"
#include "base/numbers/digits.h"
#include "measure/write/evidence_text.h"
#include "measure/write/interval_lines.h"
#include "measure/write/result.h"
#include "measure/write/step_report.h"
#include "measure/write/table.h"

namespace rooflua::script {

namespace {

std::vector<LedgerRow> rows_of(const Json& batch) {
  std::vector<LedgerRow> out;
  const Json* rows = batch.find("rows");
  if (rows == nullptr || !rows->is_array()) return out;
  for (const Json& each : rows->items()) {
    LedgerRow row;
    row.name = text_of(each, "name");
    row.kind = text_of(each, "kind");
    row.shape = text_of(each, "shape");
    row.bound = text_of(each, "bound");
    row.note = text_of(each, "note");
    row.flop = number_of(each, "flop");
    row.bytes = number_of(each, "bytes");
    row.mfu = number_of(each, "mfu", std::numeric_limits<double>::quiet_NaN());
    row.time_s = number_of(each, "time_s");
    row.count = number_of(each, "count", 1);
    row.evidence = parse_evidence(text_of(each, "evidence")).value_or(Evidence::assumed);
    out.push_back(std::move(row));
  }
  return out;
}

/// One priced batch as documents have it.
Json priced_json(const Json& priced, const std::vector<LedgerRow>& rows) {
  Json out = Json::object();
  if (const Json* name = priced.find("name")) out["name"] = *name;
  const double noted_frac = number_of(priced, "noted_frac");
  if (noted_frac > 0) out["noted_frac"] = noted_frac;
  const Json step =
      step_json(rows, shares_from_json(*priced.find("evidence")), priced.find("time_s")->number());
  for (const Json::Member& member : step.members()) out[member.key] = member.value;
  return out;
}

/// The time of a step: milliseconds, or the unit that fits.
std::string milliseconds(double time_s) {
  return duration(time_s);
}

/// Heading of a variant, where there are several.
std::string heading(const std::string& variant) {
  return variant.empty() ? "" : "== " + variant + "\n";
}

/// The evidence of the only batch stands once: in the line "Time rests on", which ends the text.
void add_price(VariantResult& out, const Json& result, bool explain) {
  const Json* batches = result.find("batches");
  const bool single = batches->items().size() == 1;
  Json prices = Json::array();
  for (const Json& batch : batches->items()) {
    const auto shares = shares_from_json(*batch.find("evidence"));
    const double time_s = batch.find("time_s")->number();
    const std::vector<LedgerRow> rows = rows_of(batch);
    Json price = priced_json(batch, rows);
    out.text += text_of(batch, "name") + ": " + milliseconds(time_s);
    if (const Json* interval = batch.find("interval")) {
      Json ends = Json::object();
      for (const char* key : {"low_s", "high_s", "text"}) ends[key] = *interval->find(key);
      price["interval"] = std::move(ends);
      out.text += " " + text_of(*interval, "text");
    }
    prices.push_back(std::move(price));
    out.text += "\n";
    if (explain)
      out.text += (single ? step_table(rows, time_s) : step_report(rows, shares, time_s)) + "\n";
  }
  out.document["price"] = std::move(prices);
}

void add_lines(std::string& text, const Json& value, const std::string& path) {
  if (value.is_object()) {
    for (const Json::Member& member : value.members()) {
      add_lines(text, member.value, path.empty() ? member.key : path + "." + member.key);
    }
  } else if (value.is_array()) {
    std::size_t index = 0;
    for (const Json& item : value.items())
      add_lines(text, item, path + "[" + std::to_string(++index) + "]");
  } else {
    char line[200];
    if (value.is_number()) {
      std::snprintf(line, sizeof line, "%-48s %14s\n", path.c_str(),
                    significant(value.number(), 6).c_str());
      text += line;
    } else {
      text += path + " " + (value.is_text() ? value.text() : dump_json(value)) + "\n";
    }
  }
}

/// The summary and the report of kind "serve", and what the run was asked for besides.
void add_served(VariantResult& out, const Json& result, std::shared_ptr<const Summary> summary,
                const std::string& file) {
  out.summary = std::move(summary);
  out.document["summary"] = document(*out.summary);
  out.evidence = out.summary->evidence;
  out.noted_frac = out.summary->noted_frac.value_or(0);
  if (const Json* partial = result.find("partial"); partial != nullptr && partial->is_object()) {
    out.document["partial"] = *partial;
    out.text += partial_line(*partial) + "\n\n";
  }
  out.text += text_of(result, "text") + interval_report(out.document);
  if (const Json* requests = result.find("requests"); requests != nullptr && requests->is_array())
    out.document["requests"] = *requests;
  if (const Json* sketch = result.find("sketch"))
    out.drawing.sketch = parse_json(sketch->text(), file);
  if (const Json* breakdown = result.find("breakdown")) out.drawing.breakdown = *breakdown;
  if (const Json* why = result.find("why"); why != nullptr && why->is_object()) {
    out.document["why"] = *why;
    out.details += "\n" + text_of(result, "why_text");
  }
  if (const Json* why = result.find("why_play"); why != nullptr && why->is_object()) {
    out.document["why_play"] = *why;
    out.details += "\n" + text_of(result, "why_play_text");
  }
  if (const Json* step = result.find("explained"); step != nullptr && step->is_object()) {
    out.document["explain"] = step_json(rows_of(*step), shares_from_json(*step->find("evidence")),
                                        step->find("time_s")->number());
    out.details += "\n" + text_of(result, "explain_text");
  }
  out.text += out.details;
}

}  // namespace

VariantResult variant_result(const std::string& kind, const ScenarioVariant& variant,
                             const Json& returned, std::shared_ptr<const Summary> served,
                             bool explain, const std::string& file) {
  VariantResult out;
  out.document = Json::object();
  out.document["name"] = variant.name;
  out.document["parameters"] = variant.parameters;
  out.text = heading(variant.name);
  if (const Json* why = returned.find("undivided"); why != nullptr) out.undivided = why->text();
  if (const Json* left = returned.find("left_out"); left != nullptr && left->is_array())
    out.document["left_out"] = *left;
  if (const Json* notes = returned.find("notes"); notes != nullptr && notes->is_array())
    out.document["notes"] = *notes;
  if (const Json* policies = returned.find("policies");
      policies != nullptr && policies->is_object())
    out.document["policies"] = *policies;
  const Json* intervals = returned.find("intervals");
  if (intervals != nullptr && intervals->is_object()) out.document["intervals"] = *intervals;
  if (kind == "serve") {
    add_served(out, returned, std::move(served), file);
    return out;
  }
  out.evidence = shares_from_json(*returned.find("evidence"));
  Json summary = Json::object();
  summary["evidence"] = evidence_json(out.evidence);
  out.noted_frac = number_of(returned, "noted_frac");
  if (out.noted_frac > 0) summary["noted_frac"] = out.noted_frac;
  if (const Json* time_s = returned.find("time_s")) summary["time_s"] = *time_s;
  out.document["summary"] = std::move(summary);
  if (kind == "search" || kind == "plan") {
    out.document[kind] = *returned.find(kind);
    if (const Json* partial = returned.find("partial"); partial != nullptr && partial->is_object())
      out.document["partial"] = *partial;
    out.text += text_of(returned, "text");
    if (const Json* page = returned.find("page"); page != nullptr && page->is_object())
      out.drawing.plan = *page;
  } else if (kind == "price") {
    out.document["formats"] = *returned.find("formats");
    add_price(out, returned, explain);
  } else {
    out.document["static"] = *returned.find("static");
    add_lines(out.text, *returned.find("static"), "");
  }
  const std::string line = evidence_line(out.evidence, out.noted_frac);
  if (!line.empty()) out.text += "Time rests on: " + line + "\n";
  out.text += interval_text(interval_lines(out.document));
  return out;
}

VariantResult variant_result(const Json& document, const std::string& text) {
  VariantResult out;
  out.document = document;
  out.text = text;
  const Json* summary = document.find("summary");
  const Json* evidence = summary != nullptr ? summary->find("evidence") : nullptr;
  if (evidence != nullptr) out.evidence = shares_from_json(*evidence);
  if (summary != nullptr) out.noted_frac = number_of(*summary, "noted_frac");
  return out;
}

Summary summary_of(const VariantResult& result, const std::string& file) {
  if (result.summary != nullptr) return *result.summary;
  return summary_from_json(*result.document.find("summary"), file);
}

std::string price_text(const Json& priced) {
  return step_report(rows_of(priced), shares_from_json(*priced.find("evidence")),
                     priced.find("time_s")->number());
}

std::string partial_line(const Json& partial) {
  const bool timeout = partial.find("stopped_by")->text() == "timeout";
  const std::string by = std::string("PARTIAL: stopped by ") + (timeout ? "--timeout" : "Ctrl-C");
  if (partial.find("clock_s") == nullptr) return by;  // a plan, which is many runs
  return by + " when the clock stood at " + duration(partial.find("clock_s")->number()) + "; " +
         grouped(partial.find("finished")->integer()) + " of " +
         grouped(partial.find("sent")->integer()) + " requests sent had finished";
}

Json price_document(const Json& priced) {
  return priced_json(priced, rows_of(priced));
}

double doubtful_percent(const EvidenceShares& shares) {
  return 100 * unsupported_share(shares);
}

}  // namespace rooflua::script
