// SPDX-License-Identifier: BSD-3-Clause
#include <deque>
#include <span>
#include <vector>

#include "device/emulation.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

/// The pattern in a device's memory, set by copies on the stream that computes.
class DeviceField {
 public:
  DeviceField(device::Device& device, const Box& box)
      : queue_(device.queue_of(nullptr)),
        box_(box),
        stride_y_(box.x().size() + 1),
        stride_z_(stride_y_ * box.y().size()),
        memory_(device, static_cast<std::size_t>(std::max<std::int64_t>(1, stride_z_ * box.z().size())) *
                            sizeof(float)) {}

  void set(StepIndex step) {
    auto& values = steps_.emplace_back(memory_.bytes() / sizeof(float), -1.0F);  // stays until it is copied
    for (std::int64_t z = box_.lo.z; z < box_.hi.z; ++z)
      for (std::int64_t y = box_.lo.y; y < box_.hi.y; ++y)
        for (std::int64_t x = box_.lo.x; x < box_.hi.x; ++x)
          values[static_cast<std::size_t>((z - box_.lo.z) * stride_z_ + (y - box_.lo.y) * stride_y_ + x -
                                          box_.lo.x)] = static_cast<float>(pattern::value({x, y, z}, step));
    queue_->copy_to_device(memory_.data(), values.data(), memory_.bytes());
  }
  [[nodiscard]] FieldView view() const {
    return {.data = memory_.data(),
            .type = h5::ElementType::float32,
            .box = box_,
            .stride_y = stride_y_,
            .stride_z = stride_z_,
            .memory = Memory::device};
  }

 private:
  std::deque<std::vector<float>> steps_;
  std::unique_ptr<device::Queue> queue_;
  Box box_;
  std::int64_t stride_y_, stride_z_;
  device::Buffer memory_;
};

/// As `run_pattern`, with the field in the memory of an emulated device, or every second rank's.
std::optional<ErrorInfo> run_on_device(mpi::CommView comm, const std::string& path, const PatternRun& run,
                                       const WriteOptions& options, device::Device& device,
                                       bool mixed = false) {
  const Box own = run.split(run.domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  DeviceField on_device(device, own);
  pattern::Field<float> on_host(own);
  const bool uses_device = !mixed || comm.rank() % 2 == 0;
  const FieldLookup lookup = [&](const std::string&) {
    return uses_device ? on_device.view() : on_host.view();
  };
  trace::Log log("main");
  return error_of([&] {
    Session session(comm, path, make_plan(run.streams, own, run.domain), head(), options, log,
                    {.services = {.device = uses_device ? &device : nullptr}});
    for (StepIndex step = 1; step <= run.steps; ++step) {
      on_device.set(step);
      on_host.set(step);
      session.sample(step, lookup);
    }
    session.sample_final(run.steps, lookup);
    session.finish(run.steps, tail(run.steps));
  });
}

template <class T>
std::vector<T> values_of(const h5::File& file, const std::string& dataset) {
  std::int64_t count = 1;
  for (const auto extent : file.shape(dataset)) count *= static_cast<std::int64_t>(extent);
  std::vector<T> values(static_cast<std::size_t>(count));
  file.read(dataset, std::span(values));
  return values;
}

/// The files hold the same values; NaN is none of them.
void check_same(const std::vector<Stream>& streams, const std::string& a, const std::string& b) {
  const auto first = h5::File::open(a), second = h5::File::open(b);
  for (const auto& stream : streams)
    for (const auto& dataset : stream.datasets) {
      if (dataset.type == h5::ElementType::float64)
        CHECK(values_of<double>(first, dataset.path) == values_of<double>(second, dataset.path));
      else
        CHECK(values_of<float>(first, dataset.path) == values_of<float>(second, dataset.path));
    }
}

/// Shares of this rank with running reductions: those are fetched to memory that is not pinned.
std::int64_t reduced_shares(mpi::CommView comm, Index3 domain, const std::vector<Stream>& streams,
                            std::size_t turn) {
  const Box own = next_split(turn)(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  std::size_t shares = 0;
  for (const auto& stream : make_plan(streams, own, domain).streams)
    if (stream.reduction != Reduction::none && stream.reduction != Reduction::final)
      shares += stream.shares.size();
  return static_cast<std::int64_t>(shares);
}

}  // namespace

MPI_CASE("fields in a device's memory are written by every strategy as those of the host",
         ranks{1, 2, 3, 7}) {
  const Index3 domain{9, 7, 11};
  const SharedDir directory(comm);
  const auto streams = streams_of_all_kinds(domain);
  const std::string host = directory.file("host.h5");
  std::size_t turn = 0;
  CHECK_FALSE(run_pattern(comm, host, {domain, streams}, options_of({"blocking", "hdf5"})));
  for (const auto& way : ways_on(comm)) {
    if (way.sink != "hdf5" && way.strategy != "threads") continue;  // a sink sees no devices
    if (!writes_hdf5(options_of(way)) || writing_ranks(way.strategy) > 0) continue;
    const auto device = device::emulate({.copy_delay_s = 1e-4});
    const std::string path = directory.file("device" + std::to_string(turn) + ".h5");
    const auto error =
        run_on_device(comm, path, {domain, streams, next_split(turn)}, options_of(way), *device);
    CHECK_FALSE(error);
    CHECK(device->counts().unpinned_copies <= reduced_shares(comm, domain, streams, turn));
    mpi::barrier(comm);
    if (comm.is_root() && !error) check_same(streams, host, path);
    mpi::barrier(comm);
    ++turn;
  }
}

MPI_CASE("some ranks have devices and some have none, and memory that cannot be pinned is written too",
         ranks{2, 3}) {
  const Index3 domain{9, 7, 11};
  const SharedDir directory(comm);
  const auto streams = streams_of_all_kinds(domain);
  const auto device = device::emulate({.refuses_to_pin = true});
  CHECK_FALSE(
      run_pattern(comm, directory.file("host.h5"), {domain, streams}, options_of({"blocking", "hdf5"})));
  CHECK_FALSE(run_on_device(comm, directory.file("mixed.h5"), {domain, streams},
                            options_of({"threads", "hdf5"}), *device, true));
  mpi::barrier(comm);
  if (comm.is_root()) check_same(streams, directory.file("host.h5"), directory.file("mixed.h5"));
}

MPI_CASE("a device without room, or one that fails, is one error on all ranks", ranks{1, 2, 3}) {
  const Index3 domain{9, 7, 11};
  const SharedDir directory(comm);
  const auto streams = streams_of_all_kinds(domain);
  const bool faulty = comm.rank() == comm.size() - 1;
  for (const bool room : {false, true}) {
    const auto device = device::emulate({.memory_bytes = room || !faulty ? std::size_t{1} << 24 : 8000,
                                         .failing_copy = room && faulty ? 3 : 0});
    const auto error = run_on_device(comm, directory.file(room ? "fails.h5" : "short.h5"), {domain, streams},
                                     options_of({"threads", "hdf5"}), *device);
    if (faulty || !room) {
      REQUIRE(error);
      CHECK(error->kind == ErrorKind::resource);
    }
  }
}
