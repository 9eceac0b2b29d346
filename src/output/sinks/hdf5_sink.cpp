// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_sink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "mpi/verdict.hpp"
#include "output/sinks/sinks.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

Hdf5Sink::Hdf5Sink(const SinkContext& context, Hdf5Layout layout, const MakeCall& make_call)
    : layout_(std::move(layout)) {
  auto real_call = make_call();
  direct_call_ = make_call();
  const int process = context.process < 0 ? context.comm.rank() : context.process;
  mpi::collectively(context.comm, [&] {
    call_ = make_write_call(context.options, process, std::move(real_call));
    if (context.plan.may_switch()) switch_.emplace(context.plan, layout_.places());
    open_new_files();
  });
  if (switch_) switch_->check_locks(context.comm);
}

void Hdf5Sink::open_new_files() {
  const auto& paths = layout_.places().files;
  while (files_.size() < paths.size())
    files_.push_back(std::make_unique<RawFile>(paths[files_.size()], call_, direct_call_));
}

bool Hdf5Sink::fail_over(const RefusedWrite& refusal, StepIndex step) {
  if (!switch_ || !switch_->fail_over(refusal.info().path, refusal.reason(), step)) return false;
  open_new_files();
  return true;
}

bool Hdf5Sink::is_unchanged() {
  if (!switch_ || !switch_->follow()) return true;
  open_new_files();
  return false;
}

Written Hdf5Sink::write(std::span<const Extent> extents, StepIndex step) {
  Written written;
  for (const auto& extent : extents) {
    std::int64_t offset = extent.offset_bytes;
    for (auto left = extent.bytes; !left.empty();) {
      const Target here = locate(extent.dataset, offset);
      const auto bytes = left.first(std::min(left.size(), static_cast<std::size_t>(here.bytes)));
      written.operations += gather(here, bytes, step);
      offset += static_cast<std::int64_t>(bytes.size());
      left = left.subspan(bytes.size());
    }
    written.bytes += static_cast<std::int64_t>(extent.bytes.size());
  }
  written.operations += write_batch(step);
  start_flush_after(written.bytes);
  return written;
}

Hdf5Sink::Target Hdf5Sink::locate(std::size_t dataset, std::int64_t offset_bytes) {
  const Place here = place(dataset, offset_bytes);
  return {.file = files_[here.file].get(), .offset = here.offset, .bytes = here.bytes};
}

/// Takes bytes to those that are written together, after writing these if they are no neighbours. Returns the
/// operations that took.
std::int64_t Hdf5Sink::gather(const Target& target, std::span<const std::byte> bytes, StepIndex step) {
  std::int64_t operations = 0;
  if (target.file != batch_file_ || target.offset != next_offset_ || buffers_.size() == IOV_MAX)
    operations = write_batch(step);
  if (buffers_.empty()) {
    batch_file_ = target.file;
    first_offset_ = target.offset;
  }
  buffers_.push_back({const_cast<std::byte*>(bytes.data()), bytes.size()});  // NOLINT: only read
  next_offset_ = target.offset + static_cast<std::int64_t>(bytes.size());
  return operations;
}

void Hdf5Sink::flush() {
  for (const auto& file : files_) file->flush();
}

void Hdf5Sink::start_flush() noexcept {
  for (const auto& file : files_) file->start_flush();
}

void Hdf5Sink::close_files() {
  for (const auto& file : files_) file->close();
}

std::vector<RawFile*> Hdf5Sink::files() {
  std::vector<RawFile*> files;
  for (const auto& file : files_) files.push_back(file.get());
  return files;
}

void Hdf5Sink::commit_mark(int source, StepIndex steps) {
  put_slots(layout_.places().commit_mark, source, steps);
  written_[source].recorded = steps;
}

void Hdf5Sink::mark_dropped(int source) {
  auto& written = written_[source];
  if (std::exchange(written.dropped, true)) return;
  if (layout_.places().dropped == 0)
    throw Error(ErrorInfo{.kind = ErrorKind::io,
                          .message = fmt::format("{}: samples cannot be left out: the file has no place to "
                                                 "state it ({})",
                                                 layout_.path(), dropped_path),
                          .path = layout_.path(),
                          .hint = "begin a new file for on_failure = \"drop\""});
  put_slots(layout_.places().dropped, source, written.recorded + 1);
}

PlacedFiles::Slots Hdf5Sink::commit_mark(int source) const {
  const auto slots = layout_.slots_of(source);
  const std::int64_t first = layout_.places().commit_mark + slots.first * std::int64_t{sizeof(std::uint64_t)};
  return {.first = {.file = 0, .offset = first}, .count = slots.count};
}

/// Puts a step into the slots of a source.
void Hdf5Sink::put_slots(std::int64_t place, int source, StepIndex step) {
  const auto slots = layout_.slots_of(source);
  if (slots.count == 0) return;
  slots_.assign(static_cast<std::size_t>(slots.count), static_cast<std::uint64_t>(step));
  files_.front()->write_directly(std::as_bytes(std::span(slots_)),
                                 place + slots.first * std::int64_t{sizeof(std::uint64_t)});
}

void Hdf5Sink::close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) {
  const auto close_here = [&] {
    if (comm.is_root()) {
      if (switch_) switch_->follow();
      layout_.finish(tail, end);
      if (!tail.empty()) files_.front()->mark_written();
      notes_ = describe_changes(layout_.places());
    }
    flush();
    close_files();
  };
  mpi::collectively(comm, close_here, close_limit_s);
}

void Hdf5Sink::start_flush_after(std::int64_t bytes) noexcept {
  unflushed_bytes_ += bytes;
  if (unflushed_bytes_ < flush_every_bytes) return;
  start_flush();
  unflushed_bytes_ = 0;
}

/// Writes the buffers gathered so far, which are neighbours in the file, in one operation.
std::int64_t Hdf5Sink::write_batch(StepIndex step) {
  if (buffers_.empty()) return 0;
  const auto clear = [this] {
    buffers_.clear();
    next_offset_ = -1;
  };
  try {
    batch_file_->write(buffers_, first_offset_, step);
  } catch (...) {
    clear();
    throw;
  }
  clear();
  return 1;
}

std::unique_ptr<Sink> create_hdf5_sink(const SinkContext& context) {
  if (context.splits_samples) return create_split_sink(context);
  return std::make_unique<Hdf5Sink>(context, make_plain_call);
}

}  // namespace tailrace::output
