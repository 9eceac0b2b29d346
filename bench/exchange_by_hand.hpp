// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/inspection.hpp"
#include "exchange_maps.hpp"
#include "mpi/message.hpp"
#include "tailrace/comm.hpp"

namespace tailrace::bench {

/// Own values that another rank reads, and where its landing slots for them begin.
struct Outgoing {
  int rank;
  std::int64_t target_slot;
  std::vector<std::int64_t> places;
};

/// What goes where, and a buffer with the messages one behind the other.
struct ByHand {
  ByHand(mpi::CommView parent, const IndexLoad& load, int components)
      : comm(mpi::Comm::duplicate(parent)),
        numbers(static_cast<std::size_t>(components)),
        mine(exchange::inspect(load.distribution, parent.rank(), load.indices)) {
    for (int rank = 0; rank < parent.size(); ++rank) ask(rank);
    buffer.resize(static_cast<std::size_t>(starts.back()));
  }
  /// One rank says what it reads, all others keep what is theirs.
  void ask(int rank) {
    const mpi::CommView view = comm;
    std::vector<std::int64_t> wanted = mine.wanted, owned{mine.owned};
    std::vector<exchange::Source> sources = mine.sources;
    mpi::broadcast(view, wanted, rank);
    mpi::broadcast(view, sources, rank);
    mpi::broadcast(view, owned, rank);
    for (const auto& source : sources) {
      if (source.rank != view.rank()) continue;
      const auto first = wanted.begin() + source.first;
      out.push_back({rank, owned.front() + source.first, {first, first + source.count}});
      starts.push_back(starts.back() + static_cast<std::int64_t>(numbers) * source.count);
    }
  }
  void pack(std::size_t i, const std::vector<double>& x) {
    double* to = buffer.data() + starts[i];
    for (const std::int64_t place : out[i].places) {
      const double* const from = x.data() + static_cast<std::size_t>(place) * numbers;
      for (std::size_t c = 0; c < numbers; ++c) *to++ = from[c];
    }
  }
  [[nodiscard]] std::span<const double> message(std::size_t i) const {
    return std::span(buffer).subspan(static_cast<std::size_t>(starts[i]),
                                     static_cast<std::size_t>(starts[i + 1] - starts[i]));
  }
  [[nodiscard]] std::span<double> room(std::size_t i) {
    return std::span(buffer).subspan(static_cast<std::size_t>(starts[i]),
                                     static_cast<std::size_t>(starts[i + 1] - starts[i]));
  }
  void add(std::size_t i, std::vector<double>& x) const {
    const double* from = buffer.data() + starts[i];
    for (const std::int64_t place : out[i].places) {
      double* const to = x.data() + static_cast<std::size_t>(place) * numbers;
      for (std::size_t c = 0; c < numbers; ++c) to[c] += *from++;
    }
  }
  /// Where in an array what comes from a source goes.
  [[nodiscard]] std::size_t place(const exchange::Source& source) const {
    return static_cast<std::size_t>(mine.owned + source.first) * numbers;
  }

  mpi::Comm comm;
  std::size_t numbers;
  exchange::Inspection mine;
  std::vector<Outgoing> out;
  std::vector<std::int64_t> starts{0};  ///< of messages in the buffer, in numbers
  std::vector<double> buffer;
};

}  // namespace tailrace::bench
