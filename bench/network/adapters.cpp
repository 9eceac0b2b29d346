// SPDX-License-Identifier: BSD-3-Clause
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>

#include "endpoint.hpp"

namespace tailrace::bench::network {
namespace {

constexpr int tag = 1;

int peer_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return 1 - rank;
}

/// What all MPI messages have in common: a buffer with room for the largest.
class MessageEndpoint : public Endpoint {
 public:
  MessageEndpoint(MPI_Comm comm, std::size_t largest)
      : comm_(comm), peer_(peer_of(comm)), room_(largest + 1) {}

 protected:
  Bytes received(const MPI_Status& status) const {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    return Bytes(room_).first(static_cast<std::size_t>(count));
  }
  int room() const { return static_cast<int>(room_.size()); }

  MPI_Comm comm_;
  int peer_;
  std::vector<std::byte> room_;
};

class Blocking : public MessageEndpoint {
 public:
  using MessageEndpoint::MessageEndpoint;
  void send(Bytes message) override {
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer_, tag, comm_);
  }
  Bytes receive() override {
    MPI_Status status;
    MPI_Recv(room_.data(), room(), MPI_BYTE, peer_, tag, comm_, &status);
    return received(status);
  }
};

/// Sends are completed together, as in OSU's bandwidth test.
class NonBlocking : public MessageEndpoint {
 public:
  using MessageEndpoint::MessageEndpoint;
  void send(Bytes message) override {
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer_, tag, comm_,
              &requests_.emplace_back());
  }
  Bytes receive() override {
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(room_.data(), room(), MPI_BYTE, peer_, tag, comm_, &request);
    MPI_Wait(&request, &status);
    return received(status);
  }
  void flush() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

/// A request for each pair of address and size, made when it is first sent.
class Persistent : public MessageEndpoint {
 public:
  Persistent(MPI_Comm comm, std::size_t largest) : MessageEndpoint(comm, largest) {
    MPI_Recv_init(room_.data(), room(), MPI_BYTE, peer_, tag, comm_, &receive_);
  }
  ~Persistent() override {
    MPI_Request_free(&receive_);
    for (auto& [what, request] : sends_) MPI_Request_free(&request);
  }
  void send(Bytes message) override {
    const auto [place, is_new] = sends_.try_emplace({message.data(), message.size()}, MPI_REQUEST_NULL);
    if (is_new)
      MPI_Send_init(message.data(), static_cast<int>(message.size()), MPI_BYTE, peer_, tag, comm_,
                    &place->second);
    MPI_Start(&place->second);
    MPI_Wait(&place->second, MPI_STATUS_IGNORE);
  }
  Bytes receive() override {
    MPI_Status status;
    MPI_Start(&receive_);
    MPI_Wait(&receive_, &status);
    return received(status);
  }

 private:
  MPI_Request receive_ = MPI_REQUEST_NULL;
  std::map<std::pair<const std::byte*, std::size_t>, MPI_Request> sends_;
};

/// Asks how large the next message is before it is received.
class Probe : public Blocking {
 public:
  using Blocking::Blocking;
  Bytes receive() override {
    MPI_Status status;
    int count = 0;
    MPI_Probe(peer_, tag, comm_, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Recv(room_.data(), count, MPI_BYTE, peer_, tag, comm_, &status);
    return Bytes(room_).first(static_cast<std::size_t>(count));
  }
};

/// Puts messages into slots of the peer's window: first the bytes and their number, then, after a flush, the
/// number of the message, for which the peer looks. A slot is used again when the peer has put back that it
/// is free.
class PutFlush : public Endpoint {
 public:
  /// Null without windows between these ranks.
  static std::unique_ptr<Endpoint> make(MPI_Comm comm, std::size_t largest) {
    const std::size_t slot_bytes = (largest + sizeof(Head) + 63) / 64 * 64, bytes = 64 + slots * slot_bytes;
    std::byte* memory = nullptr;
    const MPI_Win window = allocate_window(comm, bytes, memory);
    if (window == MPI_WIN_NULL) return nullptr;
    std::memset(memory, 0, bytes);
    MPI_Barrier(comm);
    MPI_Win_lock_all(0, window);
    return std::unique_ptr<Endpoint>(new PutFlush(comm, slot_bytes, memory, window));
  }
  ~PutFlush() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  void send(Bytes message) override {
    while (sent_ - read(0) >= slots) look();
    const std::size_t slot = place(sent_);
    const std::uint64_t size = message.size();
    put(&size, sizeof size, slot + sizeof(std::uint64_t));
    put(message.data(), message.size(), slot + sizeof(Head));
    MPI_Win_flush(peer_, window_);
    post(++sent_, slot);
  }
  Bytes receive() override {
    release();
    const std::size_t slot = place(received_);
    while (read(slot) != received_ + 1) look();
    ++received_;
    holds_ = true;
    return {memory_ + slot + sizeof(Head), static_cast<std::size_t>(read(slot + sizeof(std::uint64_t)))};
  }
  /// What was received last is read: its sender may be waiting for the slot.
  void flush() override { release(); }

 private:
  struct Head {
    std::uint64_t number, size;
  };
  static constexpr std::uint64_t slots = 8;

  PutFlush(MPI_Comm comm, std::size_t slot_bytes, std::byte* memory, MPI_Win window)
      : comm_(comm), peer_(peer_of(comm)), slot_bytes_(slot_bytes), memory_(memory), window_(window) {}
  std::size_t place(std::uint64_t number) const { return 64 + number % slots * slot_bytes_; }
  std::uint64_t read(std::size_t at) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_ + at)).load(std::memory_order_acquire);
  }
  void put(const void* data, std::size_t bytes, std::size_t at) {
    const int count = static_cast<int>(bytes);
    MPI_Put(data, count, MPI_BYTE, peer_, static_cast<MPI_Aint>(at), count, MPI_BYTE, window_);
  }
  void post(std::uint64_t number, std::size_t at) {
    MPI_Accumulate(&number, 1, MPI_UINT64_T, peer_, static_cast<MPI_Aint>(at), 1, MPI_UINT64_T, MPI_REPLACE,
                   window_);
    MPI_Win_flush(peer_, window_);
  }
  void release() {
    if (holds_) post(received_, 0);
    holds_ = false;
  }
  /// Lets MPI progress, which MPICH does when it is asked for messages of the peer, and others have the core.
  void look() {
    int found = 0;
    MPI_Iprobe(peer_, tag, comm_, &found, MPI_STATUS_IGNORE);
    MPI_Win_sync(window_);
    sched_yield();
  }

  MPI_Comm comm_;
  int peer_;
  std::size_t slot_bytes_;
  std::byte* memory_;
  MPI_Win window_;
  std::uint64_t sent_ = 0, received_ = 0;
  bool holds_ = false;
};

template <class Kind>
std::unique_ptr<Endpoint> make(MPI_Comm comm, std::size_t largest) {
  return std::make_unique<Kind>(comm, largest);
}

}  // namespace

MPI_Win allocate_window(MPI_Comm comm, std::size_t bytes, std::byte*& memory) {
  MPI_Win window = MPI_WIN_NULL;
  void* base = nullptr;
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(comm, &before);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int code = MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm,
                                    static_cast<void*>(&base), &window);
  MPI_Comm_set_errhandler(comm, before);
  MPI_Errhandler_free(&before);
  int made = code == MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &made, 1, MPI_INT, MPI_MIN, comm);
  memory = static_cast<std::byte*>(base);
  return made != 0 ? window : MPI_WIN_NULL;
}

const std::vector<Adapter>& all_adapters() {
  static const std::vector<Adapter> all{{"mpi-blocking", make<Blocking>},
                                        {"mpi-nonblocking", make<NonBlocking>, any_number},
                                        {"mpi-persistent", make<Persistent>},
                                        {"mpi-probe", make<Probe>},
                                        {"mpi-put-flush", PutFlush::make, 8},
                                        {"node-memory", node_memory, 8},
                                        {"heap", heap_messages, 8},
                                        {"am", active_messages, any_number},
                                        {"am-aggregated", active_messages_together, any_number}};
  return all;
}

}  // namespace tailrace::bench::network
