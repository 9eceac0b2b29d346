// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "output/core/pack.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// Values [first, first + count) of one of several shares.
struct SomeValues {
  std::size_t share = 0;
  std::int64_t first = 0, count = 0;
};

/// Distributes the values of shares, one behind the other, over as few staging buffers as hold them.
std::vector<std::vector<SomeValues>> values_of_jobs(const std::vector<Share>& shares,
                                                    std::int64_t buffer_bytes) {
  std::vector<std::vector<SomeValues>> jobs;
  std::int64_t room = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto each = static_cast<std::int64_t>(h5::size_bytes(shares[i].type));
    for (std::int64_t first = 0; first < shares[i].values;) {
      if (room < each) {
        jobs.emplace_back();
        room = buffer_bytes;
      }
      const std::int64_t count = std::min(room / each, shares[i].values - first);
      jobs.back().push_back({i, first, count});
      first += count;
      room -= staged_bytes(count * each);
    }
  }
  return jobs;
}

std::string text_of(const Box& box) {
  const auto& [lo, hi] = box;
  return fmt::format("x {} to {}, y {} to {}, z {} to {}", lo.x, hi.x - 1, lo.y, hi.y - 1, lo.z, hi.z - 1);
}

/// What is wrong with a field that a program gives; nothing if it can be sampled.
std::string fault_of(const FieldView& view, const Box& own_box, bool has_device) {
  if (view.data == nullptr) return "has no data";
  if (view.type != h5::ElementType::float32 && view.type != h5::ElementType::float64)
    return fmt::format("has elements of {}", h5::to_string(view.type));
  if (intersect(view.box, own_box) != own_box) return fmt::format("is of {}", text_of(view.box));
  if (view.memory == Memory::device && !has_device)
    return "is in the memory of a device that the output was not given";
  return {};
}

}  // namespace

std::vector<RunningStream> running_streams(const Plan& plan) {
  std::vector<RunningStream> streams;
  std::size_t datasets = 0;
  for (const auto& stream : plan.streams) {
    streams.emplace_back(stream, datasets);
    datasets += stream.datasets.size();
  }
  return streams;
}

Sampler::Sampler(const Plan& plan, std::vector<RunningStream> streams, int rank, OutputPipeline& pipeline,
                 trace::Log& log, std::unique_ptr<DeviceSampler> device, std::unique_ptr<RowPlaces> rows)
    : plan_(plan),
      streams_(std::move(streams)),
      rank_(rank),
      pipeline_(pipeline),
      log_(log),
      staged_extents_per_step_(shares_of(plan).size()),
      device_(std::move(device)),
      rows_(std::move(rows)) {}

std::vector<RunningStream>& Sampler::streams() {
  if (!device_) return streams_;
  device_->collect_spans();
  for (auto& stream : streams_)
    for (auto& accumulator : stream.accumulators) device_->fetch(accumulator);
  return streams_;
}

bool Sampler::reduces() const noexcept {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const RunningStream& stream) { return stream.accumulates(); });
}

FieldView Sampler::field_of(const PlannedStream& stream, const FieldLookup& field) const {
  const FieldView view = field(stream.quantity);
  const auto fault = fault_of(view, plan_.own_box, device_ != nullptr);
  if (fault.empty()) return view;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("output {}: the field {} of rank {} {}", stream.name,
                                               stream.quantity, rank_, fault),
                        .path = {},
                        .rank = rank_,
                        .hint = fmt::format("32-bit or 64-bit floats at all points of the own box, {}",
                                            text_of(plan_.own_box))});
}

// Samples

void Sampler::take(StepIndex step, const FieldLookup& field, const RowsLookup& rows, bool flush) {
  if (!pipeline_.failure()) pipeline_.guard([&] { take_values(step, field, rows, flush); });
  take_no_rows(step);
}

void Sampler::take_values(StepIndex step, const FieldLookup& field, const RowsLookup& rows, bool flush) {
  try_to_place_rows();
  if (pipeline_.idle()) submit_batch();
  accumulate(step, field);
  if (plan_.rows(step)) take_samples(step, field, rows, flush);
  bool has_final = false;
  for (auto& stream : streams_) {
    if (!stream.is_final() || step != stream.planned->cadence.last) continue;
    take_final(stream, step, field);
    has_final = true;
  }
  if (has_final) submit_commit_mark(step);
}

void Sampler::accumulate(StepIndex step, const FieldLookup& field) {
  for (auto& stream : streams_) {
    if (!stream.accumulates() || !stream.planned->cadence.is_due(step)) continue;
    ++stream.samples;
    if (stream.accumulators.empty()) continue;
    const trace::Scope scope(log_, trace::Kind::pack, step, stream.planned->sample_bytes());
    const FieldView view = field_of(*stream.planned, field);
    for (auto& accumulator : stream.accumulators)
      if (view.memory == Memory::device)
        device_->add(accumulator, stream.planned->reduction, view);
      else
        accumulator.add(view, plan_.own_box);
  }
}

/// Puts the samples of a step into the buffer that is being filled. It leaves as soon as the writer has
/// nothing else to do or the next step would not fit: while the writer is busy, small samples are gathered
/// to larger writes.
void Sampler::take_samples(StepIndex step, const FieldLookup& field, const RowsLookup& rows, bool flush) {
  place_rows();
  const bool rows_follow = rows_ && rows_->any_due(step);
  if (rows_follow) rows_->begin(step, &rows, flush);
  if (!batch_) batch_.emplace(pipeline_.acquire(step));
  Staging& job = **batch_;
  job.step = step;
  pack_samples(step, field, job);
  if (rows_follow) return submit_batch();  // the commit mark comes behind the rows
  job.commit_mark = step;
  job.flush = job.flush || flush;
  take_rows(step, rows, job);
  const auto next = static_cast<std::size_t>(plan_.step_bytes());
  const bool full = job.room() < next ||
                    job.staged_extents.size() + staged_extents_per_step_ > plan_.staged_extents_per_buffer();
  // Others may wait for what is to be moved.
  if (next == 0 || full || !pipeline_.batches() || pipeline_.idle()) submit_batch();
}

void Sampler::pack_samples(StepIndex step, const FieldLookup& field, Staging& job) {
  const trace::Scope scope(log_, trace::Kind::pack, step);
  for (const auto& stream : streams_) {
    const auto& planned = *stream.planned;
    if (!stream.unreduced() || !planned.cadence.is_due(step) || planned.shares.empty()) continue;
    if (planned.takes_rows()) continue;
    const FieldView view = field_of(planned, field);
    const StepIndex number = planned.cadence.samples_until(step) - 1;
    for (const auto& share : planned.shares)
      pack_into(view, share, 0, share.values, job, job.add(share, number, 0, share.values));
  }
  if (const auto* const arrival = end_packing()) batch_arrival_ = arrival;
}

void Sampler::pack_into(const FieldView& view, const Share& share, std::int64_t first, std::int64_t count,
                        Staging& job, std::span<std::byte> out) {
  if (view.memory == Memory::host) return pack(view, share, plan_.own_box, first, count, out);
  if (!packs_on_device_) {
    device_->begin(job.step, [&](const auto& action) { pipeline_.wait(job.step, action); });
    // Buffers of streams with rows may be replaced by larger ones.
    if (plan_.streams.end() ==
        std::ranges::find_if(plan_.streams, [](const auto& stream) { return stream.takes_rows(); }))
      pipeline_.pin(job, device_->device());
    packs_on_device_ = true;
  }
  device_->pack(view, share, first, count, out);
}

/// Starts the copies of what was packed on the device; returns what to wait for, if anything.
const device::Event* Sampler::end_packing() {
  return std::exchange(packs_on_device_, false) ? &device_->end() : nullptr;
}

void Sampler::take_rows(StepIndex step, const RowsLookup& rows, Staging& job) {
  if (rows_) return;
  for (const auto& stream : streams_) {
    const auto& planned = *stream.planned;
    if (!planned.takes_rows() || !planned.cadence.is_due(step)) continue;
    const RowsView view = rows(planned.quantity);
    const auto bytes = static_cast<std::size_t>(view.count * planned.row_bytes());
    const trace::Scope scope(log_, trace::Kind::pack, step, static_cast<std::int64_t>(bytes));
    if (bytes > 0)
      job.add_rows(stream.first_dataset, planned.cadence.samples_until(step) - 1,
                   {static_cast<const std::byte*>(view.data), bytes});
  }
}

/// After a failure: takes part in the sample of rows of a step with none, unless it has them already.
void Sampler::take_no_rows(StepIndex step) {
  if (!rows_ || !rows_->any_due(step) || rows_->begun(step)) return;
  place_rows();
  rows_->begin(step, nullptr, false);
}

void Sampler::try_to_place_rows() {
  if (rows_ && rows_->pending() && rows_->complete()) place_rows();
}

void Sampler::place_rows() {
  if (!rows_ || !rows_->pending()) return;
  const StepIndex step = rows_->step();
  if (!rows_->complete()) pipeline_.wait(step, [this] { rows_->wait(); });
  const auto taken = rows_->take();
  if (pipeline_.failure()) return;  // the sample is not complete
  for (const auto& placed : taken) submit_rows(placed, step);
  Lease job = pipeline_.acquire(step);
  rows_->count_into(*job);
  job->step = step;
  job->commit_mark = step;
  job->flush = rows_->flush();
  submit(std::move(job));
}

void Sampler::submit_rows(const RowPlaces::Placed& rows, StepIndex step) {
  const Share& share = rows.stream->shares.front();
  const auto all = static_cast<std::int64_t>(rows.bytes.size() / h5::size_bytes(share.type));
  const std::int64_t begin = rows.first * rows.stream->components, room = batch_of(share);
  for (std::int64_t first = 0; first < all; first += room) {
    const std::int64_t count = std::min(room, all - first);
    Lease job = pipeline_.acquire(step);
    const auto out = job->add(share, 0, begin + first, count);
    std::memcpy(out.data(), rows.bytes.data() + static_cast<std::size_t>(first) * h5::size_bytes(share.type),
                out.size());
    job->step = step;
    submit(std::move(job));
  }
}

// One value per point

void Sampler::take_final(StepIndex step, const FieldLookup& field) {
  pipeline_.guard([&] {
    for (auto& stream : streams_)
      if (stream.is_final() && stream.taken_at != step) take_final(stream, step, field);
  });
}

void Sampler::take_final(RunningStream& stream, StepIndex step, const FieldLookup& field) {
  const bool has_values = !stream.planned->shares.empty();
  const FieldView view = has_values ? field_of(*stream.planned, field) : FieldView{};
  submit_final(stream, step, [&](const Share& share, std::int64_t first, std::int64_t count, Staging& job) {
    pack_into(view, share, first, count, job, job.add(share, 0, first, count));
  });
}

void Sampler::take_final(RunningStream& stream, StepIndex step, const ShareFill& fill) {
  submit_final(stream, step, [&](const Share& share, std::int64_t first, std::int64_t count, Staging& job) {
    fill(share, first, count, job.add(share, 0, first, count));
  });
}

template <class Fill>
void Sampler::submit_final(RunningStream& stream, StepIndex step, const Fill& fill) {
  submit_batch();
  stream.taken_at = step;
  const auto& shares = stream.planned->shares;
  submit_values(shares, step, [&](std::size_t share, std::int64_t first, std::int64_t count, Staging& job) {
    fill(shares[share], first, count, job);
  });
  submit_missing(stream, step);
}

void Sampler::write_final(StepIndex step, const ShareFill& fill) {
  for (auto& stream : streams_)
    if (stream.is_final()) take_final(stream, step, fill);
  submit_commit_mark(step, true);
}

void Sampler::write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step) {
  auto first = streams_.end();
  for (std::size_t left = reductions.size(); left > 0;) left -= (--first)->planned->datasets.size();
  const auto fill = [&](const Share& share, std::int64_t begin, std::int64_t, std::span<std::byte> out) {
    const auto& values = reductions[share.dataset - first->first_dataset].values;
    std::memcpy(out.data(), values.data() + static_cast<std::size_t>(begin) * h5::size_bytes(share.type),
                out.size());
  };
  for (auto stream = first; stream != streams_.end(); ++stream) take_final(*stream, step, ShareFill(fill));
}

void Sampler::write_reductions(StepIndex last_step, Ending ending) {
  for (const auto& stream : streams()) {
    if (!stream.accumulates() || (ending == Ending::closed_for_restart && stream.samples == 0)) continue;
    const auto& accumulators = stream.accumulators;
    submit_values(stream.planned->shares, last_step,
                  [&](std::size_t share, std::int64_t first, std::int64_t count, Staging& job) {
                    const auto out = job.add(accumulators[share].share(), 0, first, count);
                    if (ending == Ending::closed_for_restart)
                      accumulators[share].unfinished(first, count, out);
                    else
                      accumulators[share].result(stream.samples, first, count, out);
                  });
    submit_missing(stream, last_step);
  }
}

/// Values of a share that one buffer holds.
std::int64_t Sampler::batch_of(const Share& share) const {
  return static_cast<std::int64_t>(static_cast<std::size_t>(plan_.staging_bytes()) /
                                   h5::size_bytes(share.type));
}

/// Writes one value per point of a stream; `fill` adds values [first, first + count) of a share to a buffer.
template <class Fill>
void Sampler::submit_values(const std::vector<Share>& shares, StepIndex step, const Fill& fill) {
  for (const auto& values : values_of_jobs(shares, plan_.staging_bytes())) {
    Lease job = pipeline_.acquire(step);
    trace::Scope scope(log_, trace::Kind::pack, step);
    for (const auto& [share, first, count] : values) fill(share, first, count, *job);
    scope.stop();
    pipeline_.submit(std::move(job), end_packing());
  }
}

// Jobs

/// Jobs by which this rank writes one value per point of a stream.
std::int64_t Sampler::own_jobs(const PlannedStream& stream) const {
  return std::ssize(values_of_jobs(stream.shares, plan_.staging_bytes()));
}

void Sampler::count_jobs(mpi::CommView comm) {
  for (auto& stream : streams_)
    if (!stream.unreduced()) stream.jobs = mpi::max(comm, own_jobs(*stream.planned));
}

/// Jobs without values, where the sink wants as many of all ranks.
void Sampler::submit_missing(const RunningStream& stream, StepIndex step) {
  for (auto jobs = own_jobs(*stream.planned); jobs < stream.jobs; ++jobs) submit(pipeline_.acquire(step));
}

void Sampler::submit(Lease job) {
  pipeline_.submit(std::move(job));
}

void Sampler::submit_batch() {
  if (batch_) pipeline_.submit(std::move(*batch_), batch_arrival_);
  batch_.reset();
  batch_arrival_ = nullptr;
}

void Sampler::submit_taken() {
  place_rows();
  submit_batch();
}

void Sampler::submit_commit_mark(StepIndex step, bool flush) {
  place_rows();
  Lease job = pipeline_.acquire(step);
  job->commit_mark = step;
  job->flush = flush;
  submit(std::move(job));
}

bool Sampler::try_to_submit_commit_mark(StepIndex step, bool flush) {
  if (rows_ && rows_->pending() && !rows_->complete()) return false;
  place_rows();
  submit_batch();
  auto job = pipeline_.writer().try_acquire();
  if (!job) return false;
  (*job)->step = step;
  (*job)->commit_mark = step;
  (*job)->flush = flush;
  submit(std::move(*job));
  return true;
}

}  // namespace tailrace::output
