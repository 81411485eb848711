#include "lab/question.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/json_text.h"
#include "lab/columns.h"
#include "measure/html/page.h"
#include "measure/html/sections.h"
#include "measure/write/evidence_text.h"
#include "measure/write/left_out.h"
#include "measure/write/notes.h"
#include "measure/write/result.h"
#include "script/run_documents.h"
#include "script/vm/interrupt.h"

namespace rooflua::lab {

namespace {

using script::Scenario;
using script::VariantResult;

constexpr const char* module = "rooflua.lab.questions";
/// Seeds of which a pin and the answer are compared, and what they may take.
constexpr int pin_seeds = 5;
constexpr std::chrono::seconds most_for_seeds{10};

script::ScenarioOptions options_of(const Subject& subject, const State& state) {
  script::ScenarioOptions out = subject.options;
  const auto key = [](const std::string& text) { return text.substr(0, text.find('=')); };
  // What the command set is set anew, and no key twice.
  std::erase_if(out.set, [&](const std::string& text) {
    return std::any_of(state.set.begin(), state.set.end(),
                       [&](const std::string& own) { return key(own) == key(text); });
  });
  out.set.insert(out.set.end(), state.set.begin(), state.set.end());
  if (state.seed.is_number()) out.seed = static_cast<long>(state.seed.integer());
  return out;
}

Scenario opened(script::Vm& vm, const Subject& subject, const script::ScenarioOptions& options) {
  if (!subject.file.empty()) return {vm, std::filesystem::path(subject.file), options};
  return {vm, subject.table, options, "run"};
}

script::PageSource page_source(const Subject& subject, const script::ScenarioOptions& options) {
  return {subject.file, subject.stated, options.set};
}

bool is_stopped() {
  return script::last_stop() != script::StopReason::none;
}

Json lines_of(const std::vector<VariantResult>& results) {
  std::vector<const Json*> documents;
  for (const VariantResult& each : results)
    if (each.known()) documents.push_back(&each.document);
  Json out = Json::array();
  for (const std::string& line : left_out_lines(documents)) out.push_back(line);
  for (const std::string& line : notes_of(documents)) out.push_back(line);
  return out;
}

Json sections_json(const HtmlPage& page) {
  Json out = Json::array();
  for (const HtmlPage::Section& each : page.sections()) {
    Json one = Json::object();
    one["title"] = each.title;
    one["html"] = each.html;
    out.push_back(std::move(one));
  }
  return out;
}

/// Requests that ended, and whether every variant went to its end.
std::int64_t ended(const std::vector<VariantResult>& results) {
  std::int64_t out = 0;
  for (const VariantResult& each : results) {
    if (const Json* partial = each.partial()) {
      out += whole_of(*partial, "finished");
    } else if (each.summary) {
      out += each.summary->requests;
    }
  }
  return out;
}

// --- running

/// Until the work is stopped: what is known so far.
/// @param after  called after each variant with the results so far
std::vector<VariantResult> run_variants(
    Scenario& scenario, const script::RunOutputs& outputs, bool explain = false,
    const std::function<void(const std::vector<VariantResult>&)>& after = {}) {
  std::vector<VariantResult> results(scenario.variants().size());
  for (std::size_t i = 0; i < results.size() && !is_stopped(); ++i) {
    try {
      results[i] = scenario.run(i, explain, outputs);
      if (after && i + 1 < results.size() && !is_stopped()) after(results);
    } catch (const Error& error) {
      if (!is_stopped()) results[i].problem = error.what();
    }
  }
  return results;
}

script::OwnReport own_report(Scenario& scenario, const std::vector<VariantResult>& results) {
  return script::is_partial(results) ? script::OwnReport() : scenario.report(results);
}

/// Where every variant failed, the reason of the first is that of the question.
void check_any(const std::vector<VariantResult>& results) {
  for (const VariantResult& each : results)
    if (each.known()) return;
  for (const VariantResult& each : results)
    if (!each.problem.empty()) throw Error("", each.problem);
}

Json frame(const char* kind) {
  Json out = Json::object();
  out["frame"] = kind;
  return out;
}

Json answer_frame(Scenario& scenario, const std::vector<VariantResult>& results,
                  const script::OwnReport& own) {
  Json out = frame("answer");
  const bool whole = !script::is_partial(results);
  out["whole"] = whole;
  out["finished"] = ended(results);
  out["document"] = with_build(script::run_document(scenario, results, own));
  out["columns"] = columns_of(results);
  out["notes"] = lines_of(results);
  out["variants"] = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].known()) continue;
    Json one = Json::object();
    one["name"] = scenario.variants()[i].name;
    one["evidence"] = evidence_json(results[i].evidence);
    out["variants"].push_back(std::move(one));
  }
  out["report"] = Json::array();
  for (const VariantResult& each : results) {
    if (each.known()) out["report"].push_back(each.text);
  }
  if (!own.text.empty()) out["report"].push_back(own.text);
  add_figures(scenario, results, out);
  return out;
}

/// The numbers first; then the run again with what pictures draw, which takes longer.
/// @return the frame of the answer; null where it was stopped
Json run_whole(Scenario& scenario, const Subject& subject, const script::ScenarioOptions& options,
               const Send& send) {
  const std::vector<VariantResult> results = run_variants(scenario, {});
  if (is_stopped() && ended(results) == 0) return {};
  check_any(results);
  const script::OwnReport own = own_report(scenario, results);
  const Json told = answer_frame(scenario, results, own);
  send(told);
  if (is_stopped()) return {};
  script::RunOutputs outputs;
  outputs.sketch = true;
  const std::vector<VariantResult> drawn = run_variants(scenario, outputs);
  if (is_stopped()) return {};
  const HtmlPage page =
      html_page(script::run_page(scenario, drawn, own, page_source(subject, options)));
  Json pictures = frame("page");
  pictures["sections"] = sections_json(page);
  pictures["html"] = page.text();
  send(pictures);
  return told;
}

/// The columns of a state whose seed is so much greater.
Json columns_with_seed(script::Vm& vm, const Subject& subject, const State& state, int more) {
  vm.call(module, "replace_files", {state.texts});
  script::ScenarioOptions options = options_of(subject, state);
  options.seed = static_cast<long>(opened(vm, subject, options).seed()) + more;
  Scenario scenario = opened(vm, subject, options);
  const std::vector<VariantResult> results = run_variants(scenario, {});
  check_any(results);
  return all_columns(scenario, results);
}

/// Adds what the changes are over several seeds, so that noise is known to be noise.
/// @param now  the columns of the answer
/// @param of   frames of pins, by number
void add_seeds(script::Vm& vm, const Subject& subject, const State& state, const Json& now,
               std::vector<Json>& of, const Send& send) {
  std::vector<Json> runs(of.size(), Json::array());
  const auto add = [&](std::size_t i, const Json& before, const Json& after) {
    Json run = Json::object();
    run["before"] = before;
    run["after"] = after;
    runs[i].push_back(std::move(run));
  };
  for (std::size_t i = 0; i < of.size(); ++i)
    if (const Json* own = of[i].find("columns")) add(i, *own, now);
  const auto began = std::chrono::steady_clock::now();
  for (int more = 1; more < pin_seeds; ++more) {
    const Json after = columns_with_seed(vm, subject, state, more);
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (runs[i].items().empty()) continue;
      const State own = State::of(*state.pins.items()[i].find("state"));
      add(i, columns_with_seed(vm, subject, own, more), after);
      if (is_stopped()) return;
    }
    if (std::chrono::steady_clock::now() - began > most_for_seeds) break;
  }
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (runs[i].items().size() < 2) continue;
    of[i]["seeds"] = static_cast<std::int64_t>(runs[i].items().size());
    of[i]["changes"] = vm.call(module, "changes", {runs[i]});
    send(of[i]);
  }
}

/// The answers of pins, and how the answer differs from each.
void run_pins(script::Vm& vm, const Subject& subject, const State& state, const Json& told,
              const Send& send) {
  const Json& document = *told.find("document");
  std::vector<Json> frames;
  for (const Json& each : state.pins.items()) {
    Json out = frame("pin");
    out["number"] = static_cast<std::int64_t>(frames.size());
    try {
      const State own = State::of(*each.find("state"));
      vm.call(module, "replace_files", {own.texts});
      Scenario scenario = opened(vm, subject, options_of(subject, own));
      const std::vector<VariantResult> results = run_variants(scenario, {});
      check_any(results);
      const script::OwnReport report = own_report(scenario, results);
      const Json before = script::run_document(scenario, results, report);
      out["columns"] = all_columns(scenario, results);
      out["compared"] = vm.call(module, "compared", {before, document});
    } catch (const std::exception& error) {
      out["problem"] = message_of(error);
    }
    if (is_stopped()) return;
    send(out);
    frames.push_back(std::move(out));
  }
  if (told.find("variants")->items().size() == 1)
    add_seeds(vm, subject, state, *told.find("columns"), frames, send);
}

std::string name_of(const Json& pin, const std::string& variant) {
  const std::string own = text_of(pin, "name");
  if (own.empty()) return variant.empty() ? "a pin" : variant;
  return variant.empty() ? own : own + ", " + variant;
}

/// Adds what a state gave to a page of several.
void add_runs(script::Vm& vm, const Subject& subject, const State& state, const Json& pin,
              HtmlReport& page) {
  vm.call(module, "replace_files", {state.texts});
  Scenario scenario = opened(vm, subject, options_of(subject, state));
  script::RunOutputs outputs;
  outputs.sketch = true;
  const std::vector<VariantResult> results = run_variants(scenario, outputs);
  check_any(results);
  HtmlReport own = script::run_page(scenario, results, {}, {});
  Json& variants = page.document["variants"];
  for (Json each : own.document.find("variants")->items()) {
    each["name"] = name_of(pin, text_of(each, "name"));
    variants.push_back(std::move(each));
  }
  for (VariantDrawing& each : own.drawings) page.drawings.push_back(std::move(each));
  for (auto& each : own.summaries) page.summaries.push_back(std::move(each));
}

/// The answer over those of the pins.
void run_overlay(script::Vm& vm, const Subject& subject, const State& state, const Send& send) {
  HtmlReport page;
  page.document = Json::object();
  page.document["kind"] = "serve";
  page.document["variants"] = Json::array();
  Json now = Json::object();
  now["name"] = "now";
  for (const Json& each : state.pins.items()) {
    add_runs(vm, subject, State::of(*each.find("state")), each, page);
    if (is_stopped()) return;
  }
  add_runs(vm, subject, state, now, page);
  if (is_stopped()) return;
  Json out = frame("view");
  out["name"] = pins;
  out["whole"] = true;
  out["sections"] = sections_json(html_page(page));
  send(out);
}

/// A picture that a script describes: of runs with other sets, or of the state itself.
void run_view(script::Vm& vm, const Subject& subject, const State& state, Scenario& scenario,
              const std::string& name, const Send& send) {
  const Json plan = scenario.laboratory("plan", {Json(name)});
  script::ScenarioOptions options = options_of(subject, state);
  if (const Json* dropped = plan.find("drop")) {
    std::erase_if(options.set, [&](const std::string& text) {
      return std::any_of(dropped->items().begin(), dropped->items().end(), [&](const Json& key) {
        return text.substr(0, text.find('=')) == key.text();
      });
    });
  }
  if (const Json* more = plan.find("set")) {
    for (const Json& each : more->items()) options.set.push_back(each.text());
  }
  Scenario asked = opened(vm, subject, options);
  script::RunOutputs outputs;
  outputs.why = text_of(plan, "why");
  const auto tell = [&](const std::vector<VariantResult>& results, bool whole) {
    Json out = frame("view");
    out["name"] = name;
    out["whole"] = whole;
    if (is_true(plan, "against")) {
      std::vector<VariantResult> known;
      for (const VariantResult& each : results)
        if (each.known()) known.push_back(each);
      const auto report = script::run_page(asked, results, {}, page_source(subject, options));
      out["sections"] = known.size() < 2 ? Json::array() : sections_json(html_trend(report));
    } else {
      Json documents = Json::array(), texts = Json::array();
      for (const VariantResult& each : results) {
        documents.push_back(each.document);
        texts.push_back(each.details);
      }
      HtmlPage page("");
      html::add_sections(page, asked.laboratory("described", {Json(name), documents, texts}));
      out["sections"] = sections_json(page);
    }
    send(out);
  };
  std::vector<VariantResult> results;
  if (is_true(plan, "runs")) {
    results = run_variants(asked, outputs, is_true(plan, "explain"),
                           [&](const std::vector<VariantResult>& so_far) { tell(so_far, false); });
    if (is_stopped()) return;
    check_any(results);
  }
  tell(results, true);
}

/// What may be changed.
void tell_opened(Scenario& scenario, const Subject& subject, const State& state,
                 const script::ScenarioOptions& options, const Send& send) {
  const Json seed = options.seed ? Json(std::int64_t{*options.seed}) : Json();
  Json told = scenario.laboratory("opened", {subject.words, texts_json(options.set), seed});
  told["frame"] = "opened";
  told["title"] = scenario.title();
  told["kind"] = scenario.kind();
  if (!state.pins.items().empty() && scenario.kind() == "serve") {
    Json view = Json::object();
    view["name"] = pins;
    view["title"] = "Pins";
    told["views"].push_back(std::move(view));
  }
  send(told);
}

}  // namespace

void answer(script::Vm& vm, const Subject& subject, const State& state, const std::string& view,
            const Send& send) {
  try {
    vm.call(module, "replace_files", {state.texts});
    const script::ScenarioOptions options = options_of(subject, state);
    Scenario scenario = opened(vm, subject, options);
    if (view == knobs) return tell_opened(scenario, subject, state, options, send);
    if (view == pins) return run_overlay(vm, subject, state, send);
    if (!view.empty()) return run_view(vm, subject, state, scenario, view, send);
    const Json told = run_whole(scenario, subject, options, send);
    if (!told.is_null() && !state.pins.items().empty()) run_pins(vm, subject, state, told, send);
  } catch (const std::exception& error) {
    if (is_stopped()) return;
    Json out = frame("problem");
    out["message"] = message_of(error);
    send(out);
  }
}

}  // namespace rooflua::lab
