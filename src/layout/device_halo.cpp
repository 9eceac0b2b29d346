// SPDX-License-Identifier: BSD-3-Clause
#include "device_halo.hpp"

#include "base/check.hpp"
#include "mpi/message.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::layout {

namespace {

std::int64_t points_of(const std::vector<HaloPart>& parts) noexcept {
  std::int64_t points = 0;
  for (const auto& part : parts) points += part.block.volume();
  return points;
}

}  // namespace

DeviceHalo::DeviceHalo(mpi::CommView comm, device::Device& device, device::Queue& compute,
                       const HaloConfig& config, int fields)
    : comm_(mpi::Comm::duplicate(comm)),
      device_(device),
      compute_(compute),
      layout_(config.layout),
      element_bytes_(config.element_bytes),
      plan_(plan_halo(config, comm.rank())),
      spans_(device, "device halos") {
  TAILRACE_CHECK(config.decomposition.ranks() == comm.size(), "a halo has the ranks of its communicator");
  mpi::collectively(comm, [&] {
    if (plan_.sends.empty() && plan_.receives.empty()) return;
    const Box own = config.decomposition.box(comm.rank());
    copies_ = device.make_queue();
    sends_ = make_side(plan_.sends, config, own);
    receives_ = make_side(plan_.receives, config, own);
    make_fields(fields);
  });
}

DeviceHalo::~DeviceHalo() {
  mpi::abandon(receiving_, sending_);
  try {
    if (copies_) copies_->synchronize();
  } catch (...) {  // a device that failed copies nothing any more; whoever waited for it has thrown
  }
}

DeviceHalo::Side DeviceHalo::make_side(const std::vector<HaloPart>& parts, const HaloConfig& config,
                                       const Box& own) {
  std::vector<device::BoxInArray> boxes;
  for (const auto& part : parts) {
    const Index3 from = part.block.lo, n = part.block.extents();
    boxes.push_back({(from.z - own.lo.z) * config.layout.stride_z +
                         (from.y - own.lo.y) * config.layout.stride_y + from.x - own.lo.x,
                     n.x, n.y, n.z});
  }
  return {device::BoxList(device_, *copies_, boxes),
          static_cast<std::size_t>(points_of(parts)) * element_bytes_};
}

void DeviceHalo::make_fields(int count) {
  const std::size_t both = padded<std::byte>(sends_.bytes) + padded<std::byte>(receives_.bytes);
  host_.resize(both * static_cast<std::size_t>(count));
  pin_.emplace(device_, std::span<std::byte>(host_));
  auto rest = std::span<std::byte>(host_);
  for (int i = 0; i < count; ++i) {
    Field field;
    if (sends_.bytes > 0) field.sent = device::Buffer(device_, sends_.bytes);
    if (receives_.bytes > 0) field.received = device::Buffer(device_, receives_.bytes);
    field.out = rest.first(sends_.bytes);
    field.in = rest.subspan(padded<std::byte>(sends_.bytes), receives_.bytes);
    rest = rest.subspan(both);
    for (auto* event : {&field.packed, &field.out_there, &field.in_there}) *event = device_.make_event();
    device_bytes_ += static_cast<std::int64_t>(sends_.bytes + receives_.bytes);
    fields_.push_back(std::move(field));
  }
}

device::Array DeviceHalo::array(const Field& field) const noexcept {
  return {field.first, layout_.stride_y, layout_.stride_z, element_bytes_};
}

void DeviceHalo::start(void* first, StepIndex step) {
  if (!copies_) return;
  TAILRACE_CHECK(started_ < static_cast<int>(fields_.size()), "a halo is made for the fields that it has");
  auto& field = fields_[static_cast<std::size_t>(started_)];
  field.first = first;
  field.step = step;
  sends_.boxes.pack(compute_, array(field), field.sent.data());
  compute_.record(*field.packed);
  copy_out(field);
  field.in_there->wait();  // the last copy has left the memory that messages come to now
  receive(field, started_++);
}

void DeviceHalo::copy_out(Field& field) {
  copies_->wait_for(*field.packed);
  spans_.begin(*copies_, trace::Kind::exchange, field.step, static_cast<std::int64_t>(sends_.bytes));
  if (sends_.bytes > 0) copies_->copy_to_host(field.out.data(), field.sent.data(), sends_.bytes);
  spans_.end(*copies_);
  copies_->record(*field.out_there);
}

void DeviceHalo::copy_in(Field& field) {
  spans_.begin(*copies_, trace::Kind::exchange, field.step, static_cast<std::int64_t>(receives_.bytes));
  if (receives_.bytes > 0) copies_->copy_to_device(field.received.data(), field.in.data(), receives_.bytes);
  spans_.end(*copies_);
  copies_->record(*field.in_there);
}

void DeviceHalo::receive(Field& field, int number) {
  std::size_t at = 0;
  for (const auto& part : plan_.receives) {
    const auto bytes = static_cast<std::size_t>(part.block.volume()) * element_bytes_;
    receiving_.push_back(
        mpi::start_receive(comm_, field.in.subspan(at, bytes), part.peer, halo_tag(number, part)));
    at += bytes;
  }
}

void DeviceHalo::send(Field& field, int number) {
  field.out_there->wait();
  std::size_t at = 0;
  for (const auto& part : plan_.sends) {
    const auto bytes = static_cast<std::size_t>(part.block.volume()) * element_bytes_;
    sending_.push_back(mpi::start_send(comm_, std::span<const std::byte>(field.out.subspan(at, bytes)),
                                       part.peer, halo_tag(number, part)));
    at += bytes;
  }
}

void DeviceHalo::finish() {
  if (!copies_) return;
  for (int i = 0; i < started_; ++i) send(fields_[static_cast<std::size_t>(i)], i);
  mpi::wait_all(receiving_);
  for (int i = 0; i < started_; ++i) {
    auto& field = fields_[static_cast<std::size_t>(i)];
    copy_in(field);
    compute_.wait_for(*field.in_there);
    receives_.boxes.unpack(compute_, array(field), field.received.data());
  }
  mpi::wait_all(sending_);
  receiving_.clear();
  sending_.clear();
  started_ = 0;
}

double DeviceHalo::needed_bytes(const HaloConfig& config, int rank, int fields) {
  const auto plan = plan_halo(config, rank);
  return static_cast<double>(points_of(plan.sends) + points_of(plan.receives)) *
         static_cast<double>(config.element_bytes) * fields;
}

}  // namespace tailrace::layout
