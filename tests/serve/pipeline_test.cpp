#include "serve/contract/pipeline.h"

#include "tests/catch.h"
#include "tests/serve/board.h"

using namespace rooflua;
using namespace rooflua::test;
using Times = std::vector<Picoseconds>;

namespace {

/// A step of all `decodes`, planned when the decode index was `index`.
Step& append_common(Pipeline& pipeline, std::int64_t index, std::int32_t decodes) {
  Step& step = pipeline.append();
  step.decode_index = index;
  step.batch.decodes = decodes;
  return step;
}

/// The front step runs from `start` to `end`; the common gap, and the other gaps.
Pipeline::CommonGap run(Pipeline& pipeline, Requests& requests, Picoseconds start, Picoseconds end,
                        Times& gaps) {
  pipeline.start(start, end);
  gaps.clear();
  const Pipeline::CommonGap common = pipeline.stamp_decodes(requests, end, gaps);
  pipeline.stamp_prefills(requests, end, gaps);
  pipeline.retire();
  return common;
}

}  // namespace

TEST_CASE("steps leave in the order in which they were planned, and no more than the depth wait") {
  for (const std::int32_t depth : {1, 2}) {
    Pipeline pipeline(depth);
    std::int64_t planned = 0, retired = 0;
    for (int round = 0; round < 5; ++round) {
      while (!pipeline.full()) pipeline.append().serial = planned++;
      CHECK(pipeline.planned() == depth);
      CHECK_FALSE(pipeline.executing());
      pipeline.start(round * 10, round * 10 + 5);
      CHECK(pipeline.executing());
      CHECK(pipeline.front().end == round * 10 + 5);
      CHECK(pipeline.retire().serial == retired++);
      CHECK(pipeline.planned() == depth - 1);
    }
  }
}

TEST_CASE("a reused step keeps nothing of the step that was there before") {
  Pipeline pipeline(1);
  Step& step = pipeline.append();
  step.own_gaps = step.stamps = step.ending = step.skipped = step.fills = {1, 2};
  step.prefills.resize(3);
  step.decode_index = 7;
  step.discarded = 1;
  pipeline.start(0, 1);
  pipeline.retire();
  const Step& next = pipeline.append();
  CHECK(next.own_gaps.empty());
  CHECK(next.stamps.empty());
  CHECK(next.ending.empty());
  CHECK(next.skipped.empty());
  CHECK(next.fills.empty());
  CHECK(next.prefills.empty());
  CHECK(next.decode_index == -1);
  CHECK(next.discarded == 0);
}

TEST_CASE("requests at the common pace share one gap; a newcomer's gap is its own") {
  TestBoard at;
  const std::int32_t old = at.add(1), fresh = at.add(1);
  Pipeline pipeline(1);
  Times gaps;
  append_common(pipeline, 0, 1);
  run(pipeline, at.requests, 0, 100, gaps);
  at.requests.progress(fresh).last_token = 130;
  append_common(pipeline, 1, 2).own_gaps = {fresh};
  const Pipeline::CommonGap common = run(pipeline, at.requests, 150, 180, gaps);
  CHECK(common.gap == 80);
  CHECK(common.count == 1);
  CHECK(gaps == Times{50});

  // Both left the common pace after that step: both got their last token when it landed.
  pipeline.leave_common_pace(old, at.requests.progress(old));
  pipeline.leave_common_pace(fresh, at.requests.progress(fresh));
  CHECK(at.requests.progress(old).last_token == 180);
  CHECK(at.requests.progress(fresh).last_token == 180);
}

TEST_CASE(
    "a request that leaves the common pace with a token in flight gets its time when it lands") {
  TestBoard at;
  const std::int32_t slot = at.add(1);
  Progress& progress = at.requests.progress(slot);
  Pipeline pipeline(2);
  Times gaps;
  append_common(pipeline, 0, 1);
  append_common(pipeline, 1, 1);
  progress.token_from = 1;  // it joined after the first of them was planned
  CHECK(pipeline.last_step_lands(slot, progress));
  pipeline.leave_common_pace(slot, progress);
  run(pipeline, at.requests, 0, 10, gaps);
  CHECK(progress.last_token == never);
  run(pipeline, at.requests, 10, 25, gaps);
  CHECK(progress.last_token == 25);
}

TEST_CASE("first tokens are stamped, and tokens of resumed requests have a gap") {
  TestBoard at;
  const std::int32_t first = at.add(4), resumed = at.add(4), partial = at.add(4);
  at.requests.progress(resumed).first_token = 5;
  at.requests.progress(resumed).last_token = 7;
  Pipeline pipeline(1);
  Times gaps;
  pipeline.append().prefills = {{4, 0, 1, first, 0}, {4, 0, 1, resumed, 1}, {2, 0, 0, partial, 2}};
  CHECK(pipeline.last_step_lands(first, at.requests.progress(first)));
  CHECK_FALSE(pipeline.last_step_lands(partial, at.requests.progress(partial)));
  const Pipeline::CommonGap common = run(pipeline, at.requests, 10, 20, gaps);
  CHECK(common.count == 0);
  CHECK(at.requests.progress(first).first_token == 20);
  CHECK(at.requests.progress(resumed).first_token == 5);
  CHECK(at.requests.progress(partial).first_token == never);
  CHECK(gaps == Times{13});
}

TEST_CASE("a row after an end token is counted in its step and lands nothing") {
  TestBoard at;
  const std::int32_t ended = at.add(1);
  Pipeline pipeline(2);
  Times gaps;
  append_common(pipeline, 0, 3);
  Step& behind = append_common(pipeline, 1, 3);
  behind.own_gaps = behind.stamps = {ended};
  pipeline.start(0, 10);
  pipeline.stamp_decodes(at.requests, 10, gaps);
  pipeline.discard_behind(ended);
  pipeline.retire();
  CHECK(pipeline.front().discarded == 1);
  const Pipeline::CommonGap common = run(pipeline, at.requests, 10, 20, gaps);
  CHECK(common.count == 2);
  CHECK(gaps.empty());
  CHECK(at.requests.progress(ended).last_token == never);
}
