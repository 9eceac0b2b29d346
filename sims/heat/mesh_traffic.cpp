// SPDX-License-Identifier: BSD-3-Clause
#include "mesh_traffic.hpp"

#include <span>

#include "mpi/collective.hpp"
#include "mpi/message.hpp"

namespace tailrace::heat {

namespace {

constexpr std::size_t numbers_per_part = 3;
using Numbers = std::array<std::int64_t, numbers_per_part * MeshTraffic::parts>;
using AllSent = std::array<MeshTraffic::Sent, MeshTraffic::parts>;

AllSent combined(mpi::CommView comm, Numbers numbers, mpi::Combination how) {
  mpi::Request request = mpi::start_combining(comm, std::span<std::int64_t>(numbers), how);
  mpi::wait_all({&request, 1});
  AllSent sent;
  for (std::size_t part = 0; part < sent.size(); ++part) {
    const auto* const of_part = &numbers[numbers_per_part * part];
    sent[part] = {of_part[0], of_part[1], of_part[2]};
  }
  return sent;
}

}  // namespace

MeshTraffic MeshTrafficCounter::over(mpi::CommView comm) const {
  Numbers numbers{};
  for (std::size_t part = 0; part < sent_.size(); ++part) {
    numbers[numbers_per_part * part] = sent_[part].items;
    numbers[numbers_per_part * part + 1] = sent_[part].messages;
    numbers[numbers_per_part * part + 2] = sent_[part].bytes;
  }
  return {combined(comm, numbers, mpi::Combination::sum), combined(comm, numbers, mpi::Combination::max)};
}

}  // namespace tailrace::heat
