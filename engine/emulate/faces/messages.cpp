// Anthropic's messages. @source docs.anthropic.com, Messages API and Streaming Messages;
// anthropics/anthropic-sdk-typescript src/resources/messages

#include "emulate/faces/face.h"

namespace rooflua::emulate {

namespace {

const char* stop_of(const Answer& answer) {
  return answer.calls() ? "tool_use" : answer.cut() ? "max_tokens" : "end_turn";
}

Json usage(const Answer& answer, std::int32_t output_tokens) {
  Json out = Json::object();
  out["input_tokens"] = answer.prompt_tokens - answer.cached_tokens;
  out["cache_creation_input_tokens"] = 0;
  out["cache_read_input_tokens"] = answer.cached_tokens;
  out["output_tokens"] = output_tokens;
  return out;
}

Json message(const Answer& answer, Json content, const Json& stop, std::int32_t output_tokens) {
  Json out = Json::object();
  out["id"] = answer.id;
  out["type"] = "message";
  out["role"] = "assistant";
  out["model"] = answer.model;
  out["content"] = std::move(content);
  out["stop_reason"] = stop;
  out["stop_sequence"] = Json();
  out["usage"] = usage(answer, output_tokens);
  return out;
}

Json block(const Answer& answer, const Json& input, const std::string& text) {
  Json out = Json::object();
  out["type"] = answer.calls() ? "tool_use" : "text";
  if (answer.calls()) {
    out["id"] = "toolu_" + answer.id;
    out["name"] = answer.tool;
    out["input"] = input;
  } else {
    out["text"] = text;
  }
  return out;
}

Json event(const char* type) {
  Json out = Json::object();
  out["type"] = type;
  return out;
}

class Messages final : public Face {
 public:
  std::string opening(Answer& answer) const override {
    Json start = event("message_start");
    start["message"] = message(answer, Json::array(), Json(), 0);
    Json begun = event("content_block_start");
    begun["index"] = 0;
    begun["content_block"] = block(answer, Json::object(), "");
    return named_event(start) + named_event(begun) + named_event(event("ping"));
  }

  std::string tokens(Answer& answer, std::int32_t count, bool) const override {
    std::string out =
        "event: content_block_delta\ndata: "
        "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{";
    out += answer.calls() ? "\"type\":\"input_json_delta\",\"partial_json\":"
                          : "\"type\":\"text_delta\",\"text\":";
    append_json_text(answer.piece(answer.written, answer.written + count), out);
    return out + "}}\n\n";
  }

  std::string ending(Answer& answer) const override {
    Json stopped = event("content_block_stop");
    stopped["index"] = 0;
    Json delta = Json::object();
    delta["stop_reason"] = stop_of(answer);
    delta["stop_sequence"] = Json();
    Json last = event("message_delta");
    last["delta"] = std::move(delta);
    last["usage"] = usage(answer, answer.length);
    return named_event(stopped) + named_event(last) + named_event(event("message_stop"));
  }

  Json whole(const Answer& answer) const override {
    Json content = Json::array();
    const Json input = answer.calls() ? parse_json(answer.arguments, "arguments") : Json();
    content.push_back(block(answer, input, answer.calls() ? "" : answer.piece(0, answer.length)));
    return message(answer, std::move(content), stop_of(answer), answer.length);
  }
};

}  // namespace

const Face& messages_face() {
  static const Messages face;
  return face;
}

}  // namespace rooflua::emulate
