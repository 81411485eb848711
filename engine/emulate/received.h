#pragma once
// What has come of a request that is not whole. evhttp has no limit on the line with a chunk's
// size, and searches all of it again for its end with every byte that comes.

#include <cstddef>
#include <functional>
#include <string>

struct evbuffer;

namespace rooflua::emulate {

class Received {
 public:
  /// @param added  is told how many bytes came; it may not destroy this object
  Received(evbuffer* input, std::function<void(std::size_t)> added);
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;

  std::size_t bytes() const { return bytes_; }
  /// It is whole.
  void taken() { bytes_ = 0; }
  /// The next one begins, with what has come already.
  void begin();
  /// Whether it has a chunk, or chunks, beyond the limits.
  bool is_too_long() const;

 private:
  void add(std::size_t bytes);

  evbuffer* input_;
  std::function<void(std::size_t)> added_;
  std::size_t bytes_ = 0;
  std::string head_;  // as far as it has come
  bool in_head_ = true, is_chunked_ = false;
};

}  // namespace rooflua::emulate
