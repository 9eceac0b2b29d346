// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include "mpi/verdict.hpp"
#include "output/sinks/collective_sink.hpp"
#include "output/sinks/hyperslab.hpp"
#include "output/sinks/new_file.hpp"
#include "output/sinks/pnetcdf_file.hpp"
#include "output/sinks/pnetcdf_layout.hpp"
#include "output/sinks/sinks.hpp"
#include "output/sinks/space.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

/// A netCDF file, written through the non-blocking interface of PnetCDF: each rank asks for its shares, then
/// all ranks write them together.
class PnetcdfSink final : public CollectiveSink {
 public:
  explicit PnetcdfSink(const SinkContext& context) : CollectiveSink(context), plan_(context.plan) {
    mpi::collectively_on_root(context.comm, [&] { create(context); });
    share(context.comm, places_);
    std::optional<ErrorInfo> failure;
    try {
      open(context);
    } catch (...) {
      failure = describe_current_exception();
    }
    mpi::agree(context.comm, failure);
  }

  [[nodiscard]] const std::string& warning() const noexcept override { return warning_; }

 private:
  void create(const SinkContext& context) {
    const bool enough_space = has_space({{path(), static_cast<double>(plan_.file_bytes())}}, warning_);
    places_ = create_pnetcdf_file(context);
    if (enough_space) reserve(path(), regions_after(plan_, places_, 0).front());
  }

  void open(const SinkContext& context) {
    file_.emplace(PnetcdfFile::open(context.comm, path(), context.options.mpi_hints));
    for (const auto& stream : plan_.streams)
      for (const auto& one : stream.datasets)
        variables_.push_back(has_variable(one) ? file_->find(variable_of(one.path)) : -1);
    commit_mark_ = file_->find(variable_of(commit_mark_path));
  }

  [[nodiscard]] std::int64_t place(std::size_t dataset) const override {
    return from_byte(places_.datasets[dataset], 0).offset;
  }

  void write_parts(std::span<const DatasetPart> parts, std::span<const std::uint64_t>, StepIndex) override {
    for (const auto& part : parts)
      keep_failure_of([&] {
        const auto& one = spec(part.dataset);
        file_->post(variables_[part.dataset], hyperslabs_of(one.shape, part.runs), one.type, part.bytes);
      });
    file_->complete();
  }

  void write_commit_mark(int source, StepIndex steps) override {
    file_->write_element(commit_mark_, {0, 0, static_cast<std::uint64_t>(source)},
                         static_cast<std::uint64_t>(steps));
  }

  void close_file(const FileTail&, const FileEnd&) override { file_->close(); }

  void finish(const FileTail& tail, const FileEnd& end) override {
    auto file = PnetcdfFile::open(mpi::CommView::self(), path(), {});
    for (const auto& [name, text] : tail.attributes) file.update_text(name, text);
    if (end.complete)
      for (const auto& [name, bytes] : tail.datasets) file.write_all(file.find(variable_of(name)), bytes);
    file.close();
    if (end.complete) release(path(), regions_after(plan_, places_, end.steps).front());
  }

  const Plan& plan_;
  std::string warning_;
  Hdf5Places places_;  ///< refers to the variables
  std::optional<PnetcdfFile> file_;
  std::vector<int> variables_;  ///< by dataset, -1 for those without elements
  int commit_mark_ = -1;
};

}  // namespace

std::unique_ptr<Sink> create_pnetcdf_sink(const SinkContext& context) {
  return std::make_unique<PnetcdfSink>(context);
}

}  // namespace tailrace::output
