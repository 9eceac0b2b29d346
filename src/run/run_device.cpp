// SPDX-License-Identifier: BSD-3-Clause
#include "run/run_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include "base/system.hpp"
#include "base/text.hpp"
#include "base/topology.hpp"
#include "device/boxes.hpp"
#include "mpi/node.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/run/watch.hpp"

namespace tailrace::run {

namespace {

/// The ranks of a machine that are on the device of this one, in the order of its ranks; each alone where it
/// has none.
mpi::Comm sharers_of(mpi::CommView node, const device::Device* device) {
  return mpi::Comm::split(node, device != nullptr ? device->info().index : 1 << 16 | node.rank());
}

/// A number that is the same for ranks that see the same devices, and hardly for others.
std::uint64_t digest_of(const device::Offer& offer) {
  std::string text;
  for (const auto& device : offer.devices) text += fmt::format("{} {};", device.index, device.pci_address);
  return std::hash<std::string>()(text);
}

/// Which of the devices this rank takes: one near to its processors, and as many ranks on each. One after the
/// other where ranks see different ones, as launchers may show each rank its own. @collective{node}
std::size_t number_for(mpi::CommView node, const device::Offer& offer) {
  const auto ranks = static_cast<std::size_t>(node.size()), rank = static_cast<std::size_t>(node.rank());
  std::vector<std::uint64_t> all(2 * ranks);
  all[rank] = device::near_to(offer, thread_cpus());
  all[ranks + rank] = digest_of(offer);
  all = mpi::sum(node, all);
  const auto [near, seen] = std::pair(std::span(all).first(ranks), std::span(all).last(ranks));
  if (offer.devices.empty()) return 0;
  if (std::ranges::count(seen, seen[rank]) != node.size()) return rank % offer.devices.size();
  return static_cast<std::size_t>(device::share_out(near, static_cast<int>(offer.devices.size()))[rank]);
}

}  // namespace

device::Wish device_wish(const DeviceChoice& choice) {
  if (choice.text.empty()) return {};
  auto wish = device::parse_wish(choice.source, choice.text);
  wish.or_processor = choice.or_processor;
  return wish;
}

RunDevice::RunDevice(mpi::CommView comm, const DeviceChoice& choice) {
  const auto wish = device_wish(choice);
  if (wish.kind == device::Wish::Kind::none) return;
  emulated_ = wish.kind == device::Wish::Kind::emulated;
  const mpi::Node node(comm);
  device::Offer offer;
  mpi::collectively(comm, [&] { offer = device::offered(wish); });
  devices_ = static_cast<int>(offer.devices.size());
  const auto mine = number_for(node.comm(), offer);
  if (devices_ == 0) warning_ = fmt::format("{}: the processor computes: {}", wish.source, offer.why_none);
  mpi::collectively(comm, [&] {
    if (devices_ == 0) return;
    device_ = device::open(wish, offer.devices[mine]);
    take_device();
  });
  find_sharers(node.comm(), comm);
}

void RunDevice::take_device() {
  queue_ = device_->make_queue();
  flags_ = device::Buffer(*device_, device::flag_count);
  free_bytes_ = static_cast<double>(device_->free_bytes());
}

/// Several ranks of one device are allowed, and said.
void RunDevice::find_sharers(mpi::CommView node, mpi::CommView comm) {
  const auto sharers = sharers_of(node, device_.get());
  sharers_ = sharers.view().size();
  const auto most = mpi::max(comm, std::int64_t{device_ ? sharers_ : 0});
  if (most > 1)
    warning_ = fmt::format("{} share a device: their kernels take turns. Fix: as many ranks as devices",
                           counted(most, "rank"));
}

std::string RunDevice::text() const {
  if (!device_) return "the processor";
  return fmt::format("device {} ({})", device_->info().index, device_->info().name);
}

nlohmann::json RunDevice::describe() const {
  if (!device_) return nullptr;
  const auto& info = device_->info();
  return {{"index", info.index},
          {"name", info.name},
          {"pci_address", info.pci_address},
          {"memory_bytes", info.memory_bytes},
          {"ranks", sharers_}};
}

void RunDevice::check_memory(mpi::CommView comm, double own_bytes, const RunSize& size) const {
  if (devices_ == 0) return;
  const mpi::Node node(comm);
  const auto sharers = sharers_of(node.comm(), device_.get());
  const double all_bytes = mpi::sum(sharers.view(), own_bytes);
  std::optional<ErrorInfo> error;
  if (device_) error = too_much_device_memory(all_bytes, free_bytes_, text(), size);
  mpi::agree(comm, error);
}

bool RunDevice::is_finite(const output::FieldView& field) const {
  if (field.memory == output::Memory::host || field.box.empty()) return run::is_finite(field);
  const Index3 n = field.box.extents();
  return device::is_finite(*queue_,
                           {.first = const_cast<void*>(field.data),
                            .stride_y = field.stride_y,
                            .stride_z = field.stride_z,
                            .element_bytes = h5::size_bytes(field.type)},
                           {.from = 0, .width = n.x, .height = n.y, .depth = n.z}, flags_.data());
}

std::optional<ErrorInfo> too_much_device_memory(double needed_bytes, double free_bytes,
                                                const std::string& device, const RunSize& size) {
  if (needed_bytes <= free_bytes) return {};
  return ErrorInfo{
      .kind = ErrorKind::input,
      .message = fmt::format("{}: the run takes {} of the memory of {}, and {} are free there", size.text,
                             human_bytes(needed_bytes), device, human_bytes(free_bytes)),
      .path = {},
      .hint = fmt::format("{}, more devices, or --device none", size.fits(free_bytes / needed_bytes))};
}

}  // namespace tailrace::run
