// SPDX-License-Identifier: BSD-3-Clause
#include <deque>

#include "am/endpoint.hpp"
#include "am/over_mpi.hpp"
#include "endpoint.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench::network {
namespace {

/// Active messages of the library. Without aggregation each message leaves at once; otherwise small ones wait
/// for others until they are received for, or flushed.
class ActiveMessages : public Endpoint {
 public:
  ActiveMessages(MPI_Comm comm, bool together)
      : endpoint_(am::over_mpi(mpi::CommView(comm))), together_(together) {
    endpoint_.set_handler(0, am::Lane::data, [this](am::Message& message) {
      const auto body = message.body();
      arrived_.emplace_back(body.begin(), body.end());
    });
  }
  ~ActiveMessages() override { endpoint_.close(); }

  void send(Bytes message) override {
    ++under_way_;
    endpoint_.send(1 - endpoint_.rank(), 0, {{}, message}, [this] { --under_way_; });
    if (!together_) endpoint_.flush();
  }
  Bytes receive() override {
    endpoint_.flush();
    while (arrived_.empty()) endpoint_.progress();
    current_ = std::move(arrived_.front());
    arrived_.pop_front();
    return current_;
  }
  void flush() override {
    endpoint_.flush();
    while (under_way_ > 0 || endpoint_.waiting_bytes() > 0) endpoint_.progress();
  }

 private:
  am::Endpoint endpoint_;
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
