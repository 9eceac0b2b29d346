// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "exchange/entries.hpp"
#include "exchange/transports/passive.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

mpi::WindowNumber window_number(Number number) {
  switch (number) {
    case Number::float32:
      return mpi::WindowNumber::float32;
    case Number::float64:
      return mpi::WindowNumber::float64;
    case Number::int32:
      return mpi::WindowNumber::int32;
    case Number::int64:
      return mpi::WindowNumber::int64;
    case Number::byte:
      break;
  }
  throw Error(ErrorKind::internal, "no operation of MPI combines objects of the caller", "another transport");
}

mpi::WindowOperation window_operation(Reduction how) {
  switch (how) {
    case Reduction::sum:
      return mpi::WindowOperation::sum;
    case Reduction::min:
      return mpi::WindowOperation::min;
    case Reduction::max:
      return mpi::WindowOperation::max;
    case Reduction::logical_or:
      break;
  }
  return mpi::WindowOperation::logical_or;
}

std::size_t entry_bytes(const Sums& sums) {
  std::size_t bytes = 0;
  for (const Field& field : sums.fields) bytes += field.entry_bytes();
  return bytes;
}

/// The sums of a rank, which have the place of a message in its window, though nobody sends them whole.
std::vector<Peer> stored_sums(const LineConfig& config) {
  return {{config.comm.rank(), static_cast<std::size_t>(config.sums->count) * entry_bytes(*config.sums)}};
}

/// Contributions are combined at their owner by MPI_Accumulate, in the window of the owner, which has one
/// place for each value that others contribute to, however many they are. First all of the first field, then
/// of the next.
class Accumulate final : public Passive<PassiveWindow> {
 public:
  explicit Accumulate(const LineConfig& config) : Passive(config, stored_sums(config)), out_(config.to) {
    reset();
    exchange_places();
  }
  std::byte* outgoing(std::size_t i) override { return was_read(i) ? out_[i] : nullptr; }
  void send(std::size_t i) override {
    const std::byte* message = out_[i];
    const int rank = config().to[i].rank;
    const auto& fields = sums().fields;
    for (std::size_t f = 0; f < fields.size(); ++f) {
      memory().accumulate(message, places_[i].fields[f], rank, window_operation(sums().how));
      message += places_[i].entries * fields[f].entry_bytes();
    }
    memory().flush(rank);
    notify_receiver(i);
  }
  const std::byte* incoming(std::size_t) const override { return stored(0); }
  bool end() override {
    reset();
    memory().sync();
    return Passive::end();
  }
  std::size_t memory_bytes() const noexcept override { return stored_bytes() + out_.size_bytes(); }

 private:
  /// Where in an owner's window the entries of a message go.
  struct Target {
    std::size_t entries = 0;
    std::vector<mpi::NumberPlaces> fields;
  };
  [[nodiscard]] const Sums& sums() const noexcept { return *config().sums; }

  /// To the value that changes nothing. Nobody writes here meanwhile: who has sent waits until it was read.
  void reset() {
    std::byte* at = stored(0);
    for (Field field : sums().fields) {
      field.data = at;
      field.entries = sums().count;
      set_neutral(field, sums().how);
      at += static_cast<std::size_t>(sums().count) * field.entry_bytes();
    }
  }
  /// Every owner lets its senders know where its sums are, how many, and which of them are theirs.
  void exchange_places() {
    std::vector<mpi::Packet<std::int64_t>> mine;
    for (std::size_t i = 0; i < config().from.size(); ++i) {
      mine.push_back({config().from[i].rank, {static_cast<std::int64_t>(place(0)), sums().count}});
      const auto& places = sums().places[i];
      mine.back().values.insert(mine.back().values.end(), places.begin(), places.end());
    }
    for (const auto& packet : mpi::deliver(config().comm, mine)) places_.push_back(target_of(packet.values));
  }
  [[nodiscard]] Target target_of(const std::vector<std::int64_t>& given) const {
    Target target{given.size() - 2, {}};
    std::int64_t first = given[0];
    for (const Field& field : sums().fields) {
      const auto bytes = static_cast<std::int64_t>(field.entry_bytes());
      std::vector<std::ptrdiff_t> at;
      for (std::size_t k = 2; k < given.size(); ++k)
        at.push_back(static_cast<std::ptrdiff_t>(first + given[k] * bytes));
      target.fields.emplace_back(window_number(field.number), field.components, at);
      first += given[1] * bytes;
    }
    return target;
  }

  MessageArea out_;
  std::vector<Target> places_;  ///< of each of `to`
};

}  // namespace

std::unique_ptr<Line> open_accumulate(LineConfig config) {
  return std::make_unique<Accumulate>(config);
}

}  // namespace tailrace::exchange
