// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/exchange/heap.hpp"
#include "endpoint.hpp"

namespace tailrace::bench::network {
namespace {

using exchange::Compare;
using exchange::Heap;
using exchange::Symmetric;

/// The library's one-sided exchange: a message is put into a slot of the peer's symmetric memory, its number
/// is the signal, and the peer puts back how many it has read. Operations leave one by one: whoever has sent
/// its last message makes no further call here that would send what waits for others.
class HeapMessages : public Endpoint {
 public:
  HeapMessages(mpi::CommView comm, std::size_t largest)
      : heap_(comm),
        peer_(1 - comm.rank()),
        slot_bytes_(static_cast<std::int64_t>(largest + 64)),
        room_(heap_.allocate<std::byte>(slots * slot_bytes_)),
        sizes_(heap_.allocate<std::uint64_t>(slots)),
        counts_(heap_.allocate<std::uint64_t>(2)) {}

  void send(Bytes message) override {
    if (sent_ >= slots) heap_.wait_until(counts_, read, Compare::greater, sent_ - slots);
    const auto slot = static_cast<std::int64_t>(sent_ % slots);
    heap_.put(sizes_.on(peer_, slot), message.size());
    heap_.fence();  // who sees the signal sees the size, too
    heap_.put_signal(room_.on(peer_, slot * slot_bytes_), message, counts_.on(peer_, written), ++sent_);
  }
  Bytes receive() override {
    release();
    heap_.wait_until(counts_, written, Compare::greater, received_);
    const std::uint64_t slot = received_++ % slots;
    holds_ = true;
    return Bytes(room_.local()).subspan(slot * static_cast<std::size_t>(slot_bytes_), sizes_.local()[slot]);
  }
  /// What was put may be changed at once.
  void flush() override { release(); }

 private:
  static constexpr std::uint64_t slots = 8;
  static constexpr std::int64_t written = 0, read = 1;

  void release() {
    if (holds_) heap_.put(counts_.on(peer_, read), received_);
    holds_ = false;
  }

  Heap heap_;
  int peer_;
  std::int64_t slot_bytes_;
  Symmetric<std::byte> room_;
  Symmetric<std::uint64_t> sizes_, counts_;
  std::uint64_t sent_ = 0, received_ = 0;
  bool holds_ = false;
};

}  // namespace

std::unique_ptr<Endpoint> heap_messages(MPI_Comm comm, std::size_t largest) {
  return std::make_unique<HeapMessages>(mpi::CommView(comm), largest);
}

}  // namespace tailrace::bench::network
