// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_peers.hpp"

#include <mpi.h>

#include <algorithm>
#include <span>

#include "exchange_by_hand.hpp"
#include "mpi/message.hpp"

namespace tailrace::bench {

namespace {

class TwoSided final : public HandWritten {
 public:
  TwoSided(mpi::CommView comm, const IndexLoad& load, int components) : exchange_(comm, load, components) {}
  void gather(std::vector<double>& x) override {
    requests_.clear();
    for (const auto& source : exchange_.mine.sources) {
      const auto landing = std::span(x).subspan(exchange_.place(source),
                                                static_cast<std::size_t>(source.count) * exchange_.numbers);
      requests_.push_back(
          mpi::start_receive(exchange_.comm, std::as_writable_bytes(landing), source.rank, 1));
    }
    for (std::size_t i = 0; i < exchange_.out.size(); ++i) {
      exchange_.pack(i, x);
      requests_.push_back(
          mpi::start_send(exchange_.comm, std::as_bytes(exchange_.message(i)), exchange_.out[i].rank, 1));
    }
    mpi::wait_all(requests_);
  }
  bool scatter_add(std::vector<double>& x) override {
    requests_.clear();
    for (std::size_t i = 0; i < exchange_.out.size(); ++i)
      requests_.push_back(mpi::start_receive(exchange_.comm, std::as_writable_bytes(exchange_.room(i)),
                                             exchange_.out[i].rank, 2));
    for (const auto& source : exchange_.mine.sources) {
      const auto landing = std::span(x).subspan(exchange_.place(source),
                                                static_cast<std::size_t>(source.count) * exchange_.numbers);
      requests_.push_back(mpi::start_send(exchange_.comm, std::as_bytes(landing), source.rank, 2));
    }
    mpi::wait_all(requests_);
    for (std::size_t i = 0; i < exchange_.out.size(); ++i) exchange_.add(i, x);
    return true;
  }

 private:
  ByHand exchange_;
  std::vector<mpi::Request> requests_;
};

class Neighbours final : public HandWritten {
 public:
  Neighbours(mpi::CommView comm, const IndexLoad& load, int components) : exchange_(comm, load, components) {
    std::vector<int> from, to;
    for (const auto& source : exchange_.mine.sources) {
      from.push_back(source.rank);
      in_counts_.push_back(static_cast<int>(source.count) * components);
      in_starts_.push_back(static_cast<int>(exchange_.place(source)));
    }
    for (std::size_t i = 0; i < exchange_.out.size(); ++i) {
      to.push_back(exchange_.out[i].rank);
      out_counts_.push_back(static_cast<int>(exchange_.message(i).size()));
      out_starts_.push_back(static_cast<int>(exchange_.starts[i]));
    }
    MPI_Dist_graph_create_adjacent(exchange_.comm.view().get(), static_cast<int>(from.size()), from.data(),
                                   MPI_UNWEIGHTED, static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph_);
  }
  ~Neighbours() override { MPI_Comm_free(&graph_); }
  void gather(std::vector<double>& x) override {
    for (std::size_t i = 0; i < exchange_.out.size(); ++i) exchange_.pack(i, x);
    MPI_Neighbor_alltoallv(exchange_.buffer.data(), out_counts_.data(), out_starts_.data(), MPI_DOUBLE,
                           x.data(), in_counts_.data(), in_starts_.data(), MPI_DOUBLE, graph_);
  }

 private:
  ByHand exchange_;
  MPI_Comm graph_ = MPI_COMM_NULL;
  std::vector<int> in_counts_, in_starts_, out_counts_, out_starts_;
};

enum class Epoch { fence, pscw, lock };

/// Puts into a window that has the landing slots, which are copied out of it.
class OneSided final : public HandWritten {
 public:
  OneSided(mpi::CommView comm, const IndexLoad& load, int components, Epoch epoch)
      : exchange_(comm, load, components), epoch_(epoch) {
    const auto numbers = static_cast<std::size_t>(exchange_.mine.array_size()) * exchange_.numbers;
    MPI_Win_allocate(static_cast<MPI_Aint>(numbers * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                     exchange_.comm.view().get(), &landing_, &window_);
    if (epoch_ == Epoch::lock) MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    make_groups();
  }
  ~OneSided() override {
    if (epoch_ == Epoch::lock) MPI_Win_unlock_all(window_);
    MPI_Group_free(&readers_);
    MPI_Group_free(&sources_);
    MPI_Win_free(&window_);
  }
  void gather(std::vector<double>& x) override {
    if (epoch_ == Epoch::fence) MPI_Win_fence(MPI_MODE_NOPRECEDE, window_);
    if (epoch_ == Epoch::pscw) MPI_Win_post(sources_, 0, window_), MPI_Win_start(readers_, 0, window_);
    for (std::size_t i = 0; i < exchange_.out.size(); ++i) put(i, x);
    finish();
    for (const auto& source : exchange_.mine.sources)
      std::copy_n(landing_ + exchange_.place(source),
                  static_cast<std::size_t>(source.count) * exchange_.numbers,
                  x.begin() + static_cast<std::ptrdiff_t>(exchange_.place(source)));
  }

 private:
  void make_groups() {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Comm_group(exchange_.comm.view().get(), &all);
    std::vector<int> to, from;
    for (const Outgoing& out : exchange_.out) to.push_back(out.rank);
    for (const auto& source : exchange_.mine.sources) from.push_back(source.rank);
    MPI_Group_incl(all, static_cast<int>(to.size()), to.data(), &readers_);
    MPI_Group_incl(all, static_cast<int>(from.size()), from.data(), &sources_);
    MPI_Group_free(&all);
  }
  void put(std::size_t i, const std::vector<double>& x) {
    exchange_.pack(i, x);
    const auto message = exchange_.message(i);
    const auto count = static_cast<int>(message.size());
    const auto target =
        static_cast<MPI_Aint>(exchange_.out[i].target_slot) * static_cast<MPI_Aint>(exchange_.numbers);
    MPI_Put(message.data(), count, MPI_DOUBLE, exchange_.out[i].rank, target, count, MPI_DOUBLE, window_);
  }
  void finish() {
    if (epoch_ == Epoch::fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window_);
    if (epoch_ == Epoch::pscw) MPI_Win_complete(window_), MPI_Win_wait(window_);
    if (epoch_ != Epoch::lock) return;
    MPI_Win_flush_all(window_);
    MPI_Win_sync(window_);
    mpi::barrier(exchange_.comm);
    MPI_Win_sync(window_);
  }

  ByHand exchange_;
  Epoch epoch_;
  double* landing_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Group readers_ = MPI_GROUP_NULL, sources_ = MPI_GROUP_NULL;
};

}  // namespace

std::vector<NamedPeer> hand_written(mpi::CommView comm, const IndexLoad& load, int components) {
  const auto one_sided = [=, &load](Epoch epoch) {
    return [=, &load] { return std::make_unique<OneSided>(comm, load, components, epoch); };
  };
  return {{"isend", [=, &load] { return std::make_unique<TwoSided>(comm, load, components); }},
          {"alltoallv", [=, &load] { return std::make_unique<Neighbours>(comm, load, components); }},
          {"rma-fence", one_sided(Epoch::fence)},
          {"rma-pscw", one_sided(Epoch::pscw)},
          {"rma-lock", one_sided(Epoch::lock)}};
}

}  // namespace tailrace::bench
