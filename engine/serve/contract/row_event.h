#pragma once
// What a request of a play (serve/plays/play.h) may wait for of another one.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "base/vocabulary.h"

namespace rooflua {

enum class RowEvent : std::int32_t { sent, first_token, done, failed, ended };
inline constexpr Word<RowEvent> row_event_words[] = {
    {RowEvent::sent, "sent", "the client sent the request"},
    {RowEvent::first_token, "first_token", "the client sees its first token"},
    {RowEvent::done, "done", "the client sees its last token"},
    {RowEvent::failed, "failed", "it ended in any other way; cancelled ones are among these"},
    {RowEvent::ended, "ended", "it ended, however"},
};
static_assert(in_order(row_event_words));
inline constexpr int row_event_count = std::size(row_event_words);
constexpr std::string_view name(RowEvent event) {
  return row_event_words[static_cast<std::size_t>(event)].name;
}

}  // namespace rooflua
