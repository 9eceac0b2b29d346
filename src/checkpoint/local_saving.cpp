#include "local_saving.hpp"

#include <algorithm>

#include "manifest.hpp"
#include "tailrace/base/files.hpp"
#include "tailrace/base/system.hpp"
#include "tailrace/mpi/verdict.hpp"
#include "tailrace/output/sink.hpp"

namespace tailrace::checkpoint {

namespace {

constexpr std::int64_t portion_bytes = 4 << 20;

/// Writes bytes to their place.
void put(output::RawFile& file, std::span<const std::byte> bytes, std::int64_t at, StepIndex step) {
  if (bytes.empty()) return;
  // pwritev(2) takes what it only reads through a pointer to what may change.
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT
  file.write(std::span(&piece, 1), at, step);
}

}  // namespace

LocalSaving::LocalSaving(mpi::CommView comm, const Place& place, const Origin& origin,
                         const StateFunction& state)
    : comm_(comm) {
  Inventory inventory;
  std::vector<std::unique_ptr<OutgoingSet>> sets;
  mpi::agree_on(comm, [&] {
    state(inventory);
    sets = outgoing_sets(inventory);
  });
  const auto placed = place_sets(comm, sets);
  own_ = {.part = {.run = place.run,
                   .origin = origin,
                   .rank = comm.rank(),
                   .ranks = comm.size(),
                   .created = utc_now(),
                   .head = inventory.head().datasets,
                   .sets = {}},
          .file = part_file(place.node_directory, origin.step, comm.rank())};
  mpi::agree_on(
      comm,
      [&] {
        write(placed);
        complete_own(placed);
      },
      output::close_limit_s);
  flush_.emplace([this] { file_->flush(); });
  if (place.copies)
    copy_.emplace(place.partner_comm, place.partners, place.node_directory, own_.file, own_.part);
}

/// The data and the directory of each set, as far as this rank has them.
void LocalSaving::write(const std::vector<PlacedSet>& placed) {
  auto& part = own_.part;
  for (const auto& [set, data, entries] : placed)
    part.sets.push_back({.data = set->data_spec(data.all),
                         .values_each = set->values_each(),
                         .entry_words = set->entry_words(),
                         .count = data,
                         .entries = entries,
                         .row = {}});
  place_in_file(part);
  begin_part(own_.file);
  file_ = std::make_unique<output::RawFile>(own_.file.data, output::make_plain_call());
  std::vector<std::byte> portion;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const auto& set = part.sets[i];
    const auto value_bytes = static_cast<std::int64_t>(h5::size_bytes(set.data.type)),
               values = set.count.own * set.values_each, most = portion_bytes / value_bytes;
    for (std::int64_t first = 0; first < values; first += most) {
      const auto count = std::min(most, values - first);
      portion.resize(static_cast<std::size_t>(count * value_bytes));
      placed[i].set->fill(first, count, portion);
      put(*file_, portion, set.data_at + first * value_bytes, part.origin.step);
    }
    put(*file_, std::as_bytes(std::span(placed[i].set->entries())), set.entries_at, part.origin.step);
  }
}

/// What is known once all was written.
void LocalSaving::complete_own(const std::vector<PlacedSet>& placed) {
  for (std::size_t i = 0; i < placed.size(); ++i) {
    own_.part.sets[i].row = placed[i].set->part(placed[i].entries.first);
    own_.part.sets[i].sum = placed[i].set->sum();
  }
}

bool LocalSaving::ready() {
  if (copy_ && !flush_copies_ && copy_->progress()) flush_copies_.emplace([this] { copy_->flush(); });
  return flush_->is_done() && (!copy_ || (flush_copies_ && flush_copies_->is_done()));
}

void LocalSaving::finish() {
  for (Backoff backoff; !ready();) backoff.pause();
  mpi::agree_on(
      comm_,
      [&] {
        flush_->finish();
        file_->close();
        if (flush_copies_) flush_copies_->finish();
      },
      output::close_limit_s);
  mpi::agree_on(
      comm_,
      [&] {
        write_durably(own_.file.description, to_text(own_.part));
        if (copy_) copy_->describe();
      },
      output::close_limit_s);
}

}  // namespace tailrace::checkpoint
