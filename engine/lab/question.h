#pragma once
// What a laboratory is asked: a scenario with changes, and what of its answer is visible.

#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "script/scenario.h"

namespace rooflua::lab {

/// The scenario that the command names, which stays what it is.
struct Subject {
  std::string file;                 // "" = `table`
  Json table;                       // a scenario of files of a start alone
  script::ScenarioOptions options;  // of the command: launch command, sets
  std::vector<std::string> stated;  // options as a page names them, "--engine vllm 0.19"
  Json words = Json::array();       // of `rooflua run` for it, without sets
};

/// The changes that a page or a program made.
struct State {
  std::vector<std::string> set;  // "key=value", each key once
  Json seed;                     // a whole number; null: the scenario's
  Json texts = Json::object();   // of files that are edited, by path
  Json pins = Json::array();     // other states, each {name, set, seed, texts}

  /// {set, seed?, texts?, pins?}
  Json json() const;
  /// The same without pins: states that are equal have the same answer.
  Json question() const;
  /// @throws http::Refused for what is no state
  static State of(const Json& given);
};

using Send = std::function<void(const Json&)>;

/// What is asked for in place of an answer: what may be changed.
inline constexpr const char* knobs = "what may be changed";
/// The picture that has the answer over those of the pins.
inline constexpr const char* pins = "pins";

/// Answers in a process of its own, in frames:
///
///     {frame: "answer", whole, finished, document, columns, variants, notes, report,
///      facts}
///     {frame: "page", sections, html}           the sections of --html, and its bytes
///     {frame: "pin", number, columns, compared, seeds, changes | problem}     of a pin
///     {frame: "view", name, whole, sections}    in place of these: a picture that is asked for
///     {frame: "opened", title, kind, knobs, ...}     in place of these: of lab/questions.lua
///     {frame: "problem", message}               in place of what follows
///
/// A signal TERM in the middle of a run makes it answer with what is known so far.
/// @param view  the name of the picture, or `knobs`; "" = the answer
void answer(script::Vm& vm, const Subject& subject, const State& state, const std::string& view,
            const Send& send);

}  // namespace rooflua::lab
