#include "emulate/bodies.h"

#include "http/refused.h"

namespace rooflua::emulate {

using http::Refused;

namespace {

void add_turn(const std::string& role, const std::string& text, std::string& out) {
  out += "<|" + role + "|>\n" + text + "\n";
}

std::string text_at(const Json& object, std::string_view key) {
  const Json* found = object.find(key);
  return found != nullptr && found->is_text() ? found->text() : "";
}

/// What a message or an item of a response's input says, tool calls and their results included.
std::string turn_text(const Json& turn, const PromptRules& rules) {
  std::string out;
  for (const char* key : {"content", "output", "arguments"}) {
    const Json* found = turn.find(key);
    if (found != nullptr && !found->is_null()) out += content_text(*found, rules);
  }
  if (const Json* calls = turn.find("tool_calls"); calls != nullptr && !calls->is_null())
    out += dump_json(*calls);
  return out;
}

/// A picture of a few bytes may claim the tokens of a large one.
void check_size(const std::string& text) {
  if (text.size() > most_item_bytes)
    throw Refused(400, "images and sounds of more than 64 MiB of text", "messages");
}

void add_turns(const Json& turns, const PromptRules& rules, std::string& out) {
  if (turns.is_text()) return add_turn("user", turns.text(), out);
  if (!turns.is_array() || turns.items().empty())
    throw Refused(400, "expected a list of messages that is not empty", "messages");
  for (const Json& turn : turns.items()) {
    if (!turn.is_object()) throw Refused(400, "a message is an object", "messages");
    const std::string role = text_at(turn, "role");
    add_turn(role.empty() ? text_at(turn, "type") : role, turn_text(turn, rules), out);
    check_size(out);
  }
}

}  // namespace

std::string content_text(const Json& content, const PromptRules& rules) {
  if (content.is_text()) return content.text();
  if (!content.is_array()) return content.is_null() ? "" : dump_json(content);
  std::string out;
  for (const Json& part : content.items()) {
    if (const auto item = item_of(part)) {
      out += item_text(*item, rules);
      check_size(out);
      continue;
    }
    const Json* text = part.find("text");
    out += text != nullptr && text->is_text() ? text->text() : dump_json(part);
  }
  return out;
}

std::string conversation_text(const Json& body, const PromptRules& rules) {
  std::string out;
  if (const Json* tools = body.find("tools");
      tools != nullptr && tools->is_array() && !tools->items().empty())
    add_turn("tools", dump_json(*tools), out);
  for (const char* key : {"system", "instructions"}) {
    const Json* found = body.find(key);
    if (found != nullptr && !found->is_null()) add_turn("system", content_text(*found, rules), out);
  }
  const Json* turns = body.find("messages");
  if (turns == nullptr) turns = body.find("input");
  if (turns == nullptr) throw Refused(400, "messages is missing", "messages");
  add_turns(*turns, rules, out);
  return out + "<|assistant|>\n";
}

}  // namespace rooflua::emulate
