// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "endpoint.hpp"

namespace tailrace::bench::network {
namespace {

/// Two rings of slots in memory that both ranks share, one for each direction: a message is copied into a
/// slot and out of it, and the number of the slot says that it is there, or free again.
class NodeMemory : public Endpoint {
 public:
  NodeMemory(MPI_Comm comm, std::size_t largest)
      : slot_bytes_((largest + sizeof(Head) + 63) / 64 * 64), room_(largest + 1) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(slots * slot_bytes_), 1, MPI_INFO_NULL, comm, &mine_,
                            &window_);
    std::memset(mine_, 0, slots * slot_bytes_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 1 - rank, &size, &unit, &theirs_);
    MPI_Barrier(comm);
  }
  ~NodeMemory() override { MPI_Win_free(&window_); }

  void send(Bytes message) override {
    std::byte* const slot = theirs_ + sent_++ % slots * slot_bytes_;
    while (state(slot).load(std::memory_order_acquire) != 0) sched_yield();
    reinterpret_cast<Head*>(slot)->size = message.size();
    std::memcpy(slot + sizeof(Head), message.data(), message.size());
    state(slot).store(1, std::memory_order_release);
  }
  Bytes receive() override {
    std::byte* const slot = mine_ + received_++ % slots * slot_bytes_;
    while (state(slot).load(std::memory_order_acquire) == 0) sched_yield();
    const std::size_t size = reinterpret_cast<Head*>(slot)->size;
    std::memcpy(room_.data(), slot + sizeof(Head), size);
    state(slot).store(0, std::memory_order_release);
    return Bytes(room_).first(size);
  }

 private:
  struct Head {
    std::uint64_t full, size;
  };
  static constexpr std::uint64_t slots = 8;
  static std::atomic_ref<std::uint64_t> state(std::byte* slot) {
    return std::atomic_ref(reinterpret_cast<Head*>(slot)->full);
  }

  std::size_t slot_bytes_;
  std::vector<std::byte> room_;
  std::byte *mine_ = nullptr, *theirs_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  std::uint64_t sent_ = 0, received_ = 0;
};

}  // namespace

std::unique_ptr<Endpoint> node_memory(MPI_Comm comm, std::size_t largest) {
  int together = 0, size = 0;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &together);
  MPI_Comm_size(comm, &size);
  MPI_Comm_free(&node);
  if (together != size) return nullptr;
  return std::make_unique<NodeMemory>(comm, largest);
}

}  // namespace tailrace::bench::network
