#pragma once
// The front end of an engine as a queue, and the process of the clients, as a benchmark has one.
//
//   a request     the clients' process sends it; the router chooses; a server of that engine's front
//                 end renders and tokenises it; then it is in the engine's queue
//   a token       when its step has ended, servers of the front end send it as a chunk of a stream;
//                 the clients' process reads it: that is when the client sees it
//
// Servers take what comes in its order. Without egress_servers the same servers do both, as one
// process with one event loop does: chunks wait behind requests that came before them. With several
// server_turns a request that has been served queues again at its server, behind all that came
// meanwhile: a handler that awaits its tokeniser goes on after the others of the loop.
// The chunks of a step go in this order: last ones of answers that end, others, first ones. With a
// stream_interval above 1 the first and the last chunk of an answer go at once, and of the others
// one for so many tokens.
// The clients' process reads and sends apart from each other, reads in the order in which steps
// ended, and does not wait for what it sends.
// A request that is aborted leaves at once; the time that servers have promised it is spent.
//
// @source vLLM v1/engine/async_llm.py, entrypoints/openai/api_server.py (one asyncio loop renders,
// tokenises and streams; one message of the engine per step); SGLang srt/managers:
// tokenizer_manager.py, detokenizer_manager.py

#include <map>
#include <utility>
#include <vector>

#include "serve/core/part.h"
#include "serve/parts/stations/station.h"

namespace rooflua {

class Parts;

class FrontendPart final : public Part, public OnTime, public OnRequest, public OnStep {
 public:
  /// What the stations of all engines did.
  struct Totals {
    std::int64_t requests = 0, chunks = 0;  // that a front end served
    Picoseconds ingress = 0, egress = 0;    // time of servers
    Picoseconds busiest = 0, busiest_egress = 0;  // servers of one engine, over their number
    Picoseconds client_sends = 0, client_reads = 0;
    Picoseconds waited = 0;  // requests for a server, without their service
    Picoseconds late = 0;    // steps with chunks, from their end until the client has the last one
    std::int64_t steps = 0;
    Picoseconds first = never, last = 0;  // a request or chunk came; one was served
  };

  FrontendPart(Core& core, Loop& loop);

  std::unique_ptr<Part> copy(Core& core, Loop& loop) const override;
  std::string obstacle() const override { return "requests queue at a front end"; }

  Picoseconds earliest() override { return due_.empty() ? never : due_.begin()->first.first; }
  void pass(Moment moment) override;

  bool takes(std::int32_t slot) override;
  bool reaches(std::int32_t slot, std::int32_t replica) override;
  void aborting(std::int32_t slot) override;
  void fills(std::int32_t slot, RequestDone& done) const override;

  void landed(const StepDone& done) override;
  bool completed(std::int32_t slot, std::int32_t replica) override;
  void took(std::int32_t replica, Picoseconds end, std::int64_t tokens) override;

  Totals totals() const;

 private:
  /// Of one engine.
  struct Servers {
    Station ingress, egress;    // egress: where it has servers of its own
    std::int64_t held_tokens = 0;  // that no chunk has carried yet
  };
  struct Seen {
    std::int32_t id = -1;      // of the request
    bool is_out = false;       // the clients' process has sent it
    Picoseconds last = never;  // its last token
  };

  Servers& of(std::int32_t replica) {
    return servers_[static_cast<std::size_t>(core_.engine_of(replica))];
  }
  Station& egress_of(Servers& servers) { return has_egress_ ? servers.egress : servers.ingress; }
  Seen& seen(std::int32_t slot);
  void note(Picoseconds came, Picoseconds served);
  void turn_again(std::int32_t slot, std::size_t server, std::int32_t turns);
  void send_chunks(Servers& servers, Picoseconds now, std::int64_t chunks);
  std::int64_t chunks_of(Servers& servers, std::int64_t tokens, std::int64_t urgent);

  Core& core_;
  Loop& loop_;
  /// A slot that leaves its server, and how often it queues there again.
  struct Due {
    std::int32_t slot, turns;
    std::size_t server;
  };
  Picoseconds request_ = 0, prompt_token_ = 0, chunk_ = 0, client_request_ = 0, client_chunk_ = 0;
  std::int32_t interval_ = 1, turns_ = 1;
  bool has_egress_ = false;

  std::vector<Servers> servers_;  // by engine
  Station sends_, reads_;         // of the clients' process
  std::map<std::pair<Picoseconds, std::int64_t>, Due> due_;  // who leaves then
  std::int64_t came_ = 0;
  std::vector<Seen> seen_;                 // by slot
  std::vector<Picoseconds> arrivals_;      // of the chunks of the last step, at the client
  std::size_t next_end_ = 0;               // of answers that end there
  Totals totals_;
};

/// That of a run; null: it has none.
const FrontendPart* frontend_of(const Parts& parts);

}  // namespace rooflua
