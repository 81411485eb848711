#include "emulate/received.h"

#include <event2/buffer.h>

#include <algorithm>
#include <cctype>

#include "emulate/limits.h"

namespace rooflua::emulate {

Received::Received(evbuffer* input, std::function<void(std::size_t)> added)
    : input_(input), added_(std::move(added)) {
  const auto on_change = [](evbuffer*, const evbuffer_cb_info* info, void* self) {
    auto* own = static_cast<Received*>(self);
    own->add(info->n_added);
    if (info->n_added > 0) own->added_(info->n_added);
  };
  evbuffer_add_cb(input_, on_change, this);
}

void Received::begin() {
  head_.clear();
  in_head_ = true;
  is_chunked_ = false;
  bytes_ = 0;
  add(evbuffer_get_length(input_));
}

/// @param bytes  at the end of the buffer
void Received::add(std::size_t bytes) {
  bytes_ += bytes;
  if (!in_head_ || bytes == 0) return;
  std::string part(std::min(bytes, limits::head_bytes), '\0');
  evbuffer_ptr at{};
  if (evbuffer_ptr_set(input_, &at, evbuffer_get_length(input_) - bytes, EVBUFFER_PTR_SET) != 0)
    return;
  evbuffer_copyout_from(input_, &at, part.data(), part.size());
  for (const char each : part) {
    if (each != '\r') head_ += static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  }
  const std::size_t begin = std::min(head_.find_first_not_of('\n'), head_.size());
  const std::size_t end = head_.find("\n\n", begin);
  in_head_ = end == std::string::npos && head_.size() <= limits::head_bytes;
  if (in_head_) return;
  is_chunked_ = head_.substr(0, end).find("\ntransfer-encoding") != std::string::npos;
  head_ = {};
}

bool Received::is_too_long() const {
  return bytes_ > limits::request_bytes ||
         (is_chunked_ && evbuffer_get_length(input_) > limits::chunk_bytes);
}

}  // namespace rooflua::emulate
