// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/check.hpp"
#include "base/system.hpp"
#include "output/core/background_thread.hpp"
#include "output/sinks/new_file.hpp"
#include "tailrace/file_content.hpp"

namespace tailrace::output {

namespace {

/// Adds what happens during its life to seconds of the clock and of the processor.
class Cost {
 public:
  Cost(double& wall_s, double& cpu_s) : wall_s_(wall_s), cpu_s_(cpu_s) {}
  Cost(const Cost&) = delete;
  Cost& operator=(const Cost&) = delete;
  ~Cost() {
    wall_s_ += monotonic_s() - start_s_;
    cpu_s_ += thread_cpu_s() - start_cpu_s_;
  }

 private:
  double &wall_s_, &cpu_s_;
  double start_s_ = monotonic_s(), start_cpu_s_ = thread_cpu_s();
};

/// Gives a packet's room back when it is done with, also when that ends by an exception.
class Room {
 public:
  Room(PacketQueue& queue, std::int64_t bytes) : queue_(queue), bytes_(bytes) {}
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { queue_.release(bytes_); }

 private:
  PacketQueue& queue_;
  std::int64_t bytes_;
};

}  // namespace

ChunkFile::ChunkFile(ChunkFileSetup setup)
    : path_(setup.path),
      datasets_(setup.datasets),
      level_(setup.level),
      storage_(setup.path, std::move(setup.call)),
      open_datasets_(setup.datasets.size()),
      steps_(static_cast<std::size_t>(setup.ranks), 0),
      arrived_(steps_.size(), setup.present_until > 0 ? setup.present_until : -1),
      last_step_(setup.present_until),
      last_commit_s_(monotonic_s()),
      queue_(setup.queue_bytes) {
  with_path(path_, [&] {
    file_ = h5::File::open_for_update(path_, storage_);
    slots_ = h5::element_count(file_->shape(commit_mark_path));
    std::vector<std::uint64_t> recorded(slots_);
    file_->read<std::uint64_t>(commit_mark_path, recorded);
    if (!recorded.empty())
      std::fill(steps_.begin(), steps_.end(),
                static_cast<StepIndex>(*std::min_element(recorded.begin(), recorded.end())));
    if (setup.present_until > 0) {
      // What comes after that step is written anew.
      std::fill(steps_.begin(), steps_.end(), setup.present_until);
      write_commit_mark();
      throw_if_failed();
    }
    std::size_t dataset = 0;
    for (const auto& stream : setup.plan.streams) {
      if (stream.growth)
        growing_.emplace(dataset, GrowingStreamSetup{.file = *file_,
                                                     .stream = stream,
                                                     .ranks = setup.ranks,
                                                     .level = level_,
                                                     .present_until = setup.present_until});
      dataset += stream.datasets.size();
    }
  });
  thread_ = start_background_thread(std::move(setup.cpus), [this] { work(); });
}

std::optional<ErrorInfo> ChunkFile::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

StepIndex ChunkFile::save() {
  Packet packet = make_packet({.kind = PacketKind::save, .step = recorded_});
  queue_.wait_for_room(packet.bytes());
  if (queue_.reserve(packet.bytes())) queue_.put(std::move(packet));
  for (Backoff backoff; !queue_.idle() && !failure();) backoff.pause();
  if (const auto failed = failure()) throw Error(*failed);
  return recorded_;
}

void ChunkFile::finish() noexcept {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void ChunkFile::work() noexcept {
  try {
    write_queue();
    const Cost cost(write_s_, write_cpu_s_);
    write_incomplete();
    commit(false);
  } catch (...) {
    keep_failure();
  }
  close();
}

void ChunkFile::keep_failure() {
  {
    const std::scoped_lock lock(mutex_);
    failure_ = describe_current_exception();
  }
  queue_.discard();
}

void ChunkFile::write_queue() {
  for (;;) {
    const auto packet = queue_.take_within(commit_every_s);
    const Cost cost(write_s_, write_cpu_s_);
    if (packet) {
      const Room room(queue_, packet->bytes());
      write(*packet);
    } else if (queue_.closed()) {
      return;
    }
    commit_if_due();
  }
}

void ChunkFile::write(const Packet& packet) {
  if (packet.message.empty()) return;  // a rank's last words
  const PacketHead head = packet.head();
  storage_.set_step(head.step);
  last_step_ = std::max(last_step_, head.step);
  switch (head.kind) {
    case PacketKind::chunk: {
      const auto dataset = static_cast<std::size_t>(head.dataset);
      write_chunk(dataset, datasets_[dataset].grid.chunk(head.number), packet.content(), head.skipped);
      break;
    }
    case PacketKind::values:
      for_each_extent(packet, [&](const ExtentHead& extent, std::span<const std::byte> bytes) {
        add_values(extent, bytes);
      });
      break;
    case PacketKind::rows:
      growing_.at(head.dataset).take(packet.source, head.number, packet.content());
      break;
    case PacketKind::commit_mark:
      take_commit_mark(packet);
      break;
    case PacketKind::save:
      write_incomplete();
      [[fallthrough]];
    case PacketKind::flush:
      commit(true);
      break;
  }
}

void ChunkFile::write_chunk(std::size_t dataset, const ChunkPlace& place, std::span<const std::byte> bytes,
                            std::uint32_t skipped) {
  const ChunkedStream& stream = datasets_[dataset];
  auto& open = open_datasets_[dataset];
  with_path(path_, [&] {
    if (!open) open.emplace(*file_, stream.path);
    if (stream.open) open->grow(static_cast<std::uint64_t>(stream.samples_with(place, last_step_)));
    open->write_chunk(stream.grid.start(place), bytes, skipped);
  });
  throw_if_failed();
  uncommitted_bytes_ += static_cast<std::int64_t>(bytes.size());
  changed_ = true;
  // The chunk's old bytes, to which the file still refers, may be free for HDF5: nothing may be put there
  // before. When it is written again it keeps its place.
  if (stream.continues(place) && continued_.insert({dataset, place.number}).second) commit(false);
}

void ChunkFile::add_values(const ExtentHead& head, std::span<const std::byte> bytes) {
  const auto dataset = static_cast<std::size_t>(head.dataset);
  const ChunkedStream& stream = datasets_[dataset];
  const ChunkPlace place = stream.grid.at(head.offset_bytes);
  auto chunk = open_.find({dataset, place.number});
  if (chunk == open_.end())
    chunk = open_.emplace(std::pair(dataset, place.number), open_chunk(dataset, place)).first;
  std::memcpy(chunk->second.bytes.data() + (head.offset_bytes - place.begin), bytes.data(), bytes.size());
  chunk->second.filled += head.bytes;
  if (chunk->second.filled == place.bytes) write_open(chunk);
}

OpenChunk ChunkFile::open_chunk(std::size_t dataset, const ChunkPlace& place) {
  const ChunkedStream& stream = datasets_[dataset];
  OpenChunk chunk{.bytes = std::vector<std::byte>(static_cast<std::size_t>(stream.grid.chunk_bytes()))};
  if (!stream.continues(place)) return chunk;
  chunk.filled = stream.present_bytes - place.begin;
  // An open dataset remembers where its last chunk was, also when that has been written directly since.
  open_datasets_[dataset].reset();
  const h5::Shape start = stream.grid.start(place), shape = file_->shape(stream.path);
  h5::Shape count = stream.layout.chunk;
  for (std::size_t axis = 0; axis < count.size(); ++axis)
    count[axis] = std::min(count[axis], shape[axis] - start[axis]);
  // Where the number of samples is open, the dataset may end within the chunk.
  const auto there = h5::element_count(count) * static_cast<std::size_t>(stream.element_bytes);
  const auto bytes = std::span(chunk.bytes).first(there);
  with_path(path_,
            [&] { file_->read_hyperslab_bytes(stream.path, file_->type(stream.path), start, count, bytes); });
  return chunk;
}

/// A chunk that takes more samples is not filtered, and stays so: it then is written again in the same place,
/// where the samples that are there already keep their bytes, whenever the run is killed.
void ChunkFile::write_open(OpenChunks::iterator chunk) {
  const auto [dataset, number] = chunk->first;
  const ChunkedStream& stream = datasets_[dataset];
  const auto place = stream.grid.chunk(number);
  const bool filters = chunk->second.filled == place.bytes && !stream.continues(place);
  const auto written = filters
                           ? filter_chunk(chunk->second.bytes, static_cast<std::size_t>(stream.element_bytes),
                                          stream.layout, level_)
                           : unfiltered_chunk(chunk->second.bytes, stream.layout);
  open_.erase(chunk);
  write_chunk(dataset, place, written.bytes, written.skipped);
}

void ChunkFile::write_incomplete() {
  while (!open_.empty()) write_open(open_.begin());
}

void ChunkFile::commit_if_due() {
  if (!changed_) return;
  if (uncommitted_bytes_ >= commit_every_bytes || monotonic_s() - last_commit_s_ >= commit_every_s)
    commit(false);
}

/// A rank has sent everything up to a step.
void ChunkFile::take_commit_mark(const Packet& packet) {
  const auto source = static_cast<std::size_t>(packet.source);
  steps_[source] = packet.head().number;
  arrived_[source] = packet.head().step;
  changed_ = true;
  const StepIndex all = *std::min_element(arrived_.begin(), arrived_.end());
  with_path(path_, [&] {
    for (auto& [dataset, stream] : growing_) uncommitted_bytes_ += stream.place(all);
  });
  throw_if_failed();
}

/// Brings what grows to the samples that the commit mark will state.
void ChunkFile::save_growing() {
  const StepIndex complete =
      std::min(complete_before_open(), *std::min_element(steps_.begin(), steps_.end()));
  storage_.set_bookkeeping(true);
  for (auto& [dataset, stream] : growing_) stream.save(complete);
  storage_.set_bookkeeping(false);
}

void ChunkFile::commit(bool to_device) {
  with_path(path_, [&] {
    save_growing();
    throw_if_failed();
    file_->flush();
    throw_if_failed();
    write_commit_mark();
    throw_if_failed();
  });
  if (to_device)
    storage_.flush();
  else
    storage_.start_flush();
  changed_ = false;
  uncommitted_bytes_ = 0;
  last_commit_s_ = monotonic_s();
}

/// The last step without samples of chunks that are not complete.
StepIndex ChunkFile::complete_before_open() const {
  StepIndex limit = std::numeric_limits<StepIndex>::max();
  for (const auto& [key, chunk] : open_) {
    const ChunkedStream& stream = datasets_[key.first];
    limit = std::min(limit, stream.complete_before(stream.grid.chunk(key.second)));
  }
  return limit;
}

/// Says what the commit has put into the file.
void ChunkFile::write_commit_mark() {
  const StepIndex limit = complete_before_open();
  const StepIndex all = std::min(limit, *std::min_element(steps_.begin(), steps_.end()));
  recorded_ = all;
  std::vector<std::uint64_t> slots(slots_, static_cast<std::uint64_t>(all));
  if (slots_ == steps_.size())
    for (std::size_t rank = 0; rank < slots_; ++rank)
      slots[rank] = static_cast<std::uint64_t>(std::min(limit, steps_[rank]));
  storage_.set_bookkeeping(true);
  file_->write<std::uint64_t>(commit_mark_path, slots);
  storage_.set_bookkeeping(false);
}

void ChunkFile::throw_if_failed() const {
  if (storage_.failure()) throw Error(*storage_.failure());
}

void ChunkFile::close() noexcept {
  try {
    open_datasets_.clear();
    growing_.clear();
    file_->close();
    file_.reset();
    throw_if_failed();
  } catch (...) {
    if (!failure()) keep_failure();
  }
  storage_.cut_off_rest();
}

}  // namespace tailrace::output
