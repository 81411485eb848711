// A state as a document.

#include "base/json_text.h"
#include "http/refused.h"
#include "lab/question.h"

namespace rooflua::lab {

namespace {

constexpr std::size_t most_pins = 6;

}  // namespace

Json State::question() const {
  Json out = Json::object();
  out["set"] = texts_json(set);
  if (!seed.is_null()) out["seed"] = seed;
  if (!texts.members().empty()) out["texts"] = texts;
  return out;
}

Json State::json() const {
  Json out = question();
  if (!pins.items().empty()) out["pins"] = pins;
  return out;
}

State State::of(const Json& given) {
  using http::Refused;
  if (!given.is_object()) throw Refused(400, "a state is an object");
  State out;
  for (const Json::Member& each : given.members()) {
    const Json& value = each.value;
    if (each.key == "set" && value.is_array()) {
      for (const Json& text : value.items()) {
        if (!text.is_text() || text.text().find('=') == std::string::npos)
          throw Refused(400, "set: expected texts as \"deployment.tp=2\"", "set");
        out.set.push_back(text.text());
      }
    } else if (each.key == "seed" && (value.is_integer() || value.is_null())) {
      out.seed = value;
    } else if (each.key == "texts" && value.is_object()) {
      for (const Json::Member& file : value.members())
        if (!file.value.is_text()) throw Refused(400, "texts: expected texts of files", "texts");
      out.texts = value;
    } else if (each.key == "pins" && value.is_array()) {
      if (value.items().size() > most_pins) throw Refused(400, "pins: at most 6", "pins");
      for (const Json& pin : value.items()) {
        const Json* state = pin.find("state");
        if (state == nullptr || State::of(*state).pins.items().size() > 0)
          throw Refused(400, "pins: expected {name, state}, the state without pins", "pins");
      }
      out.pins = value;
    } else {
      throw Refused(400,
                    "unknown key '" + each.key +
                        "', or a value of another type; known: set, "
                        "seed, texts, pins",
                    each.key);
    }
  }
  return out;
}

}  // namespace rooflua::lab
