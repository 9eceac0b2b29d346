// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/device_sampler.hpp"

#include "base/check.hpp"
#include "mpi/verdict.hpp"
#include "output/core/device_values.hpp"

namespace tailrace::output {

namespace {

/// One is filled while others are copied.
constexpr int block_count = 3;

}  // namespace

DeviceSampler::DeviceSampler(device::Device& device, void* stream, const Plan& plan)
    : device_(device),
      plan_(plan),
      compute_(device.queue_of(stream)),
      copies_(device.make_queue()),
      packed_(device.make_event()),
      spans_(device, "device copies") {
  for (int i = 0; i < block_count; ++i)
    blocks_.push_back(
        {device::Buffer(device, static_cast<std::size_t>(plan.staging_bytes())), device.make_event()});
  for (const auto& planned : plan.streams)
    for (const auto& share : planned.shares) points_of(share);
}

double DeviceSampler::needed_bytes(const Plan& plan) noexcept {
  if (plan.streams.empty()) return 0;
  std::size_t bytes = static_cast<std::size_t>(block_count * plan.staging_bytes() + plan.accumulator_bytes());
  for (const auto& stream : plan.streams)
    for (const auto& share : stream.shares) bytes += share.points.size() * sizeof(LocalPoint);
  return static_cast<double>(bytes);
}

DeviceSampler::~DeviceSampler() {
  try {
    compute_->synchronize();
    copies_->synchronize();
  } catch (...) {  // a device that failed copies nothing any more; whoever waited for it has thrown
  }
}

void DeviceSampler::begin(StepIndex step, const std::function<void(const std::function<void()>&)>& wait) {
  block_ = (block_ + 1) % blocks_.size();
  const auto& copied = *blocks_[block_].copied;
  if (!copied.reached()) wait([&copied] { copied.wait(); });
  step_ = step;
  used_ = 0;
  extents_.clear();
}

void DeviceSampler::pack(const FieldView& field, const Share& share, std::int64_t first, std::int64_t count,
                         std::span<std::byte> out) {
  const auto& memory = blocks_[block_].memory;
  TAILRACE_CHECK(used_ + out.size() <= memory.bytes(), "a block of the device holds all samples of one step");
  gather(*compute_, field, share, points_of(share), plan_.own_box, first, count, memory.data() + used_);
  const bool next_to_last = !extents_.empty() && extents_.back().to + extents_.back().bytes == out.data();
  if (next_to_last)
    extents_.back().bytes += out.size();
  else
    extents_.push_back({out.data(), used_, out.size()});
  used_ = (used_ + out.size() + 7) / 8 * 8;
}

const device::Event& DeviceSampler::end() {
  const auto& block = blocks_[block_];
  compute_->record(*packed_);
  copies_->wait_for(*packed_);
  spans_.begin(*copies_, trace::Kind::pack, step_, static_cast<std::int64_t>(used_));
  for (const auto& extent : extents_)
    copies_->copy_to_host(extent.to, block.memory.data() + extent.from, extent.bytes);
  spans_.end(*copies_);
  copies_->record(*block.copied);
  return *block.copied;
}

void DeviceSampler::add(Accumulator& accumulator, Reduction reduction, const FieldView& field) {
  auto& state = reductions_[&accumulator];
  if (state.data() == nullptr) {
    const auto begin = accumulator.state();
    state = device::Buffer(device_, begin.size());
    compute_->copy_to_device(state.data(), begin.data(), begin.size());
    compute_->synchronize();
  }
  const auto& share = accumulator.share();
  accumulate(*compute_, reduction, field, share, points_of(share), plan_.own_box, state.data());
}

void DeviceSampler::fetch(Accumulator& accumulator) {
  const auto found = reductions_.find(&accumulator);
  if (found == reductions_.end()) return;
  const auto values = accumulator.state();
  compute_->copy_to_host(values.data(), found->second.data(), values.size());
  compute_->synchronize();
}

const LocalPoint* DeviceSampler::points_of(const Share& share) {
  if (share.points.empty()) return nullptr;
  auto& buffer = points_[&share];
  if (buffer.data() == nullptr) {
    const auto bytes = share.points.size() * sizeof(LocalPoint);
    buffer = device::Buffer(device_, bytes);
    compute_->copy_to_device(buffer.data(), share.points.data(), bytes);
    compute_->synchronize();
  }
  return reinterpret_cast<const LocalPoint*>(buffer.data());
}

std::unique_ptr<DeviceSampler> make_device_sampler(mpi::CommView comm, const SessionServices& services,
                                                   const Plan& plan) {
  std::unique_ptr<DeviceSampler> sampler;
  mpi::collectively(comm, [&] {
    if (services.device != nullptr)
      sampler = std::make_unique<DeviceSampler>(*services.device, services.device_stream, plan);
  });
  return sampler;
}

}  // namespace tailrace::output
