// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <optional>
#include <thread>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/hdf5_chunked/file.hpp"
#include "output/sinks/hdf5_chunked/layout.hpp"
#include "output/sinks/hdf5_chunked/post.hpp"
#include "output/sinks/new_file.hpp"
#include "output/sinks/sinks.hpp"
#include "output/sinks/space.hpp"

namespace tailrace::output {

namespace {

constexpr std::int64_t min_queue_bytes = 8 << 20;
/// Values of shared chunks leave in packets of about this size.
constexpr std::size_t values_bytes = 256 << 10;
constexpr std::int64_t all_parts = std::numeric_limits<std::int64_t>::max();

std::int64_t largest_chunk_bytes(const std::vector<ChunkedStream>& datasets) {
  std::int64_t bytes = 0;
  for (const auto& stream : datasets) bytes = std::max(bytes, stream.grid.chunk_bytes());
  return bytes;
}

/// Ranks compress the chunks that they own and send them, and the values of chunks that they share with
/// others, to rank 0, where one thread hands whole chunks to HDF5.
class Hdf5ChunkedSink final : public Sink, public Exchange {
 public:
  explicit Hdf5ChunkedSink(const SinkContext& context)
      : comm_(mpi::Comm::duplicate(context.comm)),
        path_(context.path),
        plan_(context.plan),
        level_(context.options.deflate_level),
        lag_(static_cast<std::size_t>(context.buffers)),
        simulation_(std::this_thread::get_id()) {
    std::vector<h5::ChunkLayout> layouts;
    mpi::collectively_on_root(comm_, [&] { layouts = prepare(context); });
    broadcast(comm_, layouts);
    mpi::collectively(comm_, [&] { start(context, layouts); });
    shared_bytes_ = mpi::sum(comm_, shared_here());
  }

  ~Hdf5ChunkedSink() override;
  Hdf5ChunkedSink(const Hdf5ChunkedSink&) = delete;
  Hdf5ChunkedSink& operator=(const Hdf5ChunkedSink&) = delete;

  Written write(std::span<const Extent> extents, StepIndex step) override;
  Written append(std::size_t dataset, std::int64_t sample, std::span<const std::byte> rows,
                 StepIndex step) override;
  void commit_mark(int source, StepIndex steps) override;
  void flush() override;
  void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) override;

  Exchange* exchange() noexcept override { return this; }
  [[nodiscard]] std::int64_t memory_bytes() const noexcept override;
  [[nodiscard]] const std::string& warning() const noexcept override { return warning_; }

  void progress() override;
  bool keeps_up(StepIndex step) override;
  void finalize() override;
  StepIndex commit() override;
  void complete() override;
  void fail() noexcept override { failed_ = true; }
  void abandon() noexcept override;
  [[nodiscard]] double write_s() const noexcept override { return file_ ? file_->write_s() : 0; }
  [[nodiscard]] double write_cpu_s() const noexcept override { return file_ ? file_->write_cpu_s() : 0; }

 private:
  std::vector<h5::ChunkLayout> prepare(const SinkContext& context);
  void start(const SinkContext& context, const std::vector<h5::ChunkLayout>& layouts);
  [[nodiscard]] std::int64_t shared_here() const noexcept;
  [[nodiscard]] bool on_simulation_thread() const noexcept {
    return std::this_thread::get_id() == simulation_;
  }
  [[nodiscard]] PacketQueue& queue() noexcept { return file_ ? file_->queue() : *outbox_; }

  // On the writer's thread.
  template <class Action>
  void guarded(const Action& action);
  void add(const Extent& extent, StepIndex step);
  void add_own(std::size_t dataset, const ChunkPlace& place, std::int64_t offset,
               std::span<const std::byte> bytes, StepIndex step);
  void add_shared(std::size_t dataset, std::int64_t offset, std::span<const std::byte> bytes, StepIndex step);
  void post_filtered(std::size_t dataset, std::int64_t number, std::span<const std::byte> chunk,
                     StepIndex step);
  void post_chunk(std::size_t dataset, std::int64_t number, const FilteredChunk& chunk, StepIndex step);
  void post_values();
  void post_commit_mark();
  void post(Packet packet);
  void post_rest();
  std::optional<ErrorInfo> try_to_post_rest();

  // On the simulation's thread.
  void count_parts(StepIndex step);
  void wait_until_moved();

  mpi::Comm comm_;
  std::string path_, warning_;
  const Plan& plan_;
  int level_;
  std::size_t lag_;  ///< steps with samples that the file's rank may be ahead of the others
  std::thread::id simulation_;
  std::vector<ChunkedStream> datasets_;
  std::int64_t queue_bytes_ = 0, shared_bytes_ = 0;

  // Of the writer's thread.
  OpenChunks open_;  ///< owned here
  std::optional<Packet> values_;
  std::int64_t part_ = 1, posted_ = 0;
  StepIndex recorded_ = 0, last_step_ = 0;
  std::atomic<bool> failed_ = false;

  // Of the simulation's thread.
  std::deque<std::int64_t> parts_under_way_;
  std::int64_t parts_ = 0, due_part_ = 0;
  StepIndex counted_step_ = -1;
  bool synchronous_ = false;  ///< says what is written is written inside the step
  bool completed_ = false, abandoned_ = false;

  std::optional<PacketQueue> outbox_;
  std::optional<PacketSender> sender_;
  std::unique_ptr<ChunkFile> file_;  // on the root, as the receiver
  std::optional<PacketReceiver> receiver_;
};

std::vector<h5::ChunkLayout> Hdf5ChunkedSink::prepare(const SinkContext& context) {
  if (!has_space({{path_, static_cast<double>(plan_.file_bytes())}}, warning_))
    warning_ = "should the samples not shrink: " + warning_;
  return prepare_chunked_file(context);
}

void Hdf5ChunkedSink::start(const SinkContext& context, const std::vector<h5::ChunkLayout>& layouts) {
  datasets_ = map_datasets(plan_, layouts, context.resume_after);
  recorded_ = context.resume_after;
  queue_bytes_ = std::max(min_queue_bytes, 2 * largest_chunk_bytes(datasets_));
  if (comm_.view().is_root()) {
    file_ = std::make_unique<ChunkFile>(ChunkFileSetup{.path = path_,
                                                       .plan = plan_,
                                                       .datasets = datasets_,
                                                       .present_until = context.resume_after,
                                                       .ranks = comm_.view().size(),
                                                       .level = level_,
                                                       .queue_bytes = queue_bytes_,
                                                       .cpus = context.writer_cpus,
                                                       .call = make_write_call(context.options, 0)});
    receiver_.emplace(comm_, file_->queue());
  } else {
    outbox_.emplace(queue_bytes_);
    sender_.emplace(comm_, *outbox_);
  }
}

Hdf5ChunkedSink::~Hdf5ChunkedSink() {
  if (!file_ || completed_) return;
  // Left by an exception: what this rank has is worth keeping.
  try {
    if (!failed_) post_rest();
  } catch (...) {  // the error that is under way is the one to be reported
    failed_ = true;
  }
}

/// Values in chunks that ranks share, of as many samples as may be on their way.
std::int64_t Hdf5ChunkedSink::shared_here() const noexcept {
  std::int64_t bytes = 0;
  for (const auto& stream : datasets_) {
    const std::int64_t shared = stream.shared_bytes();
    bytes += shared * (stream.series ? static_cast<std::int64_t>(lag_) + 1 : 1);
    if (shared > 0 && stream.share->runs.front().offset == 0) bytes += stream.grid.chunk_bytes();
  }
  return bytes;
}

std::int64_t Hdf5ChunkedSink::memory_bytes() const noexcept {
  std::int64_t bytes = queue_bytes_ + 3 * largest_chunk_bytes(datasets_);  // one being filtered
  for (const auto& stream : datasets_)
    bytes +=
        (stream.share != nullptr ? stream.grid.chunk_bytes() : 0) + static_cast<std::int64_t>(sizeof stream);
  return bytes + (file_ ? shared_bytes_ : 0);
}

/// Runs `action` and remembers if it fails: other ranks must not wait for this one then.
template <class Action>
void Hdf5ChunkedSink::guarded(const Action& action) {
  try {
    if (file_)
      if (const auto failure = file_->failure()) throw Error(*failure);
    action();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

Written Hdf5ChunkedSink::write(std::span<const Extent> extents, StepIndex step) {
  Written written;
  const std::int64_t posted_before = posted_;
  guarded([&] {
    last_step_ = step;
    for (const auto& extent : extents) {
      add(extent, step);
      written.bytes += static_cast<std::int64_t>(extent.bytes.size());
    }
    post_values();
  });
  written.operations = posted_ - posted_before;
  return written;
}

Written Hdf5ChunkedSink::append(std::size_t dataset, std::int64_t sample, std::span<const std::byte> rows,
                                StepIndex step) {
  Written written;
  const std::int64_t posted_before = posted_;
  guarded([&] {
    last_step_ = step;
    while (!rows.empty()) {
      const auto part = rows.first(std::min(rows.size(), values_bytes));
      post(make_packet({.kind = PacketKind::rows, .dataset = dataset, .number = sample, .step = step}, part));
      written.bytes += static_cast<std::int64_t>(part.size());
      rows = rows.subspan(part.size());
    }
  });
  written.operations = posted_ - posted_before;
  return written;
}

void Hdf5ChunkedSink::add(const Extent& extent, StepIndex step) {
  const ChunkedStream& stream = datasets_[extent.dataset];
  std::int64_t offset = extent.offset_bytes;
  for (auto bytes = extent.bytes; !bytes.empty();) {
    const ChunkPlace place = stream.grid.at(offset);
    const auto count = std::min(bytes.size(), static_cast<std::size_t>(place.end() - offset));
    if (stream.owns(place))
      add_own(extent.dataset, place, offset, bytes.first(count), step);
    else
      add_shared(extent.dataset, offset, bytes.first(count), step);
    bytes = bytes.subspan(count);
    offset += static_cast<std::int64_t>(count);
  }
}

void Hdf5ChunkedSink::add_own(std::size_t dataset, const ChunkPlace& place, std::int64_t offset,
                              std::span<const std::byte> bytes, StepIndex step) {
  const auto whole = static_cast<std::size_t>(datasets_[dataset].grid.chunk_bytes());
  if (bytes.size() == whole) return post_filtered(dataset, place.number, bytes, step);
  OpenChunk& chunk = open_[{dataset, place.number}];
  chunk.bytes.resize(whole);
  std::copy(bytes.begin(), bytes.end(), chunk.bytes.begin() + (offset - place.begin));
  chunk.filled += static_cast<std::int64_t>(bytes.size());
  if (chunk.filled < place.bytes) return;
  post_filtered(dataset, place.number, chunk.bytes, step);
  open_.erase({dataset, place.number});
}

void Hdf5ChunkedSink::add_shared(std::size_t dataset, std::int64_t offset, std::span<const std::byte> bytes,
                                 StepIndex step) {
  while (!bytes.empty()) {
    if (!values_) values_ = make_packet({.kind = PacketKind::values, .step = step});
    const auto part = bytes.first(std::min(bytes.size(), values_bytes));
    add_extent(*values_,
               {.dataset = dataset, .offset_bytes = offset, .bytes = static_cast<std::int64_t>(part.size())},
               part);
    if (values_->message.size() >= values_bytes) post_values();
    bytes = bytes.subspan(part.size());
    offset += static_cast<std::int64_t>(part.size());
  }
}

void Hdf5ChunkedSink::post_filtered(std::size_t dataset, std::int64_t number,
                                    std::span<const std::byte> chunk, StepIndex step) {
  const ChunkedStream& stream = datasets_[dataset];
  post_chunk(dataset, number,
             filter_chunk(chunk, static_cast<std::size_t>(stream.element_bytes), stream.layout, level_),
             step);
}

void Hdf5ChunkedSink::post_chunk(std::size_t dataset, std::int64_t number, const FilteredChunk& chunk,
                                 StepIndex step) {
  post(make_packet({.kind = PacketKind::chunk,
                    .skipped = chunk.skipped,
                    .dataset = dataset,
                    .number = number,
                    .step = step},
                   chunk.bytes));
}

void Hdf5ChunkedSink::post_values() {
  if (!values_) return;
  Packet packet = std::move(*values_);
  values_.reset();
  post(std::move(packet));
}

void Hdf5ChunkedSink::commit_mark(int, StepIndex steps) {
  guarded([&] {
    recorded_ = steps;
    post_commit_mark();
  });
  if (on_simulation_thread()) synchronous_ = true;
}

/// Informs the file's rank up to which step it has everything from here, and ends a part.
void Hdf5ChunkedSink::post_commit_mark() {
  StepIndex steps = recorded_;
  for (const auto& [key, chunk] : open_) {
    const ChunkedStream& stream = datasets_[key.first];
    steps = std::min(steps, stream.complete_before(stream.grid.chunk(key.second)));
  }
  post(make_packet({.kind = PacketKind::commit_mark, .number = steps, .step = recorded_}));
  ++part_;
}

void Hdf5ChunkedSink::flush() {
  guarded([&] {
    if (file_) post(make_packet({.kind = PacketKind::flush, .step = last_step_}));
  });
}

void Hdf5ChunkedSink::post(Packet packet) {
  packet.source = comm_.view().rank();
  packet.part = part_;
  Backoff backoff;
  while (!queue().reserve(packet.bytes())) {
    if (on_simulation_thread()) {
      progress();
      backoff.pause();
    } else {
      queue().wait_for_room(packet.bytes());
    }
  }
  queue().put(std::move(packet));
  ++posted_;
}

/// Chunks owned here that are not complete when everything is to be in the file.
void Hdf5ChunkedSink::post_rest() {
  while (!open_.empty()) {
    const auto chunk = open_.extract(open_.begin());
    const auto [dataset, number] = chunk.key();
    post_chunk(dataset, number, unfiltered_chunk(chunk.mapped().bytes, datasets_[dataset].layout),
               last_step_);
  }
  post_commit_mark();
}

std::optional<ErrorInfo> Hdf5ChunkedSink::try_to_post_rest() {
  try {
    if (!failed_) guarded([&] { post_rest(); });
  } catch (...) {
    return describe_current_exception();
  }
  return {};
}

void Hdf5ChunkedSink::progress() {
  if (abandoned_) return;
  if (receiver_) return receiver_->progress(completed_ ? all_parts : parts_);
  if (failed_) {
    outbox_->discard();
    sender_->end();
  }
  sender_->progress();
}

/// Follows, from the plan alone, how many parts this rank's output has by now; the writer may have dropped
/// some.
void Hdf5ChunkedSink::count_parts(StepIndex step) {
  if (step == counted_step_) return;
  counted_step_ = step;
  if (plan_.rows(step)) parts_under_way_.push_back(++parts_);
  const std::size_t lag = synchronous_ ? 0 : lag_;
  while (parts_under_way_.size() > lag) {
    due_part_ = parts_under_way_.front();
    parts_under_way_.pop_front();
  }
  const bool has_final = std::any_of(plan_.streams.begin(), plan_.streams.end(), [&](const auto& stream) {
    return stream.reduction == Reduction::final && stream.cadence.last == step;
  });
  if (has_final) due_part_ = ++parts_;
}

bool Hdf5ChunkedSink::keeps_up(StepIndex step) {
  count_parts(step);
  progress();
  if (sender_) return sender_->has_sent(due_part_);
  return receiver_->has_part(due_part_) && (!synchronous_ || file_->queue().idle());
}

void Hdf5ChunkedSink::wait_until_moved() {
  const auto moved = [&] { return receiver_ ? receiver_->all_ended() : sender_->ended(); };
  const double start_s = monotonic_s();
  Backoff backoff;
  for (progress(); !moved(); progress()) {
    if (monotonic_s() - start_s > close_limit_s)
      throw Error(ErrorKind::internal,
                  fmt::format("{}: samples still under way between ranks after {} s", path_, close_limit_s));
    backoff.pause();
  }
}

/// The samples that were submitted are a part, what is left of them in incomplete chunks another one.
void Hdf5ChunkedSink::finalize() {
  due_part_ = parts_ += 2;
  parts_under_way_.clear();
  const auto failure = try_to_post_rest();
  const auto moved = [&] {
    progress();
    return sender_ ? sender_->has_sent(due_part_) : receiver_->has_part(due_part_);
  };
  for (Backoff backoff; !moved();) backoff.pause();
  if (failure) throw Error(*failure);
}

/// Chunks that take more samples continue from what is in the file, as those of a run that resumes.
StepIndex Hdf5ChunkedSink::commit() {
  std::int64_t recorded = 0;
  mpi::collectively_on_root(comm_, [&] { recorded = file_->save(); });
  recorded = mpi::max(comm_, recorded);
  for (auto& stream : datasets_) stream.mark_present(recorded);
  return recorded;
}

void Hdf5ChunkedSink::complete() {
  completed_ = true;
  auto failure = try_to_post_rest();
  if (sender_) sender_->end();
  wait_until_moved();
  if (file_) {
    file_->finish();
    if (file_->failure()) failure = file_->failure();
  }
  if (failure) throw Error(*failure);
}

void Hdf5ChunkedSink::abandon() noexcept {
  abandoned_ = true;
  if (outbox_) outbox_->discard();
}

void Hdf5ChunkedSink::close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) {
  const auto close_here = [&] {
    if (!comm.is_root()) return;
    with_path(path_, [&] { write_tail(path_, tail, end.complete); });
    RawFile file(path_, make_plain_call());
    file.flush();
    file.close();
  };
  mpi::collectively(comm, close_here, close_limit_s);
  comm_.close();
}

}  // namespace

std::unique_ptr<Sink> create_hdf5_chunked_sink(const SinkContext& context) {
  return std::make_unique<Hdf5ChunkedSink>(context);
}

}  // namespace tailrace::output
