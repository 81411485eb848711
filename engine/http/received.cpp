#include "http/received.h"

#include <event2/buffer.h>

#include <algorithm>
#include <cctype>

#include "http/limits.h"

namespace rooflua::http {

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
  line_.clear();
  part_ = Part::head;
  is_chunked_ = is_malformed_ = false;
  bytes_ = extension_bytes_ = 0;
  refused_ = 0;
  add(evbuffer_get_length(input_));
}

/// @param bytes  at the end of the buffer
void Received::add(std::size_t bytes) {
  bytes_ += bytes;
  const std::size_t end = evbuffer_get_length(input_);
  for (std::size_t at = end - bytes; at < end && part_ != Part::rest;) {
    if (part_ == Part::data && left_ > 0) {
      const std::size_t some = std::min(left_, end - at);
      left_ -= some;
      at += some;
      continue;
    }
    char piece[1024];
    evbuffer_ptr from{};
    if (evbuffer_ptr_set(input_, &from, at, EVBUFFER_PTR_SET) != 0) return;
    const ev_ssize_t count = evbuffer_copyout_from(input_, &from, piece, sizeof piece);
    if (count <= 0) return;
    for (ev_ssize_t i = 0; i < count && part_ != Part::rest; ++i, ++at) {
      if (part_ == Part::data && left_ > 0) break;
      look(piece[i], at);
      if (is_malformed_) part_ = Part::rest;
    }
  }
  if (bytes == 0) return;
  const bool is_too_long = bytes_ > limits::request_bytes ||
                           extension_bytes_ > limits::extension_bytes ||
                           (is_chunked_ && end > limits::chunk_bytes);
  if (refused_ == 0) refused_ = is_malformed_ ? 400 : is_too_long ? 413 : 0;
  if (refused_ != 0) evbuffer_drain(input_, end);  // evhttp would answer, too
}

void Received::look(char next, std::size_t at) {
  switch (part_) {
    case Part::head:
      if (next == '\r' || (next == '\n' && line_.empty())) return;
      line_ += static_cast<char>(std::tolower(static_cast<unsigned char>(next)));
      if (line_.ends_with("\n\n") || line_.size() > limits::head_bytes) end_head();
      return;
    case Part::size:
      return look_at_size(next, at);
    case Part::space:
    case Part::extension:
      return look_at_extension(next);
    case Part::size_end:
      is_malformed_ = next != '\n';
      part_ = left_ > limits::body_bytes ? Part::rest : left_ > 0 ? Part::data : Part::trailer;
      return;
    case Part::data:
    case Part::data_end:
      return look_at_data_end(next);
    case Part::trailer:
      return look_at_trailer(next);
    case Part::rest:
      return;
  }
}

/// A body with another coding is refused, whatever it is.
void Received::end_head() {
  is_chunked_ = line_.find("\ntransfer-encoding:") != std::string::npos;
  part_ = is_chunked_ ? Part::size : Part::rest;
  digits_ = left_ = 0;
  line_.clear();
}

void Received::look_at_size(char next, std::size_t at) {
  const bool is_digit = std::isxdigit(static_cast<unsigned char>(next)) != 0;
  if (is_digit) {
    const int digit = next <= '9' ? next - '0' : (next | 0x20) - 'a' + 10;
    if (left_ <= limits::body_bytes) left_ = 16 * left_ + static_cast<std::size_t>(digit);
    ++digits_;
  } else if (digits_ == 0) {
    is_malformed_ = true;
  } else {
    part_ = Part::space;
    look_at_extension(next);
    if (part_ != Part::size_end) blank(at);  // evhttp reads a size up to a space
  }
}

/// What is behind a chunk's size. Extensions are passed over: none is known.
void Received::look_at_extension(char next) {
  if (next == '\r') return void(part_ = Part::size_end);
  ++extension_bytes_;
  if (next == ' ' || next == '\t') return;
  if (next == ';') return void(part_ = Part::extension);
  const auto code = static_cast<unsigned char>(next);
  is_malformed_ = part_ == Part::space || code < ' ' || code == 127;
}

void Received::look_at_data_end(char next) {
  is_malformed_ = next != (part_ == Part::data ? '\r' : '\n');
  part_ = part_ == Part::data ? Part::data_end : Part::size;
  digits_ = left_ = 0;
}

void Received::look_at_trailer(char next) {
  if (next == '\r') return;
  if (next != '\n') {
    if (line_.size() < limits::head_bytes) line_ += next;  // evhttp refuses more
    return;
  }
  if (line_.empty()) return void(part_ = Part::rest);
  is_malformed_ = line_.find(':') == std::string::npos || line_.front() == ' ' ||
                  line_.front() == '\t' || line_.front() == ':';
  line_.clear();
}

void Received::blank(std::size_t at) {
  evbuffer_ptr from{};
  evbuffer_iovec piece{};
  if (evbuffer_ptr_set(input_, &from, at, EVBUFFER_PTR_SET) == 0 &&
      evbuffer_peek(input_, 1, &from, &piece, 1) > 0)
    *static_cast<char*>(piece.iov_base) = ' ';
}

}  // namespace rooflua::http
