// SPDX-License-Identifier: BSD-3-Clause
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>

#include "mpi/file.hpp"
#include "mpi/node.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "output/sinks/adios_file.hpp"
#include "output/sinks/adios_layout.hpp"
#include "output/sinks/collective_sink.hpp"
#include "output/sinks/hyperslab.hpp"
#include "output/sinks/sinks.hpp"
#include "output/sinks/space.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// Says what the library may take on the device for a step beside its values.
constexpr std::int64_t step_overhead_bytes = 128 << 10;

/// An output of ADIOS2: the head in a step of its own, then a step for all samples of a time step, at last
/// one with reductions and tail. A step that has ended is there for readers, and recorded in itself.
class AdiosSink final : public CollectiveSink {
 public:
  explicit AdiosSink(const SinkContext& context)
      : CollectiveSink(context), node_(context.comm), variables_(adios_variables(context.plan)) {
    for (const auto& dataset : context.head.datasets) head_.emplace(dataset.spec.path, dataset.spec);
    mpi::collectively_on_root(context.comm, [&] {
      has_space({{path(), static_cast<double>(context.plan.file_bytes())}}, warning_);
      make_adios_directory(path());
      check_space(head_bytes(context.head));
    });
    std::optional<ErrorInfo> failure;
    try {
      file_.emplace(context.comm, path(), parameters(context));
      lay_out(*file_, context, variables_);
    } catch (...) {
      failure = describe_current_exception();
    }
    mpi::agree(context.comm, failure);
  }

  [[nodiscard]] const std::string& warning() const noexcept override { return warning_; }

 private:
  static std::int64_t head_bytes(const FileHead& head) {
    std::int64_t bytes = 0;
    for (const auto& dataset : head.datasets) bytes += static_cast<std::int64_t>(dataset.values.size());
    return bytes;
  }

  /// Those of the user; unless they say otherwise, there is a file with values for each machine.
  [[nodiscard]] mpi::Hints parameters(const SinkContext& context) const {
    auto wanted = context.options.mpi_hints;
    const auto machines = mpi::sum(context.comm, std::int64_t{node_.comm().is_root() ? 1 : 0});
    const bool given = std::any_of(wanted.begin(), wanted.end(), [](const auto& pair) {
      return pair.first == "NumAggregators" || pair.first == "AggregatorRatio";
    });
    if (!given) wanted.emplace_back("NumAggregators", std::to_string(machines));
    return wanted;
  }

  /// Fails while all ranks can still hear of it: within ADIOS2, others wait for one that has left. @local
  void check_space(std::int64_t bytes) const {
    struct statvfs system {};
    if (statvfs(path().c_str(), &system) != 0) return;
    const auto free = static_cast<double>(system.f_bavail) * static_cast<double>(system.f_frsize);
    if (static_cast<double>(bytes + step_overhead_bytes) > free)
      throw file_failure(path(), "writing", -1, ENOSPC);
  }

  /// Values have no known place in a file: those of a dataset are counted from its first one.
  [[nodiscard]] std::int64_t place(std::size_t) const override { return 0; }

  void prepare(std::span<const DatasetPart> parts) override {
    std::int64_t bytes = 0;
    for (const auto& part : parts) bytes += static_cast<std::int64_t>(part.bytes.size());
    bytes = mpi::sum(comm(), bytes);
    if (comm().is_root() && bytes > 0) check_space(bytes);
  }

  void write_parts(std::span<const DatasetPart> parts, std::span<const std::uint64_t> touched,
                   StepIndex step) override {
    const auto is_due = [&](bool series) {
      for (std::size_t i = 0; i < variables_.size(); ++i)
        if (variables_[i].series == series && is_touched(touched, i)) return true;
      return false;
    };
    if (!is_due(true) && !is_due(false)) return;
    if (!file_->in_step()) file_->begin_step();
    for (const auto& part : parts) put(part);
    if (is_due(true))
      end_step(step);
    else
      file_->write_now();
  }

  /// The values of a sample stay where they are until its step ends, in the same job; those of a reduction
  /// come through a buffer that is used again.
  void put(const DatasetPart& part) {
    const auto& variable = variables_[part.dataset];
    const auto taken = variable.series ? AdiosFile::Taken::at_end_of_step : AdiosFile::Taken::now;
    const auto type = spec(part.dataset).type;
    auto runs = part.runs;
    const auto first = variable.series ? runs.front().offset / variable.values * variable.values : 0;
    for (auto& run : runs) run.offset -= first;
    const std::byte* values = part.bytes.data();
    for (const auto& block : hyperslabs_of(variable.shape, runs)) {
      file_->put(variable.name, block, type, values, taken);
      values += h5::element_count(block.count) * h5::size_bytes(type);
    }
  }

  void end_step(StepIndex recorded) {
    if (comm().is_root()) file_->put(adios_name(commit_mark_path), static_cast<std::uint64_t>(recorded));
    file_->end_step();
  }

  /// Reported by the step that ends next.
  void write_commit_mark(int, StepIndex steps) override { recorded_ = steps; }

  void close_file(const FileTail& tail, const FileEnd& end) override {
    if (failed_in_library()) return;  // others may be waiting in it
    if (!file_->in_step()) file_->begin_step();
    if (comm().is_root()) {
      for (const auto& [name, text] : tail.attributes)
        if (!text.empty()) file_->set(name, {.name = name, .value = text});
      if (end.complete)
        for (const auto& [name, bytes] : tail.datasets) put_whole(*file_, head_.at(name), bytes.data());
    }
    if (end.complete)
      end_step(recorded_);
    else
      file_->end_step();
    file_->close();
  }

  void finish(const FileTail&, const FileEnd&) override {}

  /// One rank of each machine does it for all.
  void flush_files() const override {
    if (!node_.comm().is_root()) return;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      if (entry.is_regular_file()) flush_file(entry.path());
  }

  mpi::Node node_;
  std::vector<AdiosVariable> variables_;  ///< by dataset
  std::map<std::string, h5::DatasetSpec> head_;
  std::string warning_;
  std::optional<AdiosFile> file_;
  StepIndex recorded_ = 0;
};

}  // namespace

std::unique_ptr<Sink> create_adios_sink(const SinkContext& context) {
  return std::make_unique<AdiosSink>(context);
}

}  // namespace tailrace::output
