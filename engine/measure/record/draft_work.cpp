#include "measure/record/draft_work.h"

namespace rooflua {

DraftWork DraftWork::of(const Batch& batch) {
  DraftWork work{{}, batch.draft_rows, batch.draft_tokens, batch.draft_passes};
  if (batch.decode_tokens <= batch.decodes) return work;
  if (const std::int32_t* widths = decode_widths(batch))
    work.widths.assign(widths, widths + batch.decodes);
  return work;
}

}  // namespace rooflua
