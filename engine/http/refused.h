#pragma once
// Requests that a server refuses.

#include <stdexcept>
#include <string>
#include <utility>

namespace rooflua::http {

/// A request that is answered with an error.
class Refused : public std::runtime_error {
 public:
  /// @param status  of HTTP, 400 to 599
  Refused(int status, const std::string& message, std::string param = "")
      : std::runtime_error(message), status_(status), param_(std::move(param)) {}
  int status() const { return status_; }
  const std::string& param() const { return param_; }  // the key at fault; empty: none

 private:
  int status_;
  std::string param_;
};

}  // namespace rooflua::http
