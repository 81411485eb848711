#pragma once
// Follows which request gets which tokens when: steps tell it of batches only.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "serve/contract/observer.h"
#include "serve/replica/cluster.h"

namespace rooflua {

/// By replica: whether its tokens are not the client's, because another replica decodes.
std::vector<char> prefill_replicas(const ClusterConfig& cluster);

/// An observer that is told of tokens, in the order of the clock. A class that overrides one of
/// Observer's methods calls this class's own first.
class TokenObserver : public Observer {
 public:
  /// @param prefills  prefill_replicas(); replicas after its end do not prefill
  explicit TokenObserver(std::vector<char> prefills = {}) : prefills_(std::move(prefills)) {}

  bool reads_prices() const override { return false; }
  void on_queued(const Request& request, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepDone& step) override;
  /// on_tokens() is not called for this request any more.
  void on_done(const RequestDone& done) override;

 protected:
  /// @param tokens  that land together, > 0
  virtual void on_tokens(std::int32_t id, std::int32_t tokens, Picoseconds now) = 0;

 private:
  struct Followed {
    std::int32_t replica = -1;
    std::int32_t place = -1;  // in decoding_[replica]; -1: it decodes nothing
    std::int32_t landed = 0;
    bool decoding = false;
    // preempted, but a step that is under way still has a token of it: decoded, or of its prefill
    bool decode_in_flight = false, prefill_in_flight = false;
  };
  using Ids = std::vector<std::int32_t>;
  void land(std::int32_t id, Followed& followed, std::int32_t tokens, Picoseconds now);
  void move(std::int32_t id, Followed& followed, std::int32_t replica);
  void land_decodes(const StepDone& step);
  void settle(std::int32_t id, Followed& followed);
  Ids& decoding_at(std::int32_t replica);

  std::vector<char> prefills_;
  std::unordered_map<std::int32_t, Followed> live_;  // looked up only
  std::vector<Ids> decoding_;                        // by replica
  Ids landing_, skipped_;                            // of one step
};

}  // namespace rooflua
