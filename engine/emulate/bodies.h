#pragma once
// The text that an engine's template would make of messages: close to it in length, and the same
// beginning for the same beginning of a conversation.

#include <string>

#include "base/json.h"

namespace rooflua::emulate {

/// Text of `content`: a string, or a list of parts {type, text}. Other parts count as their JSON.
std::string content_text(const Json& content);

/// System prompt, tools and messages of a body of chat completions, messages or responses.
/// @throws Refused where there are none, or one is no object
std::string conversation_text(const Json& body);

}  // namespace rooflua::emulate
