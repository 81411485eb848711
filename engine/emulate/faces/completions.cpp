// OpenAI's completions. @source openai/openai-openapi, CreateCompletionResponse; vLLM
// entrypoints/openai/protocol.py (the last token's chunk has the finish_reason)

#include "emulate/faces/face.h"

namespace rooflua::emulate {

namespace {

Json frame(const Answer& answer) {
  Json out = Json::object();
  out["id"] = answer.id;
  out["object"] = "text_completion";
  out["created"] = answer.created_s;
  out["model"] = answer.model;
  return out;
}

class Completions final : public Face {
 public:
  std::string opening(Answer&) const override { return ""; }

  std::string tokens(Answer& answer, std::int32_t count, bool last) const override {
    std::string out =
        "data: {\"id\":" + json_text(answer.id) +
        ",\"object\":\"text_completion\",\"created\":" + std::to_string(answer.created_s) +
        ",\"model\":" + json_text(answer.model) + ",\"choices\":[{\"index\":0,\"text\":";
    append_json_text(answer.piece(answer.written, answer.written + count), out);
    out += ",\"logprobs\":null,\"finish_reason\":";
    out += last ? (answer.cut() ? "\"length\"" : "\"stop\"") : "null";
    return out + "}]}\n\n";
  }

  std::string ending(Answer& answer) const override {
    std::string out;
    if (answer.asked->include_usage) {
      Json chunk = frame(answer);
      chunk["choices"] = Json::array();
      chunk["usage"] = usage_of(answer);
      out += data_event(chunk);
    }
    return out + "data: [DONE]\n\n";
  }

  Json whole(const Answer& answer) const override {
    Json choice = Json::object();
    choice["index"] = 0;
    choice["text"] = answer.piece(0, answer.length);
    choice["logprobs"] = Json();
    choice["finish_reason"] = answer.cut() ? "length" : "stop";
    Json out = frame(answer);
    out["choices"].push_back(std::move(choice));
    out["usage"] = usage_of(answer);
    return out;
  }
};

}  // namespace

const Face& completions_face() {
  static const Completions face;
  return face;
}

}  // namespace rooflua::emulate
