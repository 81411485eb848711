#pragma once
// A server that runs (--url): what it says of itself, and what it counts in a while, as files.

#include <optional>
#include <string>
#include <vector>

#include "app/scratch.h"
#include "base/json.h"
#include "emulate/client/fetch.h"

namespace rooflua::app {

/// Asks pages by GET, of the named address alone. The files are there as long as the object.
class Visit {
 public:
  /// @param url        "http://host:8000"; empty: nothing is asked
  /// @param watched_s  between two scrapes of /metrics, which together are a measured run; 0: none;
  ///                   not stated: 10
  /// @throws Error where nobody answers, with none of the pages, and of a watch without a server
  Visit(const std::string& url, std::optional<int> watched_s);

  const std::vector<std::string>& files() const { return files_; }
  /// A text with the server's address in place of the folder of the files.
  std::string named(std::string text) const;
  /// The same for every text of a document.
  Json named_in(const Json& document) const;

 private:
  std::optional<std::string> page(const char* path) const;
  void keep(const char* name, const std::string& text);
  void watch(const std::string& before, int watched_s);

  emulate::ServerAddress server_;
  std::optional<Scratch> folder_;
  std::vector<std::string> files_;
};

}  // namespace rooflua::app
