#include "emulate/faces/face.h"

namespace rooflua::emulate {

namespace {

/// Where part `i` of `count` of a text begins, not inside a character of several bytes.
std::size_t part_begin(std::string_view text, std::int64_t i, std::int64_t count) {
  auto at = static_cast<std::size_t>(static_cast<std::int64_t>(text.size()) * i / count);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

std::string openai_type(int status) {
  if (status == 404) return "NotFoundError";
  if (status == 429) return "RateLimitError";
  return status < 500    ? "BadRequestError"
         : status == 503 ? "ServiceUnavailableError"
                         : "InternalServerError";
}

std::string anthropic_type(int status) {
  if (status == 404) return "not_found_error";
  if (status == 413) return "request_too_large";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : status == 503 ? "overloaded_error" : "api_error";
}

}  // namespace

std::string Answer::piece(std::int32_t from, std::int32_t to) const {
  if (calls()) {
    const std::size_t begin = part_begin(arguments, from, length);
    return arguments.substr(begin, part_begin(arguments, to, length) - begin);
  }
  std::string out;
  for (std::int32_t i = from; i < to; ++i) out += " a";
  return out;
}

const Face& face_of(Api api) {
  switch (api) {
    case Api::completions:
      return completions_face();
    case Api::responses:
      return responses_face();
    case Api::messages:
      return messages_face();
    case Api::chat:
      break;
  }
  return chat_face();
}

Json error_of(Api api, int status, const std::string& message, const std::string& param) {
  Json error = Json::object();
  error["type"] = api == Api::messages ? anthropic_type(status) : openai_type(status);
  error["message"] = message;
  Json out = Json::object();
  if (api == Api::messages) {
    out["type"] = "error";
  } else {
    error["param"] = param.empty() ? Json() : Json(param);
    error["code"] = status;
  }
  out["error"] = std::move(error);
  return out;
}

std::string answer_id(Api api, std::int64_t number) {
  const char* prefix = api == Api::completions ? "cmpl-"
                       : api == Api::chat      ? "chatcmpl-"
                       : api == Api::responses ? "resp_"
                                               : "msg_";
  return prefix + std::to_string(number);
}

std::string data_event(const Json& document) {
  return "data: " + dump_json(document) + "\n\n";
}

std::string named_event(const Json& document) {
  return "event: " + document.find("type")->text() + "\ndata: " + dump_json(document) + "\n\n";
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(text, out);
  return out;
}

Json usage_of(const Answer& answer) {
  Json out = Json::object();
  out["prompt_tokens"] = answer.prompt_tokens;
  out["total_tokens"] = answer.prompt_tokens + answer.length;
  out["completion_tokens"] = answer.length;
  Json details = Json::object();
  details["cached_tokens"] = answer.cached_tokens;
  out["prompt_tokens_details"] = std::move(details);
  return out;
}

}  // namespace rooflua::emulate
