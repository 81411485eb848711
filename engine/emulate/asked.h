#pragma once
// What a client asks for, whatever the API it speaks.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "emulate/prompt.h"
#include "http/refused.h"

namespace rooflua::emulate {

using http::Refused;

/// Which API: OpenAI's completions, chat completions and responses, Anthropic's messages.
enum class Api { completions, chat, responses, messages };

/// A function that the client lets the model call.
struct Tool {
  std::string name;
  Json schema;  // of its arguments; null: none is given
};

struct Asked {
  Api api = Api::completions;
  std::string model;  // empty: not stated
  Prompt prompt;
  std::vector<std::int64_t> tokens;  // of a prompt that is a list of them; else empty
  std::int32_t max_tokens = 0;       // 0: no limit is stated
  std::int32_t min_tokens = 0;
  bool ignore_eos = false;
  bool streamed = false;
  bool include_usage = false;  // of a stream: usage in a chunk of its own at the end
  std::int32_t priority = 0;
  std::vector<Tool> tools;
  enum class Choice { none, automatic, required } choice = Choice::automatic;
  std::vector<std::string> unread;  // keys of the body that change nothing here
  std::string chosen;               // the tool that must be called; empty: any

  /// The length that the client fixes: ignore_eos, or min_tokens = max_tokens. 0: it does not.
  std::int32_t fixed_length() const {
    return max_tokens > 0 && (ignore_eos || min_tokens >= max_tokens) ? max_tokens : 0;
  }
};

/// Reads the body of a request.
/// @throws Refused with status 400 where it is no JSON, lacks what the API needs, or asks for what
/// is not emulated
Asked read_asked(Api api, const std::string& body, const PromptRules& rules);

/// The prompt of a body of /tokenize or of messages/count_tokens, as one text; nothing where it is
/// a list of tokens, which then is in `tokens`. @throws Refused
std::optional<std::string> prompt_text(const Json& body, const PromptRules& rules,
                                       std::vector<std::int64_t>& tokens);

/// @throws Refused with status 400
Json read_body(const std::string& body);

}  // namespace rooflua::emulate
