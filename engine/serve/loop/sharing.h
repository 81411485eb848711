#pragma once
// A part of the replicas of a simulation. Where neither the router nor the workload sees what
// replicas do, every replica goes its own way, and several processes can each simulate a part of
// them: each reads the whole workload and routes every request.

#include <cstdint>
#include <string>

namespace rooflua {

class Simulation;

class Sharing {
 public:
  explicit Sharing(Simulation& simulation) : s_(simulation) {}

  /// Why the replicas cannot be simulated apart from each other: a sentence without its end. Empty:
  /// they can.
  std::string obstacle() const;
  /// Groups of replicas that step together: at most so many parts are of use.
  std::int32_t groups() const;
  /// From now on only part `part` of `parts` is simulated. Requests that the router sends to other
  /// replicas are told as they arrive, and then forgotten.
  /// @pre obstacle() is empty, and nothing has happened
  void keep(std::int32_t part, std::int32_t parts);

 private:
  Simulation& s_;
};

}  // namespace rooflua
