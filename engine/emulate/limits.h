#pragma once
// What a client may cost an emulated server. docs/EMULATE.md prints this table.

#include <cstddef>
#include <cstdint>
#include <span>

namespace rooflua::emulate::limits {

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

// --- a connection
inline constexpr std::size_t head_bytes = 64 * kib;
inline constexpr std::size_t body_bytes = 16 * mib;
inline constexpr std::size_t chunk_bytes = 1 * mib;
inline constexpr std::size_t request_bytes = 2 * body_bytes + head_bytes;
inline constexpr std::size_t waiting_bytes = 256 * mib;
inline constexpr std::size_t unread_bytes = 1 * mib;
inline constexpr int unread_s = 60;

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
std::span<const Row> table();

}  // namespace rooflua::emulate::limits
