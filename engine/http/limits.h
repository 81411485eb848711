#pragma once
// What a client may cost a server that speaks HTTP, before anybody looks at what it asks.

#include <cstddef>

namespace rooflua::http::limits {

inline constexpr std::size_t kib = 1024, mib = 1024 * kib;

inline constexpr std::size_t head_bytes = 64 * kib;
inline constexpr std::size_t body_bytes = 16 * mib;
inline constexpr std::size_t chunk_bytes = 1 * mib;
inline constexpr std::size_t extension_bytes = 16 * kib;
inline constexpr std::size_t request_bytes = 2 * body_bytes + head_bytes;
inline constexpr std::size_t waiting_bytes = 256 * mib;
inline constexpr std::size_t unread_bytes = 1 * mib;
inline constexpr int unread_s = 60;

}  // namespace rooflua::http::limits
