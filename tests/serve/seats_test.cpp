#include "serve/replica/seats.h"

#include "tests/catch.h"
#include "tests/serve/board.h"

using namespace rooflua;
using namespace rooflua::test;
using Ids = std::vector<std::int32_t>;

namespace {

Ids running(const TestBoard& at) {
  return at.ids(at.board.view.running_head, at.board.view.running_tail);
}

Ids prefilling(const TestBoard& at) {
  Ids out;
  for (std::int32_t slot = at.board.view.prefilling_head; slot >= 0;
       slot = at.requests[slot].next_prefilling)
    out.push_back(at.requests[slot].id);
  return out;
}

}  // namespace

TEST_CASE("seats are listed in the order of admission, prefilling requests among them too") {
  TestBoard at;
  Seats seats(at.board);
  const std::int32_t a = at.add(10), b = at.add(10), c = at.add(10), d = at.add(10);
  for (const std::int32_t slot : {a, b, c, d}) seats.take(slot);
  CHECK(running(at) == Ids{0, 1, 2, 3});
  CHECK(prefilling(at) == Ids{0, 1, 2, 3});
  CHECK(at.requests.progress(a).seat < at.requests.progress(d).seat);

  seats.end_prefill(b);
  at.requests[b].phase = Phase::decoding;
  seats.finish(c);  // its limit is one token: it never decodes
  CHECK(running(at) == Ids{0, 1, 2, 3});
  CHECK(prefilling(at) == Ids{0, 3});
  CHECK(at.board.view.prefilling == 2);
  CHECK(at.board.view.finishing == 1);
  CHECK(at.requests[c].phase == Phase::finishing);

  seats.leave(a);  // preempted while it prefills
  seats.leave(c);
  CHECK(running(at) == Ids{1, 3});
  CHECK(prefilling(at) == Ids{3});
  CHECK(at.board.view.seats == 2);
  CHECK(at.board.view.finishing == 0);

  seats.take(a);  // it comes back to the last seat
  CHECK(running(at) == Ids{1, 3, 0});
  CHECK(at.requests.progress(a).seat > at.requests.progress(d).seat);
}

TEST_CASE("there is a free seat until max_num_seqs are taken, and always without a limit") {
  TestBoard at;
  Seats seats(at.board);
  at.board.view.max_num_seqs = 2;
  seats.take(at.add(1));
  CHECK(seats.any_free());
  const std::int32_t last = at.add(1);
  seats.take(last);
  CHECK_FALSE(seats.any_free());
  seats.leave(last);
  CHECK(seats.any_free());
  at.board.view.max_num_seqs = 0;
  seats.take(last);
  CHECK(seats.any_free());
}

TEST_CASE("missing blocks are those that prefilling sequences need and do not hold") {
  TestBoard at(4);
  Seats seats(at.board);
  const std::int32_t a = at.add(10), b = at.add(9), c = at.add(40);
  for (const std::int32_t slot : {a, b, c}) seats.take(slot);
  at.requests.progress(a).held_blocks = 1;  // 10 tokens need 3
  at.requests.progress(b).held_blocks = 5;  // more than it needs
  at.requests[c].emitted_tokens = 1;        // it was preempted: 41 tokens need 11
  CHECK(seats.missing_blocks() == 2 + 0 + 11);
  seats.end_prefill(c);
  at.requests[c].phase = Phase::decoding;
  CHECK(seats.missing_blocks() == 2);
}
