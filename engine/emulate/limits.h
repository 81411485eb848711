#pragma once
// What a client may cost an emulated server. docs/EMULATE.md prints this table.

#include <cstddef>
#include <cstdint>

#include "http/limits.h"

namespace rooflua::emulate::limits {

using namespace http::limits;

// --- a request
inline constexpr std::int32_t answer_tokens = 1 << 24;
inline constexpr int example_depth = 64;
inline constexpr int example_values = 4096;
inline constexpr std::size_t example_bytes = 256 * kib;
inline constexpr std::size_t example_members = 1'000'000;
inline constexpr std::size_t session_bytes = 256;
inline constexpr std::size_t sessions = 1'000'000;

// --- readers of KV events
inline constexpr std::size_t kept_messages = 10'000;
inline constexpr std::size_t kept_bytes = 64 * mib;
inline constexpr int waiting_messages = 1'000;
inline constexpr std::size_t sent_bytes = 256 * mib;
inline constexpr std::size_t question_bytes = 1 * kib;
inline constexpr std::size_t questions = 64;
inline constexpr std::size_t askers = 256;
inline constexpr int replayed_messages = 1'000;

struct Row {
  const char* what;
  std::int64_t value;
  const char* why;
};
/// The limits in the order of the document.
inline constexpr Row table[] = {
    {"bytes of a request's line and headers", head_bytes, "gateways pass 8 to 64 KiB; more: 413"},
    {"bytes of a body", body_bytes, "a prompt of a million tokens is 4 MiB; more: 413"},
    {"bytes of a chunk of a body", chunk_bytes, "proxies send 4 to 64 KiB; more: 413"},
    {"bytes of the extensions of a request's chunks", extension_bytes,
     "signatures of chunks have about 90 each; more: 413"},
    {"bytes of a request, with the sizes of its chunks", request_bytes,
     "chunks of a few bytes; beyond it the connection is closed"},
    {"bytes of all requests that are not whole yet", waiting_bytes,
     "16 of the largest bodies; beyond it the oldest of them are closed"},
    {"bytes of a stream that its client has not read", unread_bytes,
     "hours of a stream; beyond it the client has left"},
    {"seconds in which a client reads nothing", unread_s, "longer than a garbage collection"},
    {"tokens of an answer", answer_tokens, "above every engine's context; more: 400"},
    {"levels of a tool's arguments", example_depth,
     "hand-written schemas have below 10; more: 400"},
    {"values of a tool's arguments", example_values,
     "schemas may contain themselves; more are null"},
    {"bytes of a tool's arguments", example_bytes, "more: 400"},
    {"members of a tool's schema that are looked at", example_members,
     "10 ms of work; generated schemas of a whole API have below 100,000; more: 400"},
    {"bytes of a session's name", session_bytes, "a UUID has 36; longer names are not read"},
    {"sessions that are told apart", sessions, "100 MB; later ones have no session"},
    {"messages of KV events that are kept", kept_messages, "`buffer_steps` of vLLM"},
    {"bytes of these", kept_bytes, "an hour of a busy replica"},
    {"messages that a reader has not taken", waiting_messages,
     "a minute of a busy replica; beyond it the reader loses messages"},
    {"bytes of those of all readers", sent_bytes,
     "several readers that hang; beyond it all lose messages until those are cut off"},
    {"bytes of a reader's question", question_bytes, "a question has 8, a topic fewer than 100"},
    {"questions of a reader that wait", questions, "a router asks once after a gap"},
    {"readers that are sent messages again at once", askers, "the others wait"},
    {"messages that are sent again in one turn", replayed_messages, "5 ms of work"},
};

}  // namespace rooflua::emulate::limits
