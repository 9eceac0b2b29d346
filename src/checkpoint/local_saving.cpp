// SPDX-License-Identifier: BSD-3-Clause
#include "local_saving.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/system.hpp"
#include "manifest.hpp"
#include "mpi/verdict.hpp"
#include "output/core/sink.hpp"

namespace tailrace::checkpoint {

namespace {

/// Writes bytes to their place.
void put(output::RawFile& file, std::span<const std::byte> bytes, std::int64_t at, StepIndex step) {
  if (bytes.empty()) return;
  // pwritev(2) takes what it only reads through a pointer to what may change.
  iovec buffer{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT
  file.write(std::span(&buffer, 1), at, step);
}

}  // namespace

LocalSaving::LocalSaving(mpi::CommView comm, const Place& place, const Origin& origin,
                         const StateFunction& state, const Compression& compression)
    : comm_(comm) {
  Inventory inventory;
  std::vector<std::unique_ptr<OutgoingSet>> sets;
  own_.file = part_file(place.node_directory, origin.step, comm.rank());
  mpi::collectively(
      comm,
      [&] {
        state(inventory);
        sets = outgoing_sets(inventory, compression);
        write_data(sets);
      },
      output::close_limit_s);
  own_.part = {.run = place.run,
               .origin = origin,
               .rank = comm.rank(),
               .ranks = comm.size(),
               .created = utc_now(),
               .head = inventory.head().datasets,
               .sets = {}};
  const auto placed = place_sets(comm, sets);
  mpi::collectively(
      comm, [&] { write_entries(placed); }, output::close_limit_s);
  flush_.emplace([this] { file_->flush(); });
  if (place.copies)
    copy_.emplace(place.partner_comm, place.partners, place.node_directory, own_.file, own_.part);
}

/// Finds out what this rank has of the sets, one behind the other.
void LocalSaving::write_data(const std::vector<std::unique_ptr<OutgoingSet>>& sets) {
  begin_part(own_.file);
  file_ = std::make_unique<output::RawFile>(own_.file.data, output::make_plain_call());
  std::vector<std::byte> batch(batch_bytes);
  std::int64_t at = 0;
  for (const auto& set : sets)
    while (const auto given = set->give(batch)) {
      put(*file_, std::span(batch).first(given), at, own_.file.step);
      at += static_cast<std::int64_t>(given);
    }
}

/// The directories behind them, which are complete now, and the description.
void LocalSaving::write_entries(const std::vector<PlacedSet>& placed) {
  auto& part = own_.part;
  for (const auto& each : placed)
    part.sets.push_back({.data = each.data_spec(),
                         .bytes_each = each.set->bytes_each(),
                         .entry_words = each.set->entry_words(),
                         .compressed = each.set->is_compressed(),
                         .count = each.count,
                         .stored = each.stored,
                         .entries = each.entries,
                         .row = each.set->part(each.entries.first),
                         .sum = each.set->sum()});
  place_in_file(part);
  for (std::size_t i = 0; i < placed.size(); ++i)
    put(*file_, std::as_bytes(std::span(placed[i].set->entries())), part.sets[i].entries_at, own_.file.step);
}

bool LocalSaving::ready() {
  if (copy_ && !flush_copies_ && copy_->progress()) flush_copies_.emplace([this] { copy_->flush(); });
  return flush_->is_done() && (!copy_ || (flush_copies_ && flush_copies_->is_done()));
}

void LocalSaving::finish() {
  for (Backoff backoff; !ready();) backoff.pause();
  mpi::collectively(
      comm_,
      [&] {
        flush_->finish();
        file_->close();
        if (flush_copies_) flush_copies_->finish();
      },
      output::close_limit_s);
  mpi::collectively(
      comm_,
      [&] {
        write_durably(own_.file.description, to_text(own_.part));
        if (copy_) copy_->describe();
      },
      output::close_limit_s);
}

}  // namespace tailrace::checkpoint
