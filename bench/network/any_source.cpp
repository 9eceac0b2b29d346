// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench::network {
namespace {

constexpr int tag = 2;

/// All ranks send to rank 0, which receives from one after the other, by name.
class Named : public Endpoint {
 public:
  Named(MPI_Comm comm, std::size_t largest) : comm_(comm), room_(largest + 1) {}
  void send(Bytes message) override {
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, tag, comm_.get());
  }
  Bytes receive() override {
    source_ = source_ % (comm_.size() - 1) + 1;
    return receive_from(source_, static_cast<int>(room_.size()));
  }

 protected:
  Bytes receive_from(int source, int room) {
    MPI_Status status;
    int count = 0;
    MPI_Recv(room_.data(), room, MPI_BYTE, source, tag, comm_.get(), &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    return Bytes(room_).first(static_cast<std::size_t>(count));
  }

  mpi::CommView comm_;
  std::vector<std::byte> room_;

 private:
  int source_ = 0;
};

/// From whoever is first.
class Any : public Named {
 public:
  using Named::Named;
  Bytes receive() override { return receive_from(MPI_ANY_SOURCE, static_cast<int>(room_.size())); }
};

/// Asks who is first, and with how much.
class ProbeAny : public Named {
 public:
  using Named::Named;
  Bytes receive() override {
    MPI_Status status;
    int count = 0;
    MPI_Probe(MPI_ANY_SOURCE, tag, comm_.get(), &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    return receive_from(status.MPI_SOURCE, count);
  }
};

template <class Kind>
std::unique_ptr<Endpoint> make(MPI_Comm comm, std::size_t largest) {
  return std::make_unique<Kind>(comm, largest);
}

}  // namespace

const std::vector<Adapter>& any_source_adapters() {
  static const std::vector<Adapter> all{{"mpi-named-source", make<Named>},
                                        {"mpi-any-source", make<Any>},
                                        {"mpi-probe-any", make<ProbeAny>},
                                        {"am", active_messages}};
  return all;
}

}  // namespace tailrace::bench::network
