#include "serve/loop/endings.h"

#include <algorithm>

namespace rooflua {

RequestDone describe(const Core& core, const Parts& parts, std::int32_t slot, Outcome outcome) {
  const Request& request = core.requests[slot];
  const Progress& progress = core.progress(slot);
  const Picoseconds delay = progress.first_token == never ? 0 : core.frontend_token;
  RequestDone done;
  done.id = request.id;
  done.replica = request.replica;
  done.prefill_replica = progress.prefill_replica;
  done.outcome = outcome;
  done.now = core.now + delay;
  done.arrival = progress.arrival;
  done.queued = progress.queued;
  done.scheduled = progress.scheduled;
  if (progress.first_token != never) {
    done.first_token = core.first_token_at_client(slot);
    done.last_token = progress.last_token + delay;
  }
  done.prompt_tokens = request.prompt_tokens;
  done.output_tokens = outcome == Outcome::completed ? progress.stop_at : request.emitted_tokens;
  done.cached_tokens = progress.first_hit_tokens;
  done.preemptions = request.preemptions;
  done.rounds = request.rounds;
  done.drafted_tokens = request.drafted_tokens;
  done.accepted_tokens = request.accepted_tokens;
  done.priority = request.priority;
  done.klass = request.klass;
  done.session = request.session;
  done.tenant = request.tenant;
  done.program = request.program;
  done.attempt = request.attempt;
  done.origin = progress.origin;
  done.held = progress.held;
  for (const OnRequest* part : parts.on_request) part->fills(slot, done);
  done.output_content = progress.output_content;
  done.row = progress.row;
  return done;
}

RequestDone describe_aborted(const Core& core, const Parts& parts, std::int32_t slot,
                             Outcome outcome, std::int32_t in_flight) {
  RequestDone done = describe(core, parts, slot, outcome);
  done.now = core.now;
  if (done.replica >= 0)
    done.output_tokens =
        emitted_tokens(core.at(done.replica).view(), core.requests[slot]) - in_flight;
  if (done.first_token != never && done.first_token > core.now) done.first_token = never;
  const bool whole = done.first_token != never || done.computed != never;
  const std::int32_t context =
      whole ? done.prompt_tokens : std::min(core.requests[slot].context_tokens, done.prompt_tokens);
  done.computed_tokens = std::max(0, context - done.cached_tokens);
  done.last_token = never;
  return done;
}

std::vector<RequestDone> unfinished(const Core& core, const Parts& parts) {
  std::vector<RequestDone> out;
  for (const std::int32_t slot : core.live_slots()) {
    const Request& request = core.requests[slot];
    RequestDone each = describe(core, parts, slot, Outcome::unfinished);
    each.last_token = never;
    if (request.replica >= 0)
      each.output_tokens = std::min(emitted_tokens(core.at(request.replica).view(), request),
                                    core.progress(slot).stop_at);
    out.push_back(each);
  }
  return out;
}

}  // namespace rooflua
