// What a summary hands on to the counters of parts, and the end of a warm-up.

#include "measure/record/summary.h"

namespace rooflua {

template <class Told>
void SummaryObserver::forward(PartEvent event, void (PartCounter::*tell)(const Told&),
                              const Told& told) {
  told_.reset();
  for (PartCounter* each : counters_.of(event)) (each->*tell)(told);
}

void SummaryObserver::on_row(const RowSent& row) {
  forward(PartEvent::row, &PartCounter::on_row, row);
  if (row.warm) {
    warm_.insert(row.id);
    if (arrived_ == 0) warming_ = true;
    return;
  }
  if (warming_) forget_steps();
  warming_ = false;
}

void SummaryObserver::on_play(const PlayDone& play) {
  forward(PartEvent::play, &PartCounter::on_play, play);
}

void SummaryObserver::on_transfer(const TransferSeen& transfer) {
  forward(PartEvent::transfer, &PartCounter::on_transfer, transfer);
}

void SummaryObserver::on_failed_transfer(const TransferSeen& transfer) {
  forward(PartEvent::failed_transfer, &PartCounter::on_failed_transfer, transfer);
}

void SummaryObserver::on_replica(const ReplicaChanged& change) {
  forward(PartEvent::replica, &PartCounter::on_replica, change);
}

void SummaryObserver::on_link(const LinkChanged& change) {
  forward(PartEvent::link, &PartCounter::on_link, change);
}

void SummaryObserver::on_scale(const ScaleAsked& asked) {
  forward(PartEvent::scale, &PartCounter::on_scale, asked);
}

/// The first request that counts is sent: steps before it only warmed caches.
void SummaryObserver::forget_steps() {
  for (ReplicaCount& each : replica_counts_) {
    const ReplicaCount before = each;
    each = {};
    each.until = before.until;
    each.load = before.load;
    each.fill = before.fill;
    each.grouped = before.grouped;
  }
  itl_ = {};
  second_ = -1;
  second_tokens_ = peak_tokens_ = 0;
  counters_.forget_steps();
}

}  // namespace rooflua
