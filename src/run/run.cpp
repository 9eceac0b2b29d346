// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/run.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/system.hpp"
#include "output/registry/create.hpp"
#include "output/strategies/io_servers.hpp"
#include "run/run_impl.hpp"

namespace tailrace::run {

int exit_status(ErrorKind kind) noexcept {
  return kind == ErrorKind::usage || kind == ErrorKind::input ? bad_input : run_failed;
}

int exit_status(Status status) noexcept {
  switch (status) {
    case Status::finished:
      return success;
    case Status::stopped:
      return stopped_early;
    case Status::failed:
      break;
  }
  return run_failed;
}

void print_error(const std::string& program, const ErrorInfo& error) noexcept {
  const std::string where = error.rank > 0 ? fmt::format(" (rank {})", error.rank) : "";
  const std::string fix = error.hint.empty() ? "" : ". Fix: " + error.hint;
  say(stderr, fmt::format("{}: {}{}{}\n", program, error.message, where, fix));
}

int with_io_servers(
    mpi::CommView world, const std::string& program, const output::WriteOptions& write,
    const std::function<int(mpi::CommView computing, output::IoServers* io_servers)>& simulate,
    const std::function<int(ErrorKind)>& status_of) {
  std::optional<output::IoServers> io_servers;
  try {
    io_servers.emplace(world, write, output::create_sink);
  } catch (const Error& error) {
    if (world.is_root()) print_error(program, error.info());
    return status_of(error.info().kind);
  }
  return io_servers->computes() ? simulate(io_servers->compute_comm(), &*io_servers) : io_servers->serve();
}

Run::Run(mpi::CommView comm, RunOptions options, output::IoServers* io_servers)
    : impl_(std::make_unique<Impl>(comm, std::move(options), io_servers)) {}

Run::~Run() = default;

RunAccount& Run::account() noexcept {
  return impl_->account();
}
trace::Log& Run::log() noexcept {
  return impl_->log();
}
double Run::elapsed_s() const noexcept {
  return impl_->elapsed_s();
}
void Run::warn(const std::string& message) {
  impl_->warn(message);
}
void Run::open_device() {
  impl_->open_device();
}
device::ComputeQueue Run::compute_queue() const noexcept {
  return impl_->run_device().compute();
}
std::string Run::device_text() const {
  return impl_->run_device().text();
}
void Run::check_device_memory(const std::function<double(int rank)>& bytes, int ranks, const RunSize& size) {
  impl_->check_device_memory(bytes, ranks, size);
}
double Run::host_bytes_of_device(double bytes) const noexcept {
  return impl_->run_device().is_emulated() ? bytes : 0;
}
void Run::check_streams(const output::Resume& resume) {
  impl_->check_streams(resume);
}
void Run::check_places(const std::string& output) {
  impl_->check_places(output);
}
void Run::prepare_directory() {
  impl_->prepare_directory();
}
void Run::plan(std::vector<output::Stream> streams, CaseOutputs outputs, const Box& own_box, Index3 domain) {
  impl_->plan(std::move(streams), std::move(outputs), own_box, domain);
}
double Run::buffer_bytes() const {
  return impl_->buffer_bytes();
}
StepIndex Run::restore(const SimulationCalls& simulation) {
  return impl_->restore(simulation);
}
std::string Run::convert(const checkpoint::StateFunction& simulation, const Conversion& conversion,
                         const std::vector<ForeignFormat>& formats) {
  return impl_->convert(simulation, conversion, formats);
}
output::Session& Run::open_output(const std::string& path, const output::FileHead& head,
                                  std::int64_t simulation_bytes, const output::Resume& resume) {
  return impl_->open_output(path, head, simulation_bytes, resume);
}
std::int64_t Run::predicted_bytes() const noexcept {
  return impl_->predicted_bytes();
}
DriveResult Run::drive(const SimulationCalls& simulation, const StepSpan& steps, const Watch& watch,
                       const std::function<void(StepIndex)>& after_step) {
  return impl_->drive(simulation, steps, watch, after_step);
}
Run::Summary Run::close(const DriveResult& result, const FinalFields& fields,
                        const std::function<output::FileTail()>& tail, std::int64_t cells,
                        const std::function<void()>& derive) {
  return impl_->close(result, fields, tail, cells, derive);
}
Run::Summary Run::close_for_restart(const DriveResult& result,
                                    const std::function<void(output::Session&)>& save,
                                    const std::function<output::FileTail()>& tail, std::int64_t cells) {
  return impl_->close_for_restart(result, save, tail, cells);
}
int Run::guard(const std::function<int()>& body, const std::function<int(ErrorKind)>& status_of) noexcept {
  return impl_->guard(body, status_of);
}

}  // namespace tailrace::run
