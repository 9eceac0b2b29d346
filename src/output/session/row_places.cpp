// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/row_places.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "mpi/verdict.hpp"
#include "output/core/sink.hpp"
#include "output/registry/create.hpp"
#include "output/sinks/row_files.hpp"

namespace tailrace::output {

RowPlaces::RowPlaces(mpi::CommView comm, const Plan& plan, const std::string& path, StepIndex after)
    : comm_(mpi::Comm::duplicate(comm)), scan_(comm_.view()) {
  std::vector<std::int64_t> rows;
  for (const auto* stream : streams_of_rows(plan))
    held_.push_back({.stream = stream, .file = rows_path(path, *stream), .head = {}, .bytes = {}});
  mpi::collectively_on_root(comm, [&] {
    for (auto& held : held_) {
      rows.push_back(rows_until(path, *held.stream, after));
      held.head = h5::GrowingHead::read(held.file);
    }
  });
  mpi::broadcast(comm, rows, 0);
  for (std::size_t i = 0; i < held_.size(); ++i) held_[i].rows = rows[i];
}

RowPlaces::~RowPlaces() {
  // Only while an error ends the program: MPI still has messages on the communicator.
  if (scan_.pending()) static_cast<void>(new mpi::Comm(std::move(comm_)));  // NOLINT: left on purpose
}

bool RowPlaces::any_due(StepIndex step) const noexcept {
  return std::any_of(held_.begin(), held_.end(),
                     [&](const Held& held) { return held.stream->cadence.is_due(step); });
}

void RowPlaces::begin(StepIndex step, const RowsLookup* rows, bool flush) {
  std::vector<std::int64_t> counts;
  for (auto& held : held_) {
    const bool due = rows != nullptr && held.stream->cadence.is_due(step);
    const RowsView view = due ? (*rows)(held.stream->quantity) : RowsView{};
    const auto bytes = static_cast<std::size_t>(view.count * held.stream->row_bytes());
    held.bytes.resize(bytes);
    if (bytes > 0) std::memcpy(held.bytes.data(), view.data, bytes);
    counts.push_back(view.count);
  }
  step_ = begun_ = step;
  flush_ = flush;
  scan_.start(std::move(counts));
}

std::vector<RowPlaces::Placed> RowPlaces::take() {
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < held_.size(); ++i) {
    auto& held = held_[i];
    if (!held.stream->cadence.is_due(*step_)) continue;
    if (!held.bytes.empty())
      placed.push_back({held.stream, held.rows + scan_.before()[i], std::exchange(held.bytes, {})});
    held.rows += scan_.total()[i];
    held.counted = held.stream->cadence.samples_until(*step_) - 1;
  }
  step_.reset();
  return placed;
}

void RowPlaces::count_into(Staging& job) {
  for (auto& held : held_) {
    const StepIndex sample = std::exchange(held.counted, -1);
    if (sample < 0 || !held.head) continue;
    const auto put = [&](const Share& share, std::int64_t first, const void* from, std::size_t bytes) {
      std::memcpy(job.add(share, 0, first, static_cast<std::int64_t>(bytes / sizeof(std::int64_t))).data(),
                  from, bytes);
    };
    lengthen_rows(held.file, *held.head, held.rows);
    const auto& head = held.head->with_rows(held.rows);
    put(held.stream->shares[1], sample + 1, &held.rows, sizeof held.rows);
    put(held.stream->shares[2], 0, head.data(), head.size());
  }
}

std::unique_ptr<RowPlaces> make_row_places(mpi::CommView comm, const Plan& plan, const std::string& path,
                                           const WriteOptions& options, StepIndex after) {
  if (!places_rows(options) || streams_of_rows(plan).empty()) return {};
  return std::make_unique<RowPlaces>(comm, plan, path, after);
}

std::vector<const Share*> place(Plan& plan, const WriteOptions& options, bool is_root) {
  if (places_rows(options))
    place_rows(plan, is_root);
  else
    number_shares(plan);
  return shares_of(plan);
}

}  // namespace tailrace::output
