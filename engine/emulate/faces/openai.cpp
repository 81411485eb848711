// OpenAI's completions and chat completions. @source openai/openai-openapi,
// CreateCompletionResponse, CreateChatCompletionResponse, CreateChatCompletionStreamResponse; vLLM
// entrypoints/openai (a chat's first chunk: the role; the last token's chunk has the finish_reason)

#include "emulate/faces/face.h"

namespace rooflua::emulate {

namespace {

/// What both have: a document with one choice, and chunks of it.
class OpenAi : public Face {
 public:
  OpenAi(const char* object, const char* chunk) : object_(object), chunk_(chunk) {}

  std::string tokens(Answer& answer, std::int32_t count, bool last) const override {
    std::string out = "data: {\"id\":" + json_text(answer.id) + ",\"object\":\"" + chunk_ +
                      "\",\"created\":" + std::to_string(answer.created_s) +
                      ",\"model\":" + json_text(answer.model) + ",\"choices\":[{\"index\":0,";
    append_piece(answer, answer.piece(answer.written, answer.written + count), out);
    out += ",\"logprobs\":null,\"finish_reason\":";
    out += last ? json_text(finish_of(answer)) : "null";
    return out + "}]}\n\n";
  }

  std::string ending(Answer& answer) const override {
    std::string out;
    if (answer.asked->include_usage) {
      Json chunk = frame(answer, chunk_);
      chunk["choices"] = Json::array();
      chunk["usage"] = usage_of(answer);
      out += data_event(chunk);
    }
    return out + "data: [DONE]\n\n";
  }

  Json whole(const Answer& answer) const override {
    Json choice = Json::object();
    choice["index"] = 0;
    put_content(answer, choice);
    choice["logprobs"] = Json();
    choice["finish_reason"] = finish_of(answer);
    Json out = frame(answer, object_);
    out["choices"].push_back(std::move(choice));
    out["usage"] = usage_of(answer);
    return out;
  }

 protected:
  static Json frame(const Answer& answer, const char* object) {
    Json out = Json::object();
    out["id"] = answer.id;
    out["object"] = object;
    out["created"] = answer.created_s;
    out["model"] = answer.model;
    return out;
  }
  static const char* finish_of(const Answer& answer) {
    return answer.calls() ? "tool_calls" : answer.cut() ? "length" : "stop";
  }
  const char* chunk() const { return chunk_; }

 private:
  /// The next tokens as a member of a chunk's choice.
  virtual void append_piece(const Answer& answer, const std::string& piece,
                            std::string& out) const = 0;
  /// All of them as a member of the choice.
  virtual void put_content(const Answer& answer, Json& choice) const = 0;

  const char *object_, *chunk_;
};

class Completions final : public OpenAi {
 public:
  Completions() : OpenAi("text_completion", "text_completion") {}
  std::string opening(Answer&) const override { return ""; }

 private:
  void append_piece(const Answer&, const std::string& piece, std::string& out) const override {
    out += "\"text\":";
    append_json_text(piece, out);
  }
  void put_content(const Answer& answer, Json& choice) const override {
    choice["text"] = answer.piece(0, answer.length);
  }
};

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

class Chat final : public OpenAi {
 public:
  Chat() : OpenAi("chat.completion", "chat.completion.chunk") {}

  std::string opening(Answer& answer) const override {
    Json delta = Json::object();
    delta["role"] = "assistant";
    delta["content"] = answer.calls() ? Json() : Json("");
    if (answer.calls()) {
      Json call = call_of(answer, "");
      call["index"] = 0;
      delta["tool_calls"].push_back(std::move(call));
    }
    Json choice = Json::object();
    choice["index"] = 0;
    choice["delta"] = std::move(delta);
    choice["logprobs"] = Json();
    choice["finish_reason"] = Json();
    Json out = frame(answer, chunk());
    out["choices"].push_back(std::move(choice));
    return data_event(out);
  }

 private:
  void append_piece(const Answer& answer, const std::string& piece,
                    std::string& out) const override {
    out += "\"delta\":{";
    out += answer.calls() ? "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
                          : "\"content\":";
    append_json_text(piece, out);
    out += answer.calls() ? "}}]}" : "}";
  }
  void put_content(const Answer& answer, Json& choice) const override {
    Json message = Json::object();
    message["role"] = "assistant";
    if (answer.calls()) {
      message["content"] = Json();
      message["tool_calls"].push_back(call_of(answer, answer.arguments));
    } else {
      message["content"] = answer.piece(0, answer.length);
      message["refusal"] = Json();
    }
    choice["message"] = std::move(message);
  }
};

}  // namespace

const Face& completions_face() {
  static const Completions face;
  return face;
}

const Face& chat_face() {
  static const Chat face;
  return face;
}

}  // namespace rooflua::emulate
