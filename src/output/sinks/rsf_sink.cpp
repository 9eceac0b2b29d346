// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "mpi/verdict.hpp"
#include "output/sinks/hdf5_sink.hpp"
#include "output/sinks/rsf_files.hpp"
#include "output/sinks/sinks.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// The file of the sink `hdf5`, whose values are in the raw files of RSF headers.
class RsfSink final : public Hdf5Sink {
 public:
  RsfSink(const SinkContext& context, std::vector<RsfFile> files)
      : Hdf5Sink(context, lay_out(context, files), make_plain_call),
        joins_(context.joins),
        files_(std::move(files)),
        reported_(files_.size()) {}

  void commit_mark(int source, StepIndex steps) override {
    Hdf5Sink::commit_mark(source, steps);
    report_recorded();
  }

  void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) override {
    Hdf5Sink::close(comm, tail, end);
    mpi::collectively(comm, [&] {
      if (failure_) throw Error(*failure_);
      if (comm.is_root() && !joins_) finish(end);
    });
  }

 protected:
  /// None that anybody else writes: `mark_recorded` does, together with the headers.
  [[nodiscard]] Slots commit_mark(int) const override { return {}; }
  /// On the simulation's thread, which must not fail alone.
  void mark_recorded(int source, StepIndex steps) override {
    if (failure_) return;
    try {
      commit_mark(source, steps);
    } catch (...) {
      failure_ = describe_current_exception();
    }
  }

 private:
  static Hdf5Layout lay_out(const SinkContext& context, const std::vector<RsfFile>& files) {
    Hdf5Places places;
    mpi::collectively_on_root(context.comm, [&] {
      if (!context.joins) create_rsf(context, files);
      places = rsf_places(context, files);
    });
    return {context, std::move(places)};
  }

  /// Has the headers state what all ranks have recorded. Every process that advances a slot does so,
  /// because each may be the last one. Whoever has written looks again: another one may have reported more
  /// meanwhile.
  void report_recorded() {
    while (report(recorded_by_all())) {
    }
  }

  /// The step up to which all ranks have recorded.
  [[nodiscard]] StepIndex recorded_by_all() {
    const auto& places = layout().places();
    slots_.resize(static_cast<std::size_t>(places.commit_mark_slots));
    const auto bytes = std::as_writable_bytes(std::span(slots_));
    const int file = open(layout().path().c_str(), O_RDONLY | O_CLOEXEC);
    const auto taken = file < 0 ? -1 : pread(file, bytes.data(), bytes.size(), places.commit_mark);
    const int error = errno;
    if (file >= 0) ::close(file);
    if (taken != static_cast<ssize_t>(bytes.size()))
      throw file_failure(layout().path(), "reading the commit mark", places.commit_mark,
                         taken < 0 ? error : EIO);
    return static_cast<StepIndex>(*std::min_element(slots_.begin(), slots_.end()));
  }

  /// Has the headers state the samples up to a step, as the commit mark has it; false if they have done so.
  bool report(StepIndex step) {
    bool any = false;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto& file = files_[i];
      if (file.header.empty() || !file.is_series()) continue;
      const StepIndex samples = step > 0 ? file.stream->cadence.samples_until(step) : 0;
      if (samples <= reported_[i]) continue;
      report_samples(file, samples);
      reported_[i] = samples;
      any = true;
    }
    return any;
  }

  /// What a run that stopped early did not use is cut off.
  void finish(const FileEnd& end) {
    if (!end.complete) return;
    report(end.steps);
    for (const auto& file : files_) {
      if (file.header.empty() || !file.is_series()) continue;
      const auto& cadence = file.stream->cadence;
      const auto used = file.bytes() / cadence.samples() * cadence.samples_until(end.steps);
      std::filesystem::resize_file(file.data, static_cast<std::uintmax_t>(used));
    }
  }

  bool joins_;
  std::vector<RsfFile> files_;
  std::vector<StepIndex> reported_;   ///< samples, by file
  std::vector<std::uint64_t> slots_;  ///< refers to the commit mark, for `recorded_by_all`
  std::optional<ErrorInfo> failure_;  ///< refers to `mark_recorded`
};

}  // namespace

std::unique_ptr<Sink> create_rsf_sink(const SinkContext& context) {
  std::vector<RsfFile> files;
  mpi::collectively(context.comm, [&] { files = rsf_files(context.path, context.plan); });
  return std::make_unique<RsfSink>(context, std::move(files));
}

}  // namespace tailrace::output
