// SPDX-License-Identifier: BSD-3-Clause
#include <deque>

#include "am/endpoint.hpp"
#include "am/over_mpi.hpp"
#include "endpoint.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench::network {
namespace {

/// Active messages of the library. Without aggregation each message leaves at once; otherwise small ones wait
/// for others until they are received for, or flushed. Whoever waits lets all connections of the process
/// move: what this rank sent through another one may wait for its consent to a large message.
class ActiveMessages : public Endpoint {
 public:
  ActiveMessages(MPI_Comm comm, bool together)
      : endpoint_(am::over_mpi(mpi::CommView(comm))),
        to_(endpoint_.size() == 2 ? 1 - endpoint_.rank() : 0),
        together_(together) {
    connections().push_back(&endpoint_);
    endpoint_.set_handler(0, am::Lane::data, [this](am::Message& message) {
      const auto body = message.body();
      arrived_.emplace_back(body.begin(), body.end());
    });
  }
  ~ActiveMessages() override {
    endpoint_.close();
    std::erase(connections(), &endpoint_);
  }

  void send(Bytes message) override {
    ++under_way_;
    endpoint_.send(to_, 0, {{}, message}, [this] { --under_way_; });
    if (!together_) endpoint_.flush();
  }
  Bytes receive() override {
    endpoint_.flush();
    while (arrived_.empty()) progress();
    current_ = std::move(arrived_.front());
    arrived_.pop_front();
    return current_;
  }
  void flush() override {
    endpoint_.flush();
    while (under_way_ > 0 || endpoint_.waiting_bytes() > 0) progress();
  }

 private:
  static std::vector<am::Endpoint*>& connections() {
    static std::vector<am::Endpoint*> all;
    return all;
  }
  static void progress() {
    for (am::Endpoint* const one : connections()) one->progress();
  }

  am::Endpoint endpoint_;
  int to_;
  bool together_;
  std::deque<std::vector<std::byte>> arrived_;
  std::vector<std::byte> current_;
  int under_way_ = 0;
};

}  // namespace

std::unique_ptr<Endpoint> active_messages(MPI_Comm comm, std::size_t /*largest*/) {
  return std::make_unique<ActiveMessages>(comm, false);
}
std::unique_ptr<Endpoint> active_messages_together(MPI_Comm comm, std::size_t /*largest*/) {
  return std::make_unique<ActiveMessages>(comm, true);
}

}  // namespace tailrace::bench::network
