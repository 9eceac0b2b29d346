// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "base/system.hpp"
#include "connections.hpp"
#include "tailrace/exchange/heap.hpp"
#include "tests.hpp"

namespace tailrace::bench::network {

namespace {

/// Seconds of the slowest rank. All begin together.
double slowest_s(mpi::CommView comm, const std::function<void()>& window) {
  MPI_Barrier(comm.get());
  const double begin = monotonic_s();
  window();
  return mpi::max(comm, monotonic_s() - begin);
}

/// Two ranks whose number is divided by half of all send to each other; the last of an odd number rests.
int partner(mpi::CommView comm) {
  const int half = comm.size() / 2;
  if (comm.rank() >= 2 * half) return -1;
  return comm.rank() < half ? comm.rank() + half : comm.rank() - half;
}

/// All pairs at once, each one way and with an answer at the end.
void stream_to(Endpoint& endpoint, bool sends, Source& source, std::size_t size, int count,
               const Settings& settings) {
  for (int i = 0; i < count && sends; ++i) endpoint.send(source.next(size));
  for (int i = 0; i < count && !sends; ++i) take(endpoint.receive(), settings);
  endpoint.flush();
  if (sends)
    endpoint.receive();
  else
    endpoint.send({});
  endpoint.flush();
}

/// Each rank sends to both of its neighbours, then receives from both.
void exchange(const Connections& connections, const std::vector<int>& neighbours, Source& source,
              std::size_t size, const Settings& settings) {
  for (const int one : neighbours) connections.to(one).send(source.next(size));
  for (const int one : neighbours) take(connections.to(one).receive(), settings);
  for (const int one : neighbours) connections.to(one).flush();
}

/// Ranks in the order of a pattern, cut into rings of some size, the last of which may be larger.
struct Pattern {
  std::string name;
  std::vector<int> order;
  int ring = 0;

  /// Of a rank, before and behind it in its ring; a ring of two has one neighbour twice.
  [[nodiscard]] std::vector<int> neighbours(int rank) const {
    const int size = static_cast<int>(order.size()), rings = std::max(1, size / ring);
    const auto at = std::find(order.begin(), order.end(), rank) - order.begin();
    const int own = std::min(static_cast<int>(at) / ring, rings - 1), first = own * ring;
    const int length = own == rings - 1 ? size - first : ring;
    const auto of = [&](int step) {
      return order[static_cast<std::size_t>(first + (static_cast<int>(at) - first + step + length) % length)];
    };
    return {of(-1), of(1)};
  }
};

/// Rings of 2, 3, 4, 8, ... and all ranks, in their own order and in an order by chance (Rabenseifner and
/// Koniges, "Effective bandwidth benchmark", 2001, which leaves 3 out and has 16 and 32 depend on the number
/// of ranks).
std::vector<Pattern> patterns(int ranks) {
  std::vector<int> natural(static_cast<std::size_t>(ranks));
  std::iota(natural.begin(), natural.end(), 0);
  auto mixed = natural;
  // The same order everywhere, whatever the library's distribution would do.
  std::mt19937 random(20011);
  for (std::size_t i = mixed.size(); i > 1; --i) std::swap(mixed[i - 1], mixed[random() % i]);
  std::vector<int> lengths;
  for (const int length : {2, 3, 4, 8, 16, 32, 64})
    if (length < ranks) lengths.push_back(length);
  lengths.push_back(ranks);
  std::vector<Pattern> all;
  for (const int length : lengths) all.push_back({"ring of " + std::to_string(length), natural, length});
  for (const int length : lengths)
    if (ranks > 2) all.push_back({"polygon of " + std::to_string(length), mixed, length});
  return all;
}

class Group {
 public:
  Group(mpi::CommView comm, const Settings& settings) : comm_(comm), settings_(settings), source_(settings) {
    for (const Adapter& adapter : settings.adapters)
      all_.push_back(std::make_unique<Connections>(comm, adapter, settings.largest()));
  }

  nlohmann::json rows() {
    nlohmann::json rows = nlohmann::json::array();
    for (const std::size_t size : settings_.sizes) {
      append(rows, pairs(size));
      append(rows, any_source(size));
      for (const Pattern& pattern : patterns(comm_.size())) append(rows, rings(pattern, size));
    }
    return rows;
  }

 private:
  nlohmann::json pairs(std::size_t size) {
    const int count = settings_.repetitions(size), peer = partner(comm_);
    return in_turns({"pairs", size, count}, names_of(settings_.adapters), settings_.windows,
                    [&](std::size_t i) {
                      if (!all_[i]->complete()) return -1.0;
                      return slowest_s(comm_, [&] {
                        if (peer >= 0)
                          stream_to(all_[i]->to(peer), comm_.rank() < peer, source_, size, count, settings_);
                      });
                    });
  }

  /// Both neighbours at the same time; those that cannot send two messages before they receive have no part.
  nlohmann::json rings(const Pattern& pattern, std::size_t size) {
    const auto neighbours = pattern.neighbours(comm_.rank());
    const int count = settings_.repetitions(size);
    return in_turns({pattern.name, size, 2 * count}, names_of(settings_.adapters), settings_.windows,
                    [&](std::size_t i) {
                      if (!all_[i]->complete() || settings_.adapters[i].ahead < 2) return -1.0;
                      return slowest_s(comm_, [&] {
                        for (int n = 0; n < count; ++n)
                          exchange(*all_[i], neighbours, source_, size, settings_);
                      });
                    });
  }

  nlohmann::json any_source(std::size_t size) {
    const int count = settings_.repetitions(size), senders = comm_.size() - 1;
    std::vector<std::unique_ptr<Endpoint>> all;
    for (const Adapter& adapter : any_source_adapters())
      all.push_back(adapter.make(comm_.get(), settings_.largest()));
    const auto names = names_of(any_source_adapters());
    return in_turns({"any-source", size, count * senders}, names, settings_.windows, [&](std::size_t i) {
      return slowest_s(comm_, [&] {
        for (int n = 0; n < count * senders && comm_.is_root(); ++n) take(all[i]->receive(), settings_);
        for (int n = 0; n < count && !comm_.is_root(); ++n) all[i]->send(source_.next(size));
        all[i]->flush();
      });
    });
  }

  mpi::CommView comm_;
  const Settings& settings_;
  Source source_;
  std::vector<std::unique_ptr<Connections>> all_;
};

/// Barrier, sum and broadcast among the first ranks, of MPI and of the library's symmetric memory.
class Collectives {
 public:
  Collectives(mpi::CommView comm, const Settings& settings)
      : comm_(comm),
        settings_(settings),
        heap_(comm),
        mine_(settings.largest() / sizeof(double) + 1),
        sums_(mine_.size()) {}

  nlohmann::json rows() {
    nlohmann::json rows = nlohmann::json::array();
    append(rows, row(
                     "barrier", 0, [&] { MPI_Barrier(comm_.get()); }, [&] { heap_.barrier_all(); }));
    for (const std::size_t size : settings_.sizes) {
      const auto values = std::span(mine_).first(size / sizeof(double));
      if (values.empty()) continue;
      const int count = static_cast<int>(values.size());
      append(rows,
             row(
                 "all-reduce", size,
                 [&] { MPI_Allreduce(values.data(), sums_.data(), count, MPI_DOUBLE, MPI_SUM, comm_.get()); },
                 [&] { heap_.sum(values); }));
      append(rows,
             row(
                 "broadcast", size, [&] { MPI_Bcast(values.data(), count, MPI_DOUBLE, 0, comm_.get()); },
                 [&] { heap_.broadcast(values, 0); }));
    }
    return rows;
  }

 private:
  nlohmann::json row(const std::string& test, std::size_t size, const std::function<void()>& of_mpi,
                     const std::function<void()>& of_heap) {
    const int count = settings_.repetitions(size);
    return in_turns({test, size, count}, {"mpi", "heap"}, settings_.windows, [&](std::size_t i) {
      return slowest_s(comm_, [&] {
        for (int n = 0; n < count; ++n) i == 0 ? of_mpi() : of_heap();
      });
    });
  }

  mpi::CommView comm_;
  const Settings& settings_;
  exchange::Heap heap_;
  std::vector<double> mine_, sums_;
};

/// 2, 4, 8, ... and all ranks.
std::vector<int> numbers_of_ranks(int all) {
  std::vector<int> numbers;
  for (int ranks = 2; ranks < all; ranks *= 2) numbers.push_back(ranks);
  numbers.push_back(all);
  return numbers;
}

}  // namespace

nlohmann::json group_rows(mpi::CommView comm, const Settings& settings) {
  nlohmann::json rows = Group(comm, settings).rows();
  for (const int ranks : numbers_of_ranks(comm.size())) {
    const mpi::Comm some = mpi::Comm::split(comm, comm.rank() < ranks ? 0 : -1);
    nlohmann::json more = nlohmann::json::array();
    if (!some.empty()) more = Collectives(some, settings).rows();
    for (auto& row : more) row["ranks"] = ranks;
    append(rows, more);
    mpi::barrier(comm);  // with pauses: whoever has no part leaves the cores to those who have
  }
  return rows;
}

}  // namespace tailrace::bench::network
