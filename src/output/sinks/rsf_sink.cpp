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

/// The file of the sink `hdf5`, whose values stand in the raw files of RSF headers.
class RsfSink final : public Hdf5Sink {
 public:
  RsfSink(const SinkContext& context, std::vector<RsfFile> files)
      : Hdf5Sink(context, lay_out(context, files), make_plain_call),
        joins_(context.joins),
        files_(std::move(files)),
        told_(files_.size()) {}

  void record(int source, StepIndex steps) override {
    Hdf5Sink::record(source, steps);
    tell_recorded();
  }

  void close(mpi::CommView comm, const FileTail& tail, const FileEnd& end) override {
    Hdf5Sink::close(comm, tail, end);
    mpi::agree_on(comm, [&] {
      if (failure_) throw Error(*failure_);
      if (comm.is_root() && !joins_) finish(end);
    });
  }

 protected:
  /// None that anybody else writes: `note_recorded` does, together with the headers.
  [[nodiscard]] Slots record(int) const override { return {}; }
  /// On the simulation's thread, which must not fail alone.
  void note_recorded(int source, StepIndex steps) override {
    if (failure_) return;
    try {
      record(source, steps);
    } catch (...) {
      failure_ = describe_current_exception();
    }
  }

 private:
  static Hdf5Layout lay_out(const SinkContext& context, const std::vector<RsfFile>& files) {
    Hdf5Places places;
    mpi::agree_on_root(context.comm, [&] {
      if (!context.joins) create_rsf(context, files);
      places = rsf_places(context, files);
    });
    return {context, std::move(places)};
  }

  /// Has the headers tell of what all ranks have recorded. Every process that advances a slot does so,
  /// because each may be the last one. Whoever has written looks again: another one may have told of more
  /// meanwhile.
  void tell_recorded() {
    while (tell(recorded_by_all())) {
    }
  }

  /// The step up to which all ranks have recorded.
  [[nodiscard]] StepIndex recorded_by_all() {
    const auto& places = layout().places();
    slots_.resize(static_cast<std::size_t>(places.record_slots));
    const auto bytes = std::as_writable_bytes(std::span(slots_));
    const int file = open(layout().path().c_str(), O_RDONLY | O_CLOEXEC);
    const auto taken = file < 0 ? -1 : pread(file, bytes.data(), bytes.size(), places.record);
    const int error = errno;
    if (file >= 0) ::close(file);
    if (taken != static_cast<ssize_t>(bytes.size()))
      throw file_failure(layout().path(), "reading the record", places.record, taken < 0 ? error : EIO);
    return static_cast<StepIndex>(*std::min_element(slots_.begin(), slots_.end()));
  }

  /// Has the headers tell of the samples up to a step, as the record has it; false if they have done so.
  bool tell(StepIndex step) {
    bool any = false;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto& file = files_[i];
      if (file.header.empty() || !file.is_series()) continue;
      const StepIndex samples = step > 0 ? file.stream->cadence.samples_until(step) : 0;
      if (samples <= told_[i]) continue;
      tell_samples(file, samples);
      told_[i] = samples;
      any = true;
    }
    return any;
  }

  /// What a run that stopped early did not use is cut off.
  void finish(const FileEnd& end) {
    if (!end.complete) return;
    tell(end.steps);
    for (const auto& file : files_) {
      if (file.header.empty() || !file.is_series()) continue;
      const auto& cadence = file.stream->cadence;
      const auto used = file.bytes() / cadence.samples() * cadence.samples_until(end.steps);
      std::filesystem::resize_file(file.data, static_cast<std::uintmax_t>(used));
    }
  }

  bool joins_;
  std::vector<RsfFile> files_;
  std::vector<StepIndex> told_;       ///< samples, by file
  std::vector<std::uint64_t> slots_;  ///< of the record, for `recorded_by_all`
  std::optional<ErrorInfo> failure_;  ///< of `note_recorded`
};

}  // namespace

std::unique_ptr<Sink> create_rsf_sink(const SinkContext& context) {
  std::vector<RsfFile> files;
  mpi::agree_on(context.comm, [&] { files = rsf_files(context.path, context.plan); });
  return std::make_unique<RsfSink>(context, std::move(files));
}

}  // namespace tailrace::output
