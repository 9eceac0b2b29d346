// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "tests.hpp"

namespace tailrace::bench::network {

namespace {

struct Side {
  Endpoint& endpoint;
  Source& source;
  const Settings& settings;
  int rank;
  std::size_t size;

  void send() const { endpoint.send(source.next(size)); }
  Bytes receive() const {
    const Bytes message = endpoint.receive();
    take(message, settings);
    return message;
  }
};

/// There and back, each time the bytes that came, from where they came to: whoever receives them next finds
/// none of them in its cache.
void bounced(const Side& side, int count) {
  Bytes message = side.source.next(side.size);
  for (int i = 0; i < count; ++i) {
    if (side.rank == 0) side.endpoint.send(message);
    message = side.receive();
    if (side.rank == 1) side.endpoint.send(message);
    side.endpoint.flush();
  }
}

/// There and back.
void ping_pong(const Side& side, int count) {
  if (side.settings.bounced) return bounced(side, count);
  for (int i = 0; i < count; ++i) {
    if (side.rank == 0) side.send();
    side.receive();
    if (side.rank == 1) side.send();
    side.endpoint.flush();
  }
}

/// A short answer of rank 1 to what came before.
void answer(const Side& side) {
  if (side.rank == 1) side.endpoint.send({});
  if (side.rank == 0) side.endpoint.receive();
  side.endpoint.flush();
}

/// A window of messages one way, then the answer.
void streaming(const Side& side, int count) {
  for (int i = 0; i < count && side.rank == 0; ++i) side.send();
  for (int i = 0; i < count && side.rank == 1; ++i) side.receive();
  side.endpoint.flush();
  answer(side);
}

/// Both send at the same time, and then receive.
void ping_ping(const Side& side, int count) {
  for (int i = 0; i < count; ++i) {
    side.send();
    side.receive();
    side.endpoint.flush();
  }
}

/// A window of messages both ways at the same time.
void both_ways(const Side& side, int count) {
  for (int i = 0; i < count; ++i) side.send();
  for (int i = 0; i < count; ++i) side.receive();
  side.endpoint.flush();
}

/// The ping-pong of blocking MPI as somebody writes it who knows nothing of endpoints.
void ping_pong_by_hand(mpi::CommView comm, std::vector<std::byte>& data, std::vector<std::byte>& room,
                       int count) {
  const int size = static_cast<int>(data.size()), peer = 1 - comm.rank();
  const bool begins = comm.rank() == 0;
  for (int i = 0; i < count; ++i) {
    if (begins) MPI_Send(data.data(), size, MPI_BYTE, peer, 1, comm.get());
    MPI_Recv(room.data(), size, MPI_BYTE, peer, 1, comm.get(), MPI_STATUS_IGNORE);
    if (!begins) MPI_Send(data.data(), size, MPI_BYTE, peer, 1, comm.get());
  }
}

struct Test {
  const char* name;
  void (*run)(const Side&, int);
  int (*ahead)(int count);  ///< messages that both sides send before they receive
};
constexpr auto none = [](int) { return 0; };
const std::vector<Test> tests{{"ping-pong", ping_pong, none},
                              {"streaming", streaming, none},
                              {"ping-ping", ping_ping, [](int) { return 1; }},
                              {"both-ways", both_ways, [](int count) { return count; }}};

std::vector<std::unique_ptr<Endpoint>> endpoints(mpi::CommView comm, const Settings& settings) {
  std::vector<std::unique_ptr<Endpoint>> all;
  for (const Adapter& adapter : settings.adapters)
    all.push_back(adapter.make(comm.get(), settings.largest()));
  return all;
}

/// Seconds of a window. Both begin together.
double timed(mpi::CommView comm, const std::function<void()>& window) {
  MPI_Barrier(comm.get());
  const double begin = monotonic_s();
  window();
  return monotonic_s() - begin;
}

/// Arithmetic that is counted, each step after the one before. It begins with what it ended with, which is
/// volatile, so that no compiler moves it out of what is timed.
void work(std::int64_t steps) {
  static volatile double state = 0.5;
  double value = state;
  for (std::int64_t i = 0; i < steps; ++i) value = value * 0.999999 + 1e-6;
  state = value;
}

/// One message with work behind it; without work, as long as it takes by itself.
double sent_while_working(mpi::CommView comm, const Side& side, std::int64_t steps) {
  return timed(comm, [&] {
    if (side.rank == 0) {
      side.send();
      work(steps);
      side.endpoint.flush();
    } else {
      side.receive();
    }
    answer(side);
  });
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Steps of work that take as long as the median of these times.
std::int64_t steps_of(double seconds) {
  constexpr std::int64_t sample = 1 << 20;
  std::vector<double> taken;
  for (int i = 0; i < 5; ++i) {
    const double begin = monotonic_s();
    work(sample);
    taken.push_back(monotonic_s() - begin);
  }
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds / median(taken) * sample));
}

/// Transfer alone, work alone, and both, in turns; the work takes as long as the transfer.
nlohmann::json overlap_row(mpi::CommView comm, const Side& side, const std::string& adapter, int windows) {
  std::vector<double> alone, working, together;
  for (int i = 0; i < 5; ++i) alone.push_back(sent_while_working(comm, side, 0));
  const std::int64_t steps = steps_of(median(alone));
  alone.clear();
  for (int window = 0; window < windows; ++window) {
    alone.push_back(sent_while_working(comm, side, 0));
    working.push_back(timed(comm, [&] {
      if (side.rank == 0) work(steps);
    }));
    together.push_back(sent_while_working(comm, side, steps));
  }
  return {{"adapter", adapter},  {"test", "overlap"}, {"size", side.size}, {"messages", 1},
          {"work_steps", steps}, {"alone_s", alone},  {"work_s", working}, {"together_s", together}};
}

}  // namespace

nlohmann::json pair_rows(mpi::CommView comm, const Settings& settings) {
  Source source(settings);
  const auto all = endpoints(comm, settings);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::size_t size : settings.sizes)
    for (const Test& test : tests) {
      const int count = settings.repetitions(size);
      const auto seconds = [&](std::size_t i) {
        if (!all[i] || settings.adapters[i].ahead < test.ahead(count)) return -1.0;
        const Side side{*all[i], source, settings, comm.rank(), size};
        return timed(comm, [&] { test.run(side, count); });
      };
      append(rows,
             in_turns({test.name, size, count}, names_of(settings.adapters), settings.windows, seconds));
    }
  return rows;
}

nlohmann::json by_hand_rows(mpi::CommView comm, const Settings& settings) {
  const Adapter& blocking = all_adapters().front();
  const auto endpoint = blocking.make(comm.get(), settings.largest());
  Source source(settings);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::size_t size : settings.sizes) {
    const int count = settings.repetitions(size);
    std::vector<std::byte> data(size), room(size);
    const Side side{*endpoint, source, settings, comm.rank(), size};
    const auto seconds = [&](std::size_t i) {
      return timed(comm,
                   [&] { i == 0 ? ping_pong(side, count) : ping_pong_by_hand(comm, data, room, count); });
    };
    append(rows,
           in_turns({tests[0].name, size, count}, {blocking.name, "by-hand"}, settings.windows, seconds));
  }
  return rows;
}

nlohmann::json overlap_rows(mpi::CommView comm, const Settings& settings) {
  Source source(settings);
  const auto all = endpoints(comm, settings);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::size_t size : settings.sizes)
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i])
        rows.push_back(overlap_row(comm, {*all[i], source, settings, comm.rank(), size},
                                   settings.adapters[i].name, settings.windows));
  return rows;
}

}  // namespace tailrace::bench::network
