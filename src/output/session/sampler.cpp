#include "output/session/sampler.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "output/core/pack.hpp"

namespace tailrace::output {

std::vector<RunningStream> running_streams(const Plan& plan) {
  std::vector<RunningStream> streams;
  std::size_t datasets = 0;
  for (const auto& stream : plan.streams) {
    streams.emplace_back(stream, datasets);
    datasets += stream.datasets.size();
  }
  return streams;
}

Sampler::Sampler(const Plan& plan, std::vector<RunningStream> streams, Outlet& outlet, trace::Log& log)
    : plan_(plan),
      streams_(std::move(streams)),
      outlet_(outlet),
      log_(log),
      slices_per_step_(pieces_of(plan).size()) {}

bool Sampler::reduces() const noexcept {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const RunningStream& stream) { return stream.accumulates(); });
}

FieldView Sampler::field_of(const PlannedStream& stream, const FieldLookup& field) const {
  const FieldView view = field(stream.quantity);
  TAILRACE_CHECK(view.data != nullptr && intersect(view.box, plan_.own_box) == plan_.own_box,
                 "the field of a quantity covers this rank's box");
  return view;
}

// Samples

void Sampler::take(StepIndex step, const FieldLookup& field, const RecordsLookup& records, bool flush) {
  if (outlet_.writer().idle()) submit_gathered();
  accumulate(step, field);
  if (plan_.records(step)) take_samples(step, field, records, flush);
  bool has_final = false;
  for (auto& stream : streams_) {
    if (!stream.is_final() || step != stream.planned->cadence.last) continue;
    take_final(stream, step, field);
    has_final = true;
  }
  if (has_final) submit_record(step);
}

void Sampler::accumulate(StepIndex step, const FieldLookup& field) {
  for (auto& stream : streams_) {
    if (!stream.accumulates() || !stream.planned->cadence.is_due(step)) continue;
    ++stream.samples;
    if (stream.accumulators.empty()) continue;
    const trace::Scope scope(log_, trace::Kind::pack, step, stream.planned->sample_bytes());
    const FieldView view = field_of(*stream.planned, field);
    for (auto& accumulator : stream.accumulators) accumulator.add(view, plan_.own_box);
  }
}

/// Puts the samples of a step into the buffer that is being filled. It leaves as soon as the writer has
/// nothing else to do or the next step would not fit: while the writer is busy, small samples are gathered
/// to larger writes.
void Sampler::take_samples(StepIndex step, const FieldLookup& field, const RecordsLookup& records,
                           bool flush) {
  if (!gathering_) gathering_.emplace(outlet_.acquire(step));
  Staging& job = **gathering_;
  pack_samples(step, field, job);
  job.step = step;
  job.record = step;
  job.flush = job.flush || flush;
  take_records(step, records, job);
  const auto next = static_cast<std::size_t>(plan_.step_bytes());
  const bool full = job.room() < next || job.slices.size() + slices_per_step_ > plan_.slices_per_buffer();
  // Others may wait for what is to be moved.
  const auto& writer = outlet_.writer();
  if (outlet_.exchange() != nullptr || next == 0 || full || !writer.gathers() || writer.idle())
    submit_gathered();
}

void Sampler::pack_samples(StepIndex step, const FieldLookup& field, Staging& job) {
  const trace::Scope scope(log_, trace::Kind::pack, step);
  for (const auto& stream : streams_) {
    const auto& planned = *stream.planned;
    if (!stream.unreduced() || !planned.cadence.is_due(step) || planned.pieces.empty()) continue;
    const FieldView view = field_of(planned, field);
    const StepIndex number = planned.cadence.samples_until(step) - 1;
    for (const auto& piece : planned.pieces)
      pack(view, piece, plan_.own_box, 0, piece.values, job.add(piece, number, 0, piece.values));
  }
}

void Sampler::take_records(StepIndex step, const RecordsLookup& records, Staging& job) {
  for (const auto& stream : streams_) {
    const auto& planned = *stream.planned;
    if (!planned.takes_records() || !planned.cadence.is_due(step)) continue;
    const RecordsView view = records(planned.quantity);
    const auto bytes = static_cast<std::size_t>(view.count * planned.record_bytes());
    const trace::Scope scope(log_, trace::Kind::pack, step, static_cast<std::int64_t>(bytes));
    if (bytes > 0)
      job.add_records(stream.first_dataset, planned.cadence.samples_until(step) - 1,
                      {static_cast<const std::byte*>(view.data), bytes});
  }
}

// One value per point

void Sampler::take_final(StepIndex step, const FieldLookup& field) {
  for (auto& stream : streams_)
    if (stream.is_final() && stream.taken_at != step) take_final(stream, step, field);
}

void Sampler::take_final(RunningStream& stream, StepIndex step, const FieldLookup& field) {
  const bool has_values = !stream.planned->pieces.empty();
  const FieldView view = has_values ? field_of(*stream.planned, field) : FieldView{};
  take_final(
      stream, step,
      PieceFill([&](const Piece& piece, std::int64_t first, std::int64_t count, std::span<std::byte> out) {
        pack(view, piece, plan_.own_box, first, count, out);
      }));
}

void Sampler::take_final(RunningStream& stream, StepIndex step, const PieceFill& fill) {
  submit_gathered();
  stream.taken_at = step;
  for (const auto& piece : stream.planned->pieces)
    submit_in_portions(piece, step, [&](std::int64_t first, std::int64_t count, std::span<std::byte> out) {
      fill(piece, first, count, out);
    });
  submit_missing(stream, step);
}

void Sampler::write_final(StepIndex step, const PieceFill& fill) {
  for (auto& stream : streams_)
    if (stream.is_final()) take_final(stream, step, fill);
  submit_record(step, true);
}

void Sampler::write_accumulators(const std::vector<RunningReduction>& reductions, StepIndex step) {
  auto first = streams_.end();
  for (std::size_t left = reductions.size(); left > 0;) left -= (--first)->planned->datasets.size();
  const auto fill = [&](const Piece& piece, std::int64_t begin, std::int64_t, std::span<std::byte> out) {
    const auto& values = reductions[piece.dataset - first->first_dataset].values;
    std::memcpy(out.data(), values.data() + static_cast<std::size_t>(begin) * h5::size_bytes(piece.type),
                out.size());
  };
  for (auto stream = first; stream != streams_.end(); ++stream) take_final(*stream, step, PieceFill(fill));
}

void Sampler::write_reductions(StepIndex last_step, Ending ending) {
  for (const auto& stream : streams_) {
    if (!stream.accumulates() || (ending == Ending::suspended && stream.samples == 0)) continue;
    for (const auto& accumulator : stream.accumulators)
      submit_in_portions(accumulator.piece(), last_step,
                         [&](std::int64_t first, std::int64_t count, std::span<std::byte> out) {
                           if (ending == Ending::suspended)
                             accumulator.unfinished(first, count, out);
                           else
                             accumulator.result(stream.samples, first, count, out);
                         });
    submit_missing(stream, last_step);
  }
}

/// Values of a piece that one buffer holds.
std::int64_t Sampler::portion_of(const Piece& piece) const {
  return static_cast<std::int64_t>(static_cast<std::size_t>(plan_.staging_bytes()) /
                                   h5::size_bytes(piece.type));
}

/// Writes one value per point through as many buffers as it takes; `fill` puts values [first, first +
/// count) into a buffer.
template <class Fill>
void Sampler::submit_in_portions(const Piece& piece, StepIndex step, const Fill& fill) {
  const std::int64_t room = portion_of(piece);
  for (std::int64_t first = 0; first < piece.values; first += room) {
    const std::int64_t count = std::min(room, piece.values - first);
    Lease job = outlet_.acquire(step);
    trace::Scope scope(log_, trace::Kind::pack, step);
    fill(first, count, job->add(piece, 0, first, count));
    scope.stop();
    submit(std::move(job));
  }
}

// Jobs

/// Jobs by which this rank writes one value per point of a stream.
std::int64_t Sampler::own_jobs(const PlannedStream& stream) const {
  std::int64_t jobs = 0;
  for (const auto& piece : stream.pieces) jobs += (piece.values - 1) / portion_of(piece) + 1;
  return jobs;
}

void Sampler::count_jobs(mpi::CommView comm) {
  for (auto& stream : streams_)
    if (!stream.unreduced()) stream.jobs = mpi::max(comm, own_jobs(*stream.planned));
}

/// Jobs without values, where the sink wants as many of all ranks.
void Sampler::submit_missing(const RunningStream& stream, StepIndex step) {
  for (auto jobs = own_jobs(*stream.planned); jobs < stream.jobs; ++jobs) submit(outlet_.acquire(step));
}

void Sampler::submit_gathered() {
  if (gathering_) submit(std::move(*gathering_));
  gathering_.reset();
}

void Sampler::submit_record(StepIndex step, bool flush) {
  Lease job = outlet_.acquire(step);
  job->record = step;
  job->flush = flush;
  submit(std::move(job));
}

bool Sampler::try_to_submit_record(StepIndex step, bool flush) {
  submit_gathered();
  auto job = outlet_.writer().try_acquire();
  if (!job) return false;
  (*job)->step = step;
  (*job)->record = step;
  (*job)->flush = flush;
  submit(std::move(*job));
  return true;
}

}  // namespace tailrace::output
