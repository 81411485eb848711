#pragma once
// Faults at random: replicas that fail and are slow, links that carry less.

#include <cstdint>
#include <limits>
#include <optional>

#include "serve/contract/fault.h"
#include "serve/contract/observer.h"
#include "tests/serve/random_case.h"

namespace rooflua::test {

class Storm : public FaultPolicy {
 public:
  explicit Storm(std::uint64_t seed) : dice_(seed * 31 + 7) {
    timeout_ = 0.125 * dice_.upto(1, 40) + 1.0 / 512;
    ends = dice_.upto(0, 1) == 1;
    detect_ = dice_.upto(0, 1) * 0.25 * dice_.upto(0, 8);
    rare_ = dice_.upto(1, 12);
  }
  bool has_links = true, only_links = false, whole = false, ends = false;

  struct Seen : Observer {
    int failed = 0;
    bool reads_prices() const override { return false; }
    void on_failed_transfer(const TransferSeen& transfer) override {
      failed += transfer.bytes >= 0;
    }
  } seen;

  std::optional<Fault> next(double now_s, std::int32_t replicas) override {
    Fault out;
    out.time_s = now_s + 0.25 * dice_.upto(0, 8) * rare_ + 1.0 / 1024;
    out.replica = dice_.upto(0, replicas - 1);
    const double lasts = 0.25 * dice_.upto(1, 40);
    out.for_s =
        dice_.upto(0, 9) == 0 && !only_links ? std::numeric_limits<double>::infinity() : lasts;
    const std::int32_t which = dice_.upto(0, 5);
    const double part = dice_.upto(0, 3) / 4.0;
    if (has_links && (only_links || which < 3)) {
      out.kind = Fault::Kind::link;
      out.link = "nic";
      out.factor = whole ? 1 : which < 2 ? 0 : part;
      if (which % 2 == 0) out.replica = -1;
    } else if (which == 3) {
      out.kind = Fault::Kind::slow;
      out.factor = 1 + part;
    }
    return out;
  }
  double detect_s() const override { return detect_; }
  double connect_s() const override { return detect_ / 4; }
  double timeout_s() const override { return timeout_; }
  bool ends_requests() const override { return ends; }

 private:
  Dice dice_;
  double timeout_ = 1, detect_ = 0;
  std::int32_t rare_ = 1;
};

}  // namespace rooflua::test
