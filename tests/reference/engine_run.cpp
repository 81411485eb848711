#include "tests/reference/engine_run.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "tests/serve/kv/walked_bounds.h"

namespace rooflua::reference {

double TariffSteps::time_s(const Batch& batch) const {
  Ps ps = tariff_.step + tariff_.token * batch.tokens + tariff_.request * batch.requests +
          tariff_.sampled * batch.sampled +
          tariff_.decode_context * static_cast<Ps>(batch.decode_context_tokens);
  for (std::int32_t i = 0; i < batch.prefill_count; ++i) {
    const PrefillWork& work = batch.prefills[i];
    ps += tariff_.prefill_pair * work.new_tokens * (2 * work.context_tokens + work.new_tokens);
  }
  for (std::size_t i = 0; i < tariff_.caps.size(); ++i)
    ps += tariff_.bounded[i] * static_cast<Ps>(batch.bounded_tokens[i]);
  ps += tariff_.chunked * static_cast<Ps>(batch.chunk_tokens);
  ps += tariff_.group_token * batch.group_tokens +
        tariff_.group_max_token * batch.group_max_tokens +
        tariff_.group_prefill * batch.group_prefills;
  ps += adapter_ * batch.adapters + adapter_token_ * batch.adapter_tokens +
        std::llround(batch.adapter_load_s * 1e12) + std::llround(batch.expert_stall_s * 1e12);
  if (batch.expert_load > 0)
    ps += expert_token_ * batch.tokens * std::llround(8 * (batch.expert_load - 1));
  return seconds(ps);
}

void TariffSteps::price(const Batch& batch, StepPrice& price) {
  const std::string wrong = test::wrong_bounds(batch, {tariff_.caps.data(), tariff_.chunk});
  if (!wrong.empty()) throw std::logic_error(wrong);
  price.time_s = time_s(batch);
}

/// Every fifth run is refused, and every third one is shorter than asked.
std::int32_t TariffSteps::price_run(const Batch& first, const BatchGrowth& growth,
                                    std::span<StepPrice> prices) {
  if (first.prefill_count > 0 || first.decodes == 0 || first.adapter_loads > 0)
    throw std::logic_error("a run is more than decodes");
  if (++runs_ % 5 == 0) return 0;
  Batch batch = first;
  const std::size_t count = runs_ % 3 == 0 ? (prices.size() + 1) / 2 : prices.size();
  for (StepPrice& price : prices.first(count)) {
    price.time_s = time_s(batch);
    batch.decode_context_tokens += growth.decode_context_tokens;
    for (int i = 0; i < 4; ++i) batch.bounded_tokens[i] += growth.bounded_tokens[i];
    batch.chunk_tokens += growth.chunk_tokens;
  }
  return static_cast<std::int32_t>(count);
}

void Scribe::on_step(const StepDone& step) {
  StepLog log{step.planned, step.start, step.end, {}, step.replica};
  for (const PrefillWork& work : step.prefills)
    log.rows.push_back({work.id, work.context_tokens, work.new_tokens, true, work.completes == 1});
  if (step.batch->decodes > 0)
    log.rows.push_back({-1, static_cast<int>(step.batch->decode_context_tokens),
                        step.batch->decode_tokens, false, true});
  history.steps.push_back(std::move(log));
  history.discarded += step.discarded;
}

void Scribe::on_transfer(const TransferSeen& transfer) {
  if (transfer.store >= 0) return;
  Ps& pulled = history.requests[static_cast<std::size_t>(transfer.id)].pulled;
  pulled = std::max(pulled, transfer.start);  // over links they are told when they end
}

void Scribe::on_done(const RequestDone& done) {
  if (static_cast<std::size_t>(done.id) >= history.requests.size())
    throw std::logic_error("more requests are sent than are expected");
  Served& served = history.requests[static_cast<std::size_t>(done.id)];
  served.arrival = done.arrival;
  if (done.scheduled != never) served.scheduled = done.scheduled;
  if (done.first_token != never) served.first = done.first_token;
  if (done.last_token != never) served.last = done.last_token;
  served.tokens = done.output_tokens;
  served.preemptions = done.preemptions;
  served.cached = done.cached_tokens;
  served.replica = done.replica;
  served.held = done.held;
  served.drafted = done.drafted_tokens;
  served.accepted = done.accepted_tokens;
  served.prefill_replica = done.prefill_replica;
  if (ends_early(done.outcome)) {
    if (served.aborted != unset) throw std::logic_error("a request is told done twice");
    served.aborted = done.now;
    history.preemptions += done.preemptions;
    return;
  }
  history.preemptions += done.preemptions;
  if (done.outcome != Outcome::completed) history.finished = false;
}

ReplicaConfig replica_config(const VllmConfig& c, const Tariff& tariff, bool real_blocks) {
  ReplicaConfig replica;
  replica.kv_blocks = c.blocks;
  replica.seat_blocks = c.seat_blocks;
  replica.block_size = c.block_size;
  replica.max_num_seqs = c.max_num_seqs;
  replica.max_num_batched_tokens = c.max_num_batched_tokens;
  if (c.max_model_len != VllmConfig{}.max_model_len) replica.max_model_len = c.max_model_len;
  replica.async_depth = c.async_depth;
  replica.prefix_caching = c.prefix_caching;
  replica.content_from = static_cast<ContentFrom>(c.content_from);
  replica.partial_reuse = c.partial_reuse;
  replica.real_blocks = real_blocks;
  replica.ragged = c.ragged;
  replica.lookahead = c.lookahead;
  replica.drops_last_hit = c.drops_last_hit;
  replica.keeps_states = c.state_blocks > 0;
  replica.state_blocks = c.state_blocks;
  replica.seed = c.acceptance_seed;
  replica.context_caps = tariff.caps;
  replica.context_chunk = tariff.chunk;
  if (c.stages.several()) replica.stages.shares = c.stages.shares;
  for (std::size_t i = 0; i + 1 < c.stages.shares.size(); ++i)
    replica.stages.links.push_back({seconds(c.stages.latency[i]), seconds(c.stages.per_token[i])});
  if (c.stages.several()) replica.stages.pp_batches = c.stages.batches;
  return replica;
}

RequestSpec spec_of(const Prompt& prompt, std::vector<Segment>& segments) {
  for (const auto& [content, count] : prompt.segments)
    segments.push_back({content, count, content >= first_item ? count : 0});
  RequestSpec spec;
  spec.arrival_s = seconds(prompt.plain.arrival);
  spec.prompt_tokens = prompt.plain.prompt;
  spec.output_tokens = prompt.plain.output;
  spec.max_output_tokens = prompt.plain.max_new;
  spec.predicted_output_tokens = prompt.plain.predicted;
  spec.priority = prompt.plain.priority;
  spec.segments = segments;
  spec.output_content = prompt.output_content;
  spec.adapter = prompt.plain.adapter;
  return spec;
}

std::vector<RequestSpec> specs_of(const ServingCase& question,
                                  std::vector<std::vector<Segment>>& segments) {
  segments.resize(question.prompts.size());
  std::vector<RequestSpec> specs;
  for (std::size_t id = 0; id < question.prompts.size(); ++id)
    specs.push_back(spec_of(question.prompts[id], segments[id]));
  return specs;
}

EngineRun::EngineRun(const ServingCase& question, SchedulerPolicy& scheduler,
                     std::vector<Observer*> listeners, const AdapterCase* adapters,
                     const ItemCase* items)
    : steps_(question.tariff),
      speculator_(question.config),
      acceptance_(question.config),
      scribe_(question.prompts.size()) {
  std::vector<RequestSpec> specs = specs_of(question, segments_);
  workload_ = std::make_unique<ListedWorkload>(std::move(specs));
  listeners.push_back(&scribe_);
  ClusterConfig config;
  config.replicas = {replica_config(question.config, question.tariff, question.seed % 3 == 0)};
  if (adapters != nullptr) {
    steps_.price_adapters(adapters->each, adapters->token);
    config.adapters.count = adapters->count;
    config.adapters.weights.assign(static_cast<std::size_t>(adapters->count) + 1, 1.0);
    AdapterSlotsConfig& slots = config.replicas.front().adapters;
    slots.slots = adapters->slots;
    slots.cpu_slots = adapters->cpu_slots;
    for (const Ps each : adapters->slot) slots.slot_s.push_back(seconds(each));
    for (const Ps each : adapters->fetch) slots.fetch_s.push_back(seconds(each));
  }
  Bindings bindings{{&scheduler}, {&steps_}, nullptr, workload_.get(), std::move(listeners)};
  if (items != nullptr) {
    encoder_.emplace(*items);
    bindings.encoder = &*encoder_;
  }
  if (question.config.speculates()) {
    bindings.speculators = {&speculator_};
    bindings.acceptances = {&acceptance_};
  }
  simulation_ = std::make_unique<Simulation>(config, bindings);
}

History run_engine(const ServingCase& question, SchedulerPolicy& scheduler) {
  EngineRun run(question, scheduler);
  run.simulation().run();
  return run.history();
}

}  // namespace rooflua::reference
