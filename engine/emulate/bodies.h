#pragma once
// The text that an engine's template would make of messages: close to it in length, and the same
// beginning for the same beginning of a conversation.

#include <string>

#include "base/json.h"
#include "emulate/prompt.h"

namespace rooflua::emulate {

/// Text of `content`: a string, or a list of parts {type, text}. Images and sounds count the tokens
/// of their size (items.h); other parts count as their JSON.
std::string content_text(const Json& content, const PromptRules& rules);

/// System prompt, tools and messages of a body of chat completions, messages or responses.
/// @throws Refused where there are none, or one is no object
std::string conversation_text(const Json& body, const PromptRules& rules);

}  // namespace rooflua::emulate
