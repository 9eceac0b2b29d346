// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/halo.hpp"

#include "array_block.hpp"
#include "base/check.hpp"
#include "halo_plan.hpp"
#include "mpi/message.hpp"

namespace tailrace::layout {

struct Halo::Message {
  std::int64_t offset_bytes = 0;  ///< refers to its first point from the low corner of the box
  mpi::BlockType type;
  HaloPart part;
};

Halo::Halo(mpi::CommView comm, const HaloConfig& config) {
  TAILRACE_CHECK(config.decomposition.ranks() == comm.size(), "a halo has the ranks of its communicator");
  TAILRACE_CHECK(config.element_bytes > 0 && config.width >= 0, "elements and halos have a size");
  comm_ = mpi::Comm::duplicate(comm);
  auto plan = plan_halo(config, comm.rank());
  const ArrayBlock array{config.decomposition.box(comm.rank()), config.layout,
                         static_cast<std::int64_t>(config.element_bytes)};
  const auto messages = [&](const std::vector<HaloPart>& parts) {
    std::vector<Message> list;
    for (const auto& part : parts)
      list.push_back(
          {array.offset_bytes(part.block.lo), mpi::BlockType(array.shape(part.block.extents())), part});
    return list;
  };
  sends_ = messages(plan.sends);
  receives_ = messages(plan.receives);
  interior_ = plan.interior;
  shells_ = std::move(plan.shells);
}

Halo::~Halo() {
  mpi::abandon(receiving_, sending_);
}

void Halo::start(void* first, int field) {
  TAILRACE_CHECK(field >= 0 && field < max_fields, "a field has a number below 1024");
  auto* const bytes = static_cast<std::byte*>(first);
  for (const Message& one : receives_)
    receiving_.push_back(mpi::start_receive(comm_, bytes + one.offset_bytes, one.type.get(), one.part.peer,
                                            halo_tag(field, one.part)));
  for (const Message& one : sends_)
    sending_.push_back(mpi::start_send(comm_, bytes + one.offset_bytes, one.type.get(), one.part.peer,
                                       halo_tag(field, one.part)));
}

void Halo::progress() {
  mpi::test_all(receiving_);
  mpi::test_all(sending_);
}

void Halo::finish() {
  mpi::wait_all(receiving_);
  mpi::wait_all(sending_);
  receiving_.clear();
  sending_.clear();
}

void Halo::exchange(void* first) {
  start(first, 0);
  finish();
}

}  // namespace tailrace::layout
