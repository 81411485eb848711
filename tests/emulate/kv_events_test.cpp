// What an emulated server tells of KV caches: names of blocks, the form of messages by release, and
// that a reader of all of them knows what is cached.

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "emulate/kv/batch.h"
#include "emulate/kv/feed.h"
#include "emulate/prompt.h"
#include "serve/inbox/inbox.h"
#include "tests/serve/random_cluster.h"

using namespace rooflua;
using namespace rooflua::emulate;
using namespace rooflua::test;

namespace {

KvForm newest_form() {
  KvForm out;
  out.events_are_maps = true;
  out.stored = {KvField::block_hashes,      KvField::parent_block_hash, KvField::token_ids,
                KvField::block_size,        KvField::lora_id,           KvField::medium,
                KvField::lora_name,         KvField::extra_keys,        KvField::group_idx,
                KvField::kv_cache_spec_kind};
  out.removed = {KvField::block_hashes, KvField::medium, KvField::group_idx};
  out.kind = "full_attention";
  return out;
}

/// Reads all messages: names of the blocks that each replica has.
class Subscriber {
 public:
  std::map<std::int32_t, std::set<std::uint64_t>> blocks;
  int stored = 0, removed = 0, cleared = 0;

  void read(std::int32_t replica, const std::string& bytes) {
    const auto batch = nlohmann::json::from_msgpack(bytes);
    CHECK(batch.at(2) == replica);
    for (const auto& event : batch.at(1)) apply(event, blocks[replica]);
  }

 private:
  void apply(const nlohmann::json& event, std::set<std::uint64_t>& own) {
    if (event.at("type") == "AllBlocksCleared") {
      ++cleared;
      return own.clear();
    }
    const auto names = event.at("block_hashes").get<std::vector<std::uint64_t>>();
    if (event.at("type") == "BlockStored") {
      CHECK(event.at("token_ids").size() ==
            names.size() * event.at("block_size").get<std::size_t>());
      CHECK(event.at("extra_keys").size() == names.size());
      const auto& front = event.at("parent_block_hash");
      if (!front.is_null()) CHECK(own.count(front.get<std::uint64_t>()) == 1);
      for (const std::uint64_t name : names) stored += own.insert(name).second;
    } else {
      CHECK(event.at("type") == "BlockRemoved");
      for (const std::uint64_t name : names) CHECK(own.erase(name) == 1);
      removed += static_cast<int>(names.size());
    }
  }
};

struct Sent {
  std::vector<std::int64_t> tokens;
  std::vector<Segment> segments;
};

/// Names of the blocks of these prompts that the replica's cache has, by looking into it.
std::set<std::uint64_t> cached_names(const Simulation& simulation, std::int32_t replica,
                                     const std::vector<Sent>& prompts, const BlockNames& names) {
  const auto& state = simulation.replica(replica);
  const std::int32_t size = state.config().block_size;
  std::set<std::uint64_t> out;
  for (const Sent& each : prompts) {
    Request request;
    Progress progress;
    progress.segments = each.segments;
    progress.segments.push_back({0, size});  // so that the last whole block can be hit, too
    request.prompt_tokens = static_cast<std::int32_t>(each.tokens.size()) + size;
    const std::int32_t hit = state.kv().peek(request, progress).blocks;
    Digest front = names.none();
    for (std::int32_t i = 0; i < hit; ++i) {
      const auto from = static_cast<std::size_t>(i * size);
      front =
          names.next(front, std::span(each.tokens).subspan(from, static_cast<std::size_t>(size)));
      out.insert(low_64(front));
    }
  }
  return out;
}

Sent random_sent(Dice& dice, const PromptRules& rules, Prompt& prompt) {
  Sent out;
  const std::int32_t tokens = dice.upto(1, 60), same = dice.upto(0, tokens);
  const std::int64_t family = dice.upto(0, 2);
  for (std::int32_t i = 0; i < tokens; ++i)
    out.tokens.push_back(i < same ? 1000 * family + i : 100'000 + dice.upto(0, 1 << 20));
  prompt = count_tokens(out.tokens, rules);
  out.segments = segments_of(prompt, rules);
  return out;
}

struct Counts {
  int compared = 0, stored = 0, removed = 0, cleared = 0;
};

/// Clients send and leave at times of their own; after each look the subscriber knows the caches.
void serve_told(std::uint64_t seed, Counts& counts) {
  Scenario scenario(seed);
  Dice dice(seed + 5);
  KvRules rules;
  rules.form = newest_form();
  rules.seed = "42";
  rules.block_tokens = dice.upto(1, 8);
  rules.replicas_are_engines = false;
  for (ReplicaConfig& each : scenario.cluster().replicas) {
    each.block_size = rules.block_tokens;
    each.kv_blocks = 100 / rules.block_tokens + each.seat_blocks + dice.upto(1, 40);
    each.prefix_caching = true;
    each.drops_last_hit = each.partial_reuse = false;
    each.content_from = ContentFrom::plan;  // others: docs/EMULATE.md, known defects
  }
  PromptRules cut;
  cut.block_tokens = rules.block_tokens;
  Inbox inbox(nullptr);
  scenario.more = [&](Scenario::Run&, Bindings& out) { out.workload = &inbox; };
  auto run = scenario.open();
  run->router.queue = CommonQueue::none;
  Simulation& simulation = *run->simulation;
  Subscriber subscriber;
  KvFeed feed(simulation, rules, [&](std::int32_t replica, const std::string& bytes) {
    subscriber.read(replica, bytes);
  });
  class Ends : public Observer {
   public:
    explicit Ends(KvFeed& feed) : feed_(feed) {}
    bool reads_prices() const override { return false; }
    void on_done(const RequestDone& done) override { feed_.ended(done.id); }

   private:
    KvFeed& feed_;
  } ends(feed);
  simulation.add_observer(ends);
  const BlockNames names(rules.seed, false);
  std::vector<Sent> prompts;
  const auto compare = [&] {
    feed.flush(0);
    for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
      REQUIRE(subscriber.blocks[i] == cached_names(simulation, i, prompts, names));
      counts.compared += static_cast<int>(subscriber.blocks[i].size());
    }
  };
  std::int64_t now_us = 0, last_us = 0;
  const auto next_us = [&] { return last_us = std::max(now_us, last_us) + 1; };
  const int wanted = dice.upto(1, 40);
  for (int sent = 0; sent < wanted;) {
    now_us += dice.upto(0, 1) * dice.upto(0, 400'000);
    simulation.run_until(static_cast<double>(now_us) / 1e6);
    compare();
    if (dice.upto(0, 3) > 0) {
      RequestSpec spec;
      Prompt prompt;
      Sent made = random_sent(dice, cut, prompt);
      spec.arrival_s = static_cast<double>(next_us()) / 1e6;
      spec.prompt_tokens = static_cast<std::int32_t>(prompt.tokens);
      spec.output_tokens = dice.upto(1, 30);
      const std::int32_t id = inbox.send(spec, made.segments);
      feed.sent(id, made.tokens, made.segments);
      prompts.push_back(std::move(made));
      ++sent;
    } else if (sent > 0) {
      inbox.leave(dice.upto(0, sent - 1),
                  picoseconds(static_cast<double>(next_us()) / 1e6, "leaves"));
    }
    simulation.look_at_workload();
  }
  inbox.close();
  simulation.look_at_workload();
  simulation.run();
  compare();
  std::set<std::uint64_t> all;
  for (const auto& [replica, own] : subscriber.blocks) all.insert(own.begin(), own.end());
  CHECK(feed.known() == all.size());  // what is gone is forgotten
  counts.stored += subscriber.stored;
  counts.removed += subscriber.removed;
}

}  // namespace

TEST_CASE("blocks have the names that vLLM computes from a seed") {
  // Computed by Python's hashlib from CBOR that was put together by hand, PYTHONHASHSEED 42.
  std::vector<std::int64_t> tokens{0,      1,      23,         24,         255, 256, 65535, 65536,
                                   128000, 151643, 4294967295, 4294967296, 7,   8,   9,     10};
  for (std::int64_t i = 1000; i < 1016; ++i) tokens.push_back(i);
  const std::span all(tokens);
  const BlockNames whole("42", false), cut("42", true);
  CHECK(low_64(whole.none()) == 12056132650316601216u);
  CHECK(whole.none()[0] == 0x9f);
  const Digest first = whole.next(whole.none(), all.first(16));
  CHECK(low_64(first) == 13845965463267661848u);
  CHECK(low_64(whole.next(first, all.last(16))) == 5248866135982558246u);
  const Digest other = cut.next(cut.none(), all.first(16));
  CHECK(low_64(other) == 4626804051257639383u);
  CHECK(low_64(cut.next(other, all.last(16))) == 16286899170946512660u);
}

TEST_CASE("messages have the form of their release") {
  using nlohmann::json;
  const auto read = [](const KvBatch& batch) { return json::from_msgpack(batch.bytes(1.25, 3)); };
  const KvForm form = newest_form();
  KvBatch batch(form, 2);
  batch.stored({{5, 18446744073709551615u}, {}, {1, 2, 3, 4}});
  batch.removed(5);
  batch.cleared();
  CHECK(read(batch) ==
        json::parse(R"([1.25, [{"type": "BlockStored", "block_hashes": [5, 18446744073709551615],
          "parent_block_hash": null, "token_ids": [1, 2, 3, 4], "block_size": 2, "lora_id": null,
          "medium": "GPU", "lora_name": null, "extra_keys": [null, null], "group_idx": 0,
          "kv_cache_spec_kind": "full_attention"},
          {"type": "BlockRemoved", "block_hashes": [5], "medium": "GPU", "group_idx": 0},
          {"type": "AllBlocksCleared"}], 3])"));
  Json given = Json::object();
  given["hash"] = "sha256_cbor_64bit";
  given["events"] = "array";
  given["stored"] =
      Json(Json::Array{"block_hashes", "parent_block_hash", "token_ids", "block_size", "lora_id"});
  given["removed"] = Json(Json::Array{"block_hashes"});
  const KvForm oldest = kv_form(given);
  CHECK(oldest.chains_64_bits);
  KvBatch listed(oldest, 2);
  listed.stored({{5}, 9, {1, 2}});
  listed.removed(5);
  listed.cleared();
  CHECK(read(listed) == json::parse(R"([1.25, [["BlockStored", [5], 9, [1, 2], 2, null],
      ["BlockRemoved", [5]], ["AllBlocksCleared"]], 3])"));
  given["events"] = "tuple";
  CHECK_THROWS_AS(kv_form(given), Error);
}

TEST_CASE("a reader of all messages knows what is cached, at every moment") {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    serve_told(seed, counts);
  }
  CHECK(counts.compared > 10'000);
  CHECK(counts.stored > 3'000);
  CHECK(counts.removed > 1'000);
}
