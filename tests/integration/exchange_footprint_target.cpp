// SPDX-License-Identifier: BSD-3-Clause
/// Makes a map whose ranks need as much of as many neighbours however many ranks there are, has flights, and
/// prints what of the heap that took, the most of any rank: exchange-footprint-target TRANSPORT
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "mpi/verdict.hpp"
#include "tailrace/exchange/access_map.hpp"

using namespace tailrace;

namespace {

struct Counted {
  std::int64_t live = 0, most = 0, largest = 0;
} counted;  // NOLINT: of the whole process

constexpr std::size_t before = 64;  ///< bytes in front of each allocation, for its size

void* take(std::size_t bytes, std::size_t alignment) {
  const std::size_t front = std::max(before, alignment);
  auto* const first =
      static_cast<std::byte*>(std::aligned_alloc(front, (bytes + front + front - 1) / front * front));
  if (first == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(first) = bytes;
  counted.live += static_cast<std::int64_t>(bytes);
  counted.most = std::max(counted.most, counted.live);
  counted.largest = std::max(counted.largest, static_cast<std::int64_t>(bytes));
  return first + front;
}

void give_back(void* given, std::size_t alignment) noexcept {
  if (given == nullptr) return;
  auto* const first = static_cast<std::byte*>(given) - std::max(before, alignment);
  counted.live -= static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(first));
  std::free(first);  // NOLINT
}

}  // namespace

void* operator new(std::size_t bytes) {
  return take(bytes, before);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* given) noexcept {
  give_back(given, before);
}
void operator delete(void* given, std::size_t) noexcept {
  give_back(given, before);
}
void operator delete(void* given, std::align_val_t alignment) noexcept {
  give_back(given, static_cast<std::size_t>(alignment));
}
void operator delete(void* given, std::size_t, std::align_val_t alignment) noexcept {
  give_back(given, static_cast<std::size_t>(alignment));
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mpi::Environment environment(argc, argv);
  const mpi::CommView comm = environment.world();
  constexpr std::int64_t each = 20, reach = 5;
  const std::int64_t size = each * comm.size();
  std::vector<std::int64_t> indices;
  for (std::int64_t i = -reach; i < each + reach; ++i)
    indices.push_back((each * comm.rank() + i + size) % size);
  counted.most = counted.live;
  counted.largest = 0;
  const std::int64_t at_first = counted.live;
  auto map = exchange::AccessMap::make(comm, exchange::Block(size, comm.size()), indices,
                                       {.transport = argv[1], .order = exchange::Order::partition_free});
  std::vector<double> x(static_cast<std::size_t>(map.array_size())), values(indices.size());
  for (int round = 0; round < 3; ++round) {
    map.begin_gather(map.view(std::span(x))).finish();
    map.begin_scatter_add(exchange::Contribution{exchange::field(std::span(values)), map.view(std::span(x))})
        .finish();
  }
  map.rebuild(exchange::Block(size, comm.size()), indices);
  const std::int64_t live = mpi::max(comm, counted.live - at_first);
  const std::int64_t most = mpi::max(comm, counted.most - at_first);
  const std::int64_t largest = mpi::max(comm, counted.largest);
  if (comm.is_root())
    std::printf("live %lld most %lld largest %lld\n", static_cast<long long>(live),
                static_cast<long long>(most), static_cast<long long>(largest));
  return 0;
}
