// OpenAI's chat completions. @source openai/openai-openapi, CreateChatCompletionResponse and
// CreateChatCompletionStreamResponse; vLLM entrypoints/openai (first chunk: the role)

#include "emulate/faces/face.h"

namespace rooflua::emulate {

namespace {

Json frame(const Answer& answer, const char* object) {
  Json out = Json::object();
  out["id"] = answer.id;
  out["object"] = object;
  out["created"] = answer.created_s;
  out["model"] = answer.model;
  return out;
}

const char* finish_of(const Answer& answer) {
  return answer.calls() ? "tool_calls" : answer.cut() ? "length" : "stop";
}

Json call_of(const Answer& answer, const std::string& arguments) {
  Json function = Json::object();
  function["name"] = answer.tool;
  function["arguments"] = arguments;
  Json out = Json::object();
  out["id"] = "call_" + answer.id;
  out["type"] = "function";
  out["function"] = std::move(function);
  return out;
}

Json chunk_of(const Answer& answer, Json delta) {
  Json choice = Json::object();
  choice["index"] = 0;
  choice["delta"] = std::move(delta);
  choice["logprobs"] = Json();
  choice["finish_reason"] = Json();
  Json out = frame(answer, "chat.completion.chunk");
  out["choices"].push_back(std::move(choice));
  return out;
}

class Chat final : public Face {
 public:
  std::string opening(Answer& answer) const override {
    Json delta = Json::object();
    delta["role"] = "assistant";
    if (!answer.calls()) {
      delta["content"] = "";
      return data_event(chunk_of(answer, std::move(delta)));
    }
    delta["content"] = Json();
    Json call = call_of(answer, "");
    call["index"] = 0;
    delta["tool_calls"].push_back(std::move(call));
    return data_event(chunk_of(answer, std::move(delta)));
  }

  std::string tokens(Answer& answer, std::int32_t count, bool last) const override {
    std::string out =
        "data: {\"id\":" + json_text(answer.id) +
        ",\"object\":\"chat.completion.chunk\",\"created\":" + std::to_string(answer.created_s) +
        ",\"model\":" + json_text(answer.model) + ",\"choices\":[{\"index\":0,\"delta\":{";
    const std::string piece = answer.piece(answer.written, answer.written + count);
    if (answer.calls()) {
      out += "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":";
      append_json_text(piece, out);
      out += "}}]";
    } else {
      out += "\"content\":";
      append_json_text(piece, out);
    }
    out += "},\"logprobs\":null,\"finish_reason\":";
    out += last ? json_text(finish_of(answer)) : "null";
    return out + "}]}\n\n";
  }

  std::string ending(Answer& answer) const override {
    std::string out;
    if (answer.asked->include_usage) {
      Json chunk = frame(answer, "chat.completion.chunk");
      chunk["choices"] = Json::array();
      chunk["usage"] = usage_of(answer);
      out += data_event(chunk);
    }
    return out + "data: [DONE]\n\n";
  }

  Json whole(const Answer& answer) const override {
    Json message = Json::object();
    message["role"] = "assistant";
    if (answer.calls()) {
      message["content"] = Json();
      message["tool_calls"].push_back(call_of(answer, answer.arguments));
    } else {
      message["content"] = answer.piece(0, answer.length);
      message["refusal"] = Json();
    }
    Json choice = Json::object();
    choice["index"] = 0;
    choice["message"] = std::move(message);
    choice["logprobs"] = Json();
    choice["finish_reason"] = finish_of(answer);
    Json out = frame(answer, "chat.completion");
    out["choices"].push_back(std::move(choice));
    out["usage"] = usage_of(answer);
    return out;
  }
};

}  // namespace

const Face& chat_face() {
  static const Chat face;
  return face;
}

}  // namespace rooflua::emulate
