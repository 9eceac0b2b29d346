// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "device/devices.hpp"
#include "mpi/verdict.hpp"
#include "output/core/groups.hpp"
#include "output/session/contents.hpp"
#include "output/session/session.hpp"
#include "tailrace/output.hpp"

namespace tailrace::output {

Stream make_stream(const std::string& name, const std::string& quantity, Selection selection, Cadence cadence,
                   Reduction reduction, Index3 domain, h5::ElementType type) {
  Problems problems("output " + name);
  check_cadence(cadence, problems);
  if (cadence.is_open()) problems.add("its samples have no last step", "give one");
  if (const auto* boxes = std::get_if<Boxes>(&selection); boxes != nullptr && boxes->boxes.size() != 1)
    problems.add(fmt::format("{} boxes", boxes->boxes.size()), "give one, and other boxes a stream each");
  problems.throw_if_any();
  Stream stream{.name = name,
                .quantity = quantity,
                .unit = {},
                .selection = std::move(selection),
                .reduction = reduction,
                .cadence = std::move(cadence),
                .datasets = {}};
  stream.datasets = {values_dataset(stream, domain, type)};
  return stream;
}

namespace {

/// The steps that the streams' samples say are to come; 0 where one of them is open.
StepIndex planned_steps(const std::vector<Stream>& streams) {
  StepIndex planned = 0;
  for (const auto& stream : streams) {
    if (stream.cadence.is_open()) return 0;
    planned = std::max(planned, stream.cadence.last);
  }
  return planned;
}

FileHead head_of(const OutputContents& contents) {
  FileHead head;
  add_step_counts(planned_steps(contents.streams), head);
  for (const auto& stream : contents.streams) add_group(stream, words_of(stream), contents.frame, head);
  return head;
}

/// The first step after `after` at which the stream takes a sample; open_end if there is none.
StepIndex next_due(const Stream& stream, StepIndex after) {
  const Cadence& cadence = stream.cadence;
  if (stream.reduction == Reduction::final) return after < cadence.last ? cadence.last : Cadence::open_end;
  const StepIndex sample = cadence.samples_until(after);
  return sample < cadence.samples() ? cadence.step_of(sample) : Cadence::open_end;
}

/// The device of this rank, if it has one. @collective{comm}
std::unique_ptr<device::Device> device_of(mpi::CommView comm, const OutputContents& contents) {
  std::unique_ptr<device::Device> opened;
  mpi::collectively(comm, [&] {
    if (contents.device) opened = device::open_device(contents.device->device);
  });
  return opened;
}

}  // namespace

class OutputFile::Impl {
 public:
  Impl(mpi::CommView comm, const std::string& path, OutputContents contents, const WriteOptions& options)
      : path_(path),
        contents_(std::move(contents)),
        options_(check_contents(comm, path, contents_, options)),
        device_(device_of(comm, contents_)),
        session_(comm, path, make_plan(contents_.streams, contents_.own_box, contents_.frame.domain),
                 head_of(contents_), options_, log_, {.services = services()}) {}

  /// Errors (usage): the file has been finished.
  Session& session() {
    if (finished_)
      throw Error(ErrorKind::usage, path_ + ": a call after finish", "an OutputFile for each file");
    return session_;
  }
  void sample(StepIndex step, const FieldLookup& field) {
    const auto what = fmt::format("step {} is sampled", step);
    session().guard([&] { check_ascends(step > last_sample_, what); });
    leave_out_until(step, what);
    last_sample_ = std::max(last_sample_, step);
    session_.sample(step, field);
  }
  [[nodiscard]] bool failed() const { return session_.failure().has_value(); }

  void finish(StepIndex last_step) {
    const auto what = fmt::format("finished after step {}", last_step);
    session();
    leave_out_until(last_step + 1, what);
    end_alike(last_step, what);
    session_.check_together([&] { check_ascends(last_step >= last_sample_, what); });
    finished_ = true;
    FileTail tail;
    const StepIndex planned = planned_steps(contents_.streams);
    if (planned > 0) put_step_count(steps_path, std::max(planned, last_step), tail);
    put_step_count(steps_done_path, last_step, tail);
    for (const auto& stream : contents_.streams)
      if (stream.reduction != Reduction::final || last_sample_ >= stream.cadence.last)  // else it has none
        add_last_step(stream, contents_.frame, last_step, tail);
    session_.finish(last_step, tail);
  }

 private:
  /// Errors (usage): not `ascends`. `what` says what is to be done.
  void check_ascends(bool ascends, const std::string& what) const {
    if (ascends) return;
    throw Error(ErrorKind::usage, fmt::format("{}: {} after a sample of step {}", path_, what, last_sample_),
                "steps that ascend, each once");
  }
  /// Fails if samples were due before `before` and not taken. Takes part, without values, in what the ranks
  /// do together at those steps: others may wait for it.
  void leave_out_until(StepIndex before, const std::string& what) {
    while (const Stream* const stream = first_due_before(before)) {
      session_.guard([&] {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: {}, and output {} has no sample of a step that was due before", path_,
                                what, stream->name),
                    "a call of `sample` for each step in which samples are due");
      });
      last_sample_ = next_due(*stream, last_sample_);
      session_.sample(last_sample_, [](const std::string&) { return FieldView{}; });
    }
  }
  /// The stream whose next sample is due first, if it is before `before`.
  [[nodiscard]] const Stream* first_due_before(StepIndex before) const {
    const Stream* first = nullptr;
    for (const auto& stream : contents_.streams)
      if (const auto due = next_due(stream, last_sample_); due < before) {
        before = due;
        first = &stream;
      }
    return first;
  }
  /// Fails on all ranks if they were given different last steps. @collective{comm}
  void end_alike(StepIndex last_step, const std::string& what) {
    const auto last = mpi::max(session_.comm(), last_step), first = -mpi::max(session_.comm(), -last_step);
    if (first == last) return;
    session_.guard([&] {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: finished after step {} on one rank, after step {} on another", path_, first, last),
          "the step of the last state, the same on all ranks");
    });
    leave_out_until(last + 1, what);
  }
  [[nodiscard]] SessionServices services() const {
    return {.device = device_.get(), .device_stream = contents_.device ? contents_.device->stream : nullptr};
  }

  std::string path_;
  OutputContents contents_;
  WriteOptions options_;
  trace::Log log_{"main"};
  std::unique_ptr<device::Device> device_;
  Session session_;
  StepIndex last_sample_ = std::numeric_limits<StepIndex>::min();  ///< of the calls of `sample`
  bool finished_ = false;
};

OutputFile::OutputFile(mpi::CommView comm, const std::string& path, OutputContents contents,
                       const WriteOptions& options)
    : impl_(std::make_unique<Impl>(comm, path, std::move(contents), options)) {}

OutputFile::~OutputFile() = default;

void OutputFile::sample(StepIndex step, const FieldLookup& field) {
  impl_->sample(step, field);
}
bool OutputFile::failed() const {
  return impl_->failed();
}
StepIndex OutputFile::flush() {
  return impl_->session().flush_all();
}
void OutputFile::finish(StepIndex last_step) {
  impl_->finish(last_step);
}

}  // namespace tailrace::output
