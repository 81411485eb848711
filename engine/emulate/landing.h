#pragma once
// Follows which request gets which tokens when: steps tell it of batches only.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "serve/contract/observer.h"

namespace rooflua::emulate {

/// Told in the order of the clock. The id of a request is its number in the Inbox.
class Reader {
 public:
  virtual ~Reader() = default;
  /// @param tokens  that land together, > 0
  /// @param slot    of the request in the simulation
  virtual void on_tokens(std::int32_t id, std::int32_t slot, std::int32_t tokens,
                         Picoseconds now) = 0;
  virtual void on_end(const RequestDone& done) = 0;
  virtual void on_preempted(std::int32_t replica) { (void)replica; }
  virtual void on_ended_step(const StepDone& step) { (void)step; }
};

class Landing final : public Observer {
 public:
  /// @param prefills  by replica: whether its tokens are not the client's, because another replica
  /// decodes
  Landing(Reader& reader, const Requests& requests, std::vector<char> prefills)
      : reader_(reader),
        requests_(requests),
        prefills_(std::move(prefills)),
        decoding_(prefills_.size()) {}

  bool reads_prices() const override { return false; }
  void on_queued(const Request& request, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepDone& step) override;
  void on_done(const RequestDone& done) override;

 private:
  struct Followed {
    std::int32_t replica = -1, slot = -1;
    std::int32_t place = -1;  // in decoding_[replica]; -1: it decodes nothing
    std::int32_t landed = 0;
    bool decoding = false;
    // preempted, but a step that is under way still has a token of it: decoded, or of its prefill
    bool decode_in_flight = false, prefill_in_flight = false;
  };
  void land(std::int32_t id, Followed& followed, std::int32_t tokens, Picoseconds now);
  void move(std::int32_t id, Followed& followed, std::int32_t replica);
  void land_decodes(const StepDone& step);
  void place(std::int32_t id, Followed& followed);
  void settle(std::int32_t id, Followed& followed);

  Reader& reader_;
  const Requests& requests_;
  std::vector<char> prefills_;
  std::unordered_map<std::int32_t, Followed> live_;  // looked up only
  std::vector<std::vector<std::int32_t>> decoding_;  // ids, by replica
  std::vector<std::int32_t> landing_, skipped_;      // of one step
};

}  // namespace rooflua::emulate
