// OpenAI's responses. @source openai/openai-openapi, Response and ResponseStreamEvent;
// openai/openai-node src/resources/responses

#include "emulate/faces/face.h"

namespace rooflua::emulate {

namespace {

std::string item_id(const Answer& answer) {
  return (answer.calls() ? "fc_" : "msg_") + answer.id;
}

Json text_part(const std::string& text) {
  Json out = Json::object();
  out["type"] = "output_text";
  out["text"] = text;
  out["annotations"] = Json::array();
  out["logprobs"] = Json::array();
  return out;
}

/// @param parts  content of a message, at its beginning none
Json item(const Answer& answer, const char* status, const std::string& arguments, Json parts) {
  Json out = Json::object();
  out["id"] = item_id(answer);
  out["type"] = answer.calls() ? "function_call" : "message";
  out["status"] = status;
  if (answer.calls()) {
    out["call_id"] = "call_" + answer.id;
    out["name"] = answer.tool;
    out["arguments"] = arguments;
  } else {
    out["role"] = "assistant";
    out["content"] = std::move(parts);
  }
  return out;
}

Json usage(const Answer& answer) {
  Json in = Json::object();
  in["cached_tokens"] = answer.cached_tokens;
  Json detail = Json::object();
  detail["reasoning_tokens"] = 0;
  Json out = Json::object();
  out["input_tokens"] = answer.prompt_tokens;
  out["input_tokens_details"] = std::move(in);
  out["output_tokens"] = answer.length;
  out["output_tokens_details"] = std::move(detail);
  out["total_tokens"] = answer.prompt_tokens + answer.length;
  return out;
}

bool is_incomplete(const Answer& answer) {
  return answer.cut() && !answer.calls();
}

Json response(const Answer& answer, const char* status, Json output, Json used) {
  Json out = Json::object();
  out["id"] = answer.id;
  out["object"] = "response";
  out["created_at"] = answer.created_s;
  out["status"] = status;
  out["error"] = Json();
  out["incomplete_details"] = Json();
  if (std::string_view(status) == "incomplete") {
    Json why = Json::object();
    why["reason"] = "max_output_tokens";
    out["incomplete_details"] = std::move(why);
  }
  out["instructions"] = Json();
  out["metadata"] = Json();
  out["model"] = answer.model;
  out["output"] = std::move(output);
  out["parallel_tool_calls"] = true;
  out["temperature"] = 1.0;
  out["tool_choice"] = "auto";
  out["tools"] = Json::array();
  out["top_p"] = 1.0;
  out["usage"] = std::move(used);
  return out;
}

Json finished_item(const Answer& answer) {
  Json parts = Json::array();
  if (!answer.calls()) parts.push_back(text_part(answer.piece(0, answer.length)));
  return item(answer, is_incomplete(answer) ? "incomplete" : "completed", answer.arguments,
              std::move(parts));
}

Json finished(const Answer& answer) {
  Json output = Json::array();
  output.push_back(finished_item(answer));
  return response(answer, is_incomplete(answer) ? "incomplete" : "completed", std::move(output),
                  usage(answer));
}

Json event(const char* type, Answer& answer) {
  Json out = Json::object();
  out["type"] = type;
  out["sequence_number"] = answer.events++;
  return out;
}

/// An event about the one item of the answer, or about its one part.
Json item_event(const char* type, Answer& answer, bool of_part) {
  Json out = event(type, answer);
  out["item_id"] = item_id(answer);
  out["output_index"] = 0;
  if (of_part) out["content_index"] = 0;
  return out;
}

class Responses final : public Face {
 public:
  std::string opening(Answer& answer) const override {
    std::string out;
    for (const char* type : {"response.created", "response.in_progress"}) {
      Json begun = event(type, answer);
      begun["response"] = response(answer, "in_progress", Json::array(), Json());
      out += named_event(begun);
    }
    Json added = event("response.output_item.added", answer);
    added["output_index"] = 0;
    added["item"] = item(answer, "in_progress", "", Json::array());
    out += named_event(added);
    if (answer.calls()) return out;
    Json part = item_event("response.content_part.added", answer, true);
    part["part"] = text_part("");
    return out + named_event(part);
  }

  std::string tokens(Answer& answer, std::int32_t count, bool) const override {
    Json out = item_event(
        answer.calls() ? "response.function_call_arguments.delta" : "response.output_text.delta",
        answer, !answer.calls());
    out["delta"] = answer.piece(answer.written, answer.written + count);
    if (!answer.calls()) out["logprobs"] = Json::array();
    return named_event(out);
  }

  std::string ending(Answer& answer) const override {
    std::string out;
    if (answer.calls()) {
      Json done = item_event("response.function_call_arguments.done", answer, false);
      done["name"] = answer.tool;
      done["arguments"] = answer.arguments;
      out += named_event(done);
    } else {
      const std::string text = answer.piece(0, answer.length);
      Json done = item_event("response.output_text.done", answer, true);
      done["text"] = text;
      done["logprobs"] = Json::array();
      Json part = item_event("response.content_part.done", answer, true);
      part["part"] = text_part(text);
      out += named_event(done) + named_event(part);
    }
    Json item_done = event("response.output_item.done", answer);
    item_done["output_index"] = 0;
    item_done["item"] = finished_item(answer);
    Json last = event(is_incomplete(answer) ? "response.incomplete" : "response.completed", answer);
    last["response"] = finished(answer);
    return out + named_event(item_done) + named_event(last);
  }

  Json whole(const Answer& answer) const override { return finished(answer); }
};

}  // namespace

const Face& responses_face() {
  static const Responses face;
  return face;
}

}  // namespace rooflua::emulate
