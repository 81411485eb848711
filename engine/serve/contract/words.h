#pragma once
// The vocabularies of serving: where a request stands, how it ended, and why the plan refuses an
// operation. Each value is declared once, in the order of its enum (base/vocabulary.h).

#include <cstdint>

#include "base/vocabulary.h"

namespace rooflua {

enum class Phase : std::int32_t {
  absent,
  pending,
  waiting,
  prefilling,  // this one and those after it have a seat
  decoding,
  finishing,
  in_flight,
};

struct PhaseWord {
  Phase value;
  std::string_view name;  // as policies and documents read it
  std::string_view help;
  std::string_view state;  // as messages say it of a request
};
inline constexpr PhaseWord phase_words[] = {
    {Phase::absent, "absent", "the slot is free", "gone"},
    {Phase::pending, "pending",
     "on its way: in the frontend, in a KV transfer (it holds blocks on both sides), or about to "
     "fail",
     "not at a replica"},
    {Phase::waiting, "waiting",
     "queued at its replica, without a seat; it holds blocks only if its KV was sent there",
     "waiting"},
    {Phase::prefilling, "prefill", "seated; part of its sequence has no KV yet", "prefilling"},
    {Phase::decoding, "decode", "seated; one token per step, and drafts where it is speculated for",
     "decoding"},
    {Phase::finishing, "finishing",
     "its last token is in flight; it keeps seat and blocks until the token lands", "finishing"},
    {Phase::in_flight, "in_flight",
     "seated; its token is on its way through the stages of a pipeline, and it decodes again when "
     "that lands",
     "waiting for a token that is in flight"},
};
static_assert(in_order(phase_words));
constexpr const PhaseWord& words_of(Phase phase) {
  return phase_words[static_cast<std::size_t>(phase)];
}
constexpr std::string_view name(Phase phase) {
  return words_of(phase).name;
}

enum class Outcome : std::int32_t {
  completed,
  exceeds_kv_cache,
  exceeds_max_model_len,
  starved,
  rejected,
  unfinished,
  refused,
  never_admitted,
  expired,  // this one and those after it end a request wherever it is: Simulation::abort()
  timed_out,
  cancelled,
  replica_lost,
};
inline constexpr Word<Outcome> outcome_words[] = {
    {Outcome::completed, "completed", "all its tokens were generated"},
    {Outcome::exceeds_kv_cache, "exceeds_kv_cache",
     "its sequence needs more blocks than the replica has"},
    {Outcome::exceeds_max_model_len, "exceeds_max_model_len",
     "its prompt leaves no room for a token"},
    {Outcome::starved, "starved",
     "the scheduler never plans it; or its replica preempted 100,000 times without landing a "
     "token, "
     "and the request took part"},
    {Outcome::rejected, "rejected", "the scheduler rejected it"},
    {Outcome::unfinished, "unfinished",
     "the run was stopped first (only Simulation::unfinished() says so)"},
    {Outcome::refused, "refused", "the gate or the router refused it, or no replica could come"},
    {Outcome::never_admitted, "never_admitted", "the gate held it, and never let it go"},
    {Outcome::expired, "expired", "its deadline passed first"},
    {Outcome::timed_out, "timed_out", "its client would wait no longer"},
    {Outcome::cancelled, "cancelled", "its client cancelled it"},
    {Outcome::replica_lost, "replica_lost", "its replica was lost"},
};
static_assert(in_order(outcome_words));
inline constexpr int outcome_count = std::size(outcome_words);
constexpr std::string_view name(Outcome outcome) {
  return outcome_words[static_cast<std::size_t>(outcome)].name;
}

/// What a replica does in the life of a fleet. Numbers are those of ReplicaChanged.
enum class Lifecycle : std::int32_t { ready, starting, draining, failed, absent };
inline constexpr Word<Lifecycle> lifecycle_words[] = {
    {Lifecycle::ready, "ready", "takes requests"},
    {Lifecycle::starting, "starting", "its machine, its weights or its engine are not there yet"},
    {Lifecycle::draining, "draining", "takes no new requests and will be gone"},
    {Lifecycle::failed, "failed", "has lost everything and waits for repair"},
    {Lifecycle::absent, "absent", "costs nothing"},
};
static_assert(in_order(lifecycle_words));
constexpr std::string_view name(Lifecycle state) {
  return lifecycle_words[static_cast<std::size_t>(state)].name;
}

/// Whether a request was ended on purpose, wherever it was.
constexpr bool ends_early(Outcome outcome) {
  return outcome >= Outcome::expired;
}

/// Why an operation of a plan made no sense. The help of each is the end of the error's message.
enum class Refusal : std::int32_t {
  none,
  no_such_request,
  not_waiting,
  not_prefilling,
  not_decoding,
  not_seated,
  planned_already,
  decoded_already,
  preempted_now,
  admitted_now,
  no_tokens,
  too_many_tokens,
  over_budget,
  victim_expected,
  no_victim,
  bad_limit,
  bad_wake,
};
inline constexpr Word<Refusal> refusal_words[] = {
    {Refusal::none, "none", "nothing was refused"},
    {Refusal::no_such_request, "no_such_request", "there is no such request at this replica"},
    {Refusal::not_waiting, "not_waiting", "only a waiting request can be admitted or rejected"},
    {Refusal::not_prefilling, "not_prefilling",
     "only a prefilling request has a prompt left to compute"},
    {Refusal::not_decoding, "not_decoding", "only a decoding request can decode"},
    {Refusal::not_seated, "not_seated", "only a running request can be preempted"},
    {Refusal::planned_already, "planned_already", "it is scheduled in this step already"},
    {Refusal::decoded_already, "decoded_already", "decode_all was called in this step already"},
    {Refusal::preempted_now, "preempted_now", "it was preempted in this very step"},
    {Refusal::admitted_now, "admitted_now", "it was admitted in this very step"},
    {Refusal::no_tokens, "no_tokens", "at least one token must be scheduled"},
    {Refusal::too_many_tokens, "too_many_tokens", "more tokens than the request has pending"},
    {Refusal::over_budget, "over_budget", "the step would exceed max_num_batched_tokens"},
    {Refusal::victim_expected, "victim_expected", "decode_all waits for a victim"},
    {Refusal::no_victim, "no_victim", "no victim was asked for"},
    {Refusal::bad_limit, "bad_limit", "a limit is 0 or more"},
    {Refusal::bad_wake, "bad_wake", "a wake time is finite and later than now"},
};
static_assert(in_order(refusal_words));
constexpr const Word<Refusal>& words_of(Refusal refusal) {
  return refusal_words[static_cast<std::size_t>(refusal)];
}

}  // namespace rooflua
