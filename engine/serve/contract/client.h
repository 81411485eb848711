#pragma once
// Who sends requests: how long a client waits for an answer, and what it sends again when it gets
// none. Each sending is a request with an id of its own, an attempt. All attempts for one answer
// have an origin in common: the id of the first.
//
// @source the OpenAI client for Python (timeouts and retries), AIPerf (requests that are cancelled),
// NVIDIA Dynamo (migration)

#include <cstdint>
#include <limits>
#include <optional>

#include "base/random.h"
#include "serve/contract/request.h"

namespace rooflua {

/// Seconds from the sending of an attempt until its client ends it; infinity: never.
struct Patience {
  static constexpr double endless = std::numeric_limits<double>::infinity();
  double first_token_s = endless;  // it has no token by then: timed_out
  double total_s = endless;        // it has not ended by then: timed_out
  double cancel_s = endless;       // it has not ended by then: cancelled
};

/// How an attempt ended, as its client sees it.
struct Ending {
  Outcome outcome = Outcome::completed;
  std::int32_t attempt = 0;        // from 0
  double now_s = 0;                // when the client knows
  double waited_s = 0;             // since this attempt was sent
  std::int32_t output_tokens = 0;  // that this attempt gave
};

/// The next attempt.
struct Again {
  double delay_s = 0;  // from the end of the one before; >= 0
  /// What it has generated so far becomes the end of its prompt, and is not generated again. false:
  /// the next attempt begins anew.
  bool keeps_output = false;
};

class ClientPolicy {
 public:
  virtual ~ClientPolicy() = default;
  /// Asked when an attempt is sent.
  /// @param draws  random numbers of this client and attempt alone
  virtual Patience patience(const Request& request, RandomStream& draws) = 0;
  /// Asked at an end for which may_be_sent_again() holds. Nothing: the client gives up.
  virtual std::optional<Again> again(const Request& request, const Ending& ending,
                                     RandomStream& draws) = 0;
};

/// What another attempt may help against: an answer that came, a prompt that does not fit, and a
/// client that went away are final.
constexpr bool may_be_sent_again(Outcome outcome) {
  return outcome == Outcome::refused || outcome == Outcome::expired ||
         outcome == Outcome::timed_out || outcome == Outcome::rejected ||
         outcome == Outcome::starved || outcome == Outcome::never_admitted ||
         outcome == Outcome::replica_lost;
}

}  // namespace rooflua
