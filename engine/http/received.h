#pragma once
// What has come of a request that is not whole. evhttp has no limit on the line with a chunk's
// size, searches all of it again for its end with every byte that comes, and takes a line with
// extensions for none. So the frames of chunks are looked at here, in front of it.
// @source RFC 9112, 7.1 and 7.1.1

#include <cstddef>
#include <functional>
#include <string>

struct evbuffer;

namespace rooflua::http {

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
  /// The status of HTTP that refuses it: its chunks are none, or beyond the limits; 0: none does.
  int refused() const { return refused_; }

 private:
  enum class Part { head, size, space, extension, size_end, data, data_end, trailer, rest };
  void add(std::size_t bytes);
  void look(char next, std::size_t at);
  void end_head();
  void look_at_size(char next, std::size_t at);
  void look_at_extension(char next);
  void look_at_data_end(char next);
  void look_at_trailer(char next);
  void blank(std::size_t at);

  evbuffer* input_;
  std::function<void(std::size_t)> added_;
  std::size_t bytes_ = 0;
  Part part_ = Part::head;
  std::string line_;  // the head, or a line of the trailer, as far as it has come
  bool is_chunked_ = false, is_malformed_ = false;
  int refused_ = 0;
  std::size_t digits_ = 0, left_ = 0;  // of a chunk's size; its bytes that have not come
  std::size_t extension_bytes_ = 0;
};

}  // namespace rooflua::http
