#pragma once
// An answer in the words of an API: as a stream of server-sent events, or whole.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "emulate/asked.h"

namespace rooflua::emulate {

/// What is known of an answer that is under way.
struct Answer {
  std::string id;              // "cmpl-12"
  std::int64_t created_s = 0;  // Unix time
  std::string model;           // as the client calls it
  const Asked* asked = nullptr;
  std::int64_t prompt_tokens = 0, cached_tokens = 0;
  std::int32_t length = 0;   // tokens that it will have
  std::int32_t limit = 0;    // that it cannot pass
  std::int32_t written = 0;  // tokens that the client has
  std::string tool;          // that it calls; empty: it is text
  std::string arguments;     // of that call, as JSON
  std::int32_t events = 0;   // that were numbered (responses)

  bool calls() const { return !tool.empty(); }
  /// Whether the limit of the client or the end of the context ended it.
  bool cut() const { return length >= limit; }
  /// What its tokens from..to say: " a" each, or their part of the arguments.
  std::string piece(std::int32_t from, std::int32_t to) const;
};

class Face {
 public:
  virtual ~Face() = default;
  /// Events in front of the first token; "" where there are none.
  virtual std::string opening(Answer& answer) const = 0;
  /// The event of the next `count` tokens. @param last  whether the answer ends with them
  virtual std::string tokens(Answer& answer, std::int32_t count, bool last) const = 0;
  /// Events after the last token.
  virtual std::string ending(Answer& answer) const = 0;
  /// The answer in one piece.
  virtual Json whole(const Answer& answer) const = 0;
};

const Face& face_of(Api api);
/// The object of an error in the words of the API.
Json error_of(Api api, int status, const std::string& message, const std::string& param);
/// "chatcmpl-12"
std::string answer_id(Api api, std::int64_t number);

const Face& completions_face();
const Face& chat_face();
const Face& responses_face();
const Face& messages_face();

/// `data: DOCUMENT` and an empty line.
std::string data_event(const Json& document);
/// The same under the event's name, which is the document's type.
std::string named_event(const Json& document);
std::string json_text(std::string_view text);  // with its quotes
/// OpenAI's usage of completions and chat completions.
Json usage_of(const Answer& answer);

}  // namespace rooflua::emulate
