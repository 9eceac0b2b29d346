// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "endpoint.hpp"
#include "tailrace/comm.hpp"

/// The tests of the network, none of which knows what is behind an endpoint. Each returns rows with the
/// seconds of all windows: of rank 0 between two ranks, of the slowest where all take part.
namespace tailrace::bench::network {

struct Settings {
  std::vector<std::size_t> sizes{0, 1, 8, 64, 512, 4096, 32768, 262144, 1048576, 4194304};
  std::vector<Adapter> adapters = all_adapters();
  int windows = 50, messages = 64;
  bool cycled = false;   ///< each message from a place of its own, until those are used up
  bool touched = false;  ///< whoever receives a message reads all of it
  bool bounced = false;  ///< in ping-pong, a message that came is sent back; as NetPIPE does

  [[nodiscard]] std::size_t largest() const { return *std::max_element(sizes.begin(), sizes.end()); }
  /// Of a size, in a window: fewer large ones, which move some 16 MiB at most.
  [[nodiscard]] int repetitions(std::size_t size) const;
};

/// Bytes to be sent: the same ones, or others each time from a store that no cache holds.
class Source {
 public:
  explicit Source(const Settings& settings);
  Bytes next(std::size_t size);

 private:
  std::vector<std::byte> data_;
  std::size_t place_ = 0;
  bool cycled_;
};

/// Reads what was received, if that is wanted.
void take(Bytes message, const Settings& settings);

/// A row of a test for each adapter, window by window by all of them, after a window that is left out.
/// `seconds` times one window with adapter i; a negative number says that it does not take part.
struct Row {
  std::string test;
  std::size_t size = 0;
  int messages = 0;
};
nlohmann::json in_turns(const Row& row, const std::vector<std::string>& names, int windows,
                        const std::function<double(std::size_t)>& seconds);
/// Adds rows to others.
void append(nlohmann::json& rows, const nlohmann::json& more);
std::vector<std::string> names_of(const std::vector<Adapter>& adapters);

/// Two ranks: ping-pong, streaming, and both sides at once. @collective{comm}
nlohmann::json pair_rows(mpi::CommView comm, const Settings& settings);
/// Two ranks: ping-pong of blocking MPI through its endpoint and in a loop written by hand, in turns: what
/// the interface of the tests costs. @collective{comm}
nlohmann::json by_hand_rows(mpi::CommView comm, const Settings& settings);
/// Two ranks: what share of a transfer is hidden behind the work of who sends. @collective{comm}
nlohmann::json overlap_rows(mpi::CommView comm, const Settings& settings);
/// Two ranks: the largest message that MPI sends without its receiver, and whether a put is complete while
/// its target computes. @collective{comm}
nlohmann::json protocol_rows(mpi::CommView comm);
/// Two ranks or more: many pairs, any source, neighbours, rings, collective operations. @collective{comm}
nlohmann::json group_rows(mpi::CommView comm, const Settings& settings);
/// Two ranks or more: a ping-pong of each pair alone, and what its two ranks share. @collective{comm}
nlohmann::json matrix_rows(mpi::CommView comm, const Settings& settings);
/// Two ranks: whether each adapter keeps order, sizes and contents, in both directions. @collective{comm}
nlohmann::json check_rows(mpi::CommView comm, const Settings& settings);

}  // namespace tailrace::bench::network
