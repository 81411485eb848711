#include "serve/contract/observer.h"

namespace rooflua {

void Observer::on_steps(const StepsDone& done) {
  StepDone step = done.first;
  Batch batch = *step.batch;
  StepPrice price;
  step.batch = &batch;
  step.price = &price;
  for (const RepeatedStep& each : done.steps) {
    if (&each != &done.steps.front()) {
      step.common_gap = each.end - step.end;
      ++step.serial;
      batch.decode_context_tokens += batch.decodes;
      batch.decode_pairs = batch.decode_context_tokens + batch.decodes;
    }
    price = *each.price;
    price.own_s = price.time_s;
    step.planned = each.planned;
    step.start = each.start;
    step.end = each.end;
    step.used_blocks = each.used_blocks;
    step.left_blocks = each.left_blocks;
    on_step(step);
  }
}

}  // namespace rooflua
