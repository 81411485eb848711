#pragma once
// Clients with patience that send requests again, of a random question. A retry is a prompt of the
// question like any other: retries are found one after the other (with_retries()), so that ids of
// requests are their places.

#include <vector>

#include "serve/contract/client.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

/// Which attempt the prompt at a place is.
struct CaseAttempt {
  int client = 0, attempt = 0;
  int end = -1;  // of a retry: which of History::ends was that of the attempt before
};

struct ClientCase {
  bool on = false;
  std::uint64_t seed = 0;             // of the first replica
  int impatient = 0;                  // percent of attempts
  Ps first = 0, total = 0;            // the longest patience
  int retries = 0;                    // of a client, at most
  Ps delay = 0;                       // the longest one
  bool keeps = false;                 // what an attempt generated is kept
  std::vector<CaseAttempt> attempts;  // by place

  /// Whole numbers of ps; unset: endless.
  struct Waits {
    Ps first = unset, total = unset;
  };
  Waits waits(RandomStream draws) const;
  Ps delay_of(RandomStream draws) const;
  RandomStream draws(const CaseAttempt& attempt, int question) const;
};

class CaseClient : public ClientPolicy {
 public:
  explicit CaseClient(const ClientCase& client) : client_(client) {}
  Patience patience(const rooflua::Request& request, RandomStream& draws) override;
  std::optional<Again> again(const rooflua::Request& request, const Ending& ending,
                             RandomStream& draws) override;

 private:
  const ClientCase& client_;
};

/// Those that no end has to come before.
std::vector<RequestSpec> sent_first(const ClientCase& client, std::vector<RequestSpec> specs);

}  // namespace rooflua::reference
