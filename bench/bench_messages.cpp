// SPDX-License-Identifier: BSD-3-Clause
/// Active messages beside raw MPI of the same build and thread level: latency and rate of small messages, one
/// after the other in each round; or, with --counts, frames per message and messages per sum of the
/// termination on any number of ranks, which are threads of one process. JSON on standard output.
///   mpirun -n 2 tailrace-bench-messages --rounds 30
///   tailrace-bench-messages --counts --ranks 2 8 64
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <vector>

#include "am/launch.hpp"
#include "base/system.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;

namespace {

struct Settings {
  int rounds = 30, messages = 2000;
  bool counts = false;
  std::vector<int> ranks{2, 4, 8, 16, 32, 64};
};

/// Raw messages as one writes them: the blocking ping-pong and the windows of 64 of the OSU benchmarks.
class Raw {
 public:
  explicit Raw(mpi::CommView comm) : comm_(mpi::Comm::duplicate(comm)) {}

  void ping_pong(int count, std::size_t bytes) {
    buffer_.resize(bytes);
    for (int i = 0; i < count; ++i) {
      if (comm_.view().is_root()) send(1, bytes);
      receive(1 - comm_.view().rank(), bytes);
      if (!comm_.view().is_root()) send(0, bytes);
    }
  }
  void stream(int count, std::size_t bytes) {
    constexpr int window = 64;
    buffer_.resize(bytes * window);
    for (int sent = 0; sent < count; sent += window) {
      std::vector<MPI_Request> requests(static_cast<std::size_t>(std::min(window, count - sent)));
      for (std::size_t i = 0; i < requests.size(); ++i) start(requests[i], i * bytes, bytes);
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      if (comm_.view().is_root())
        receive(1, 0);
      else
        send(0, 0);
    }
  }

 private:
  void send(int to, std::size_t bytes) {
    MPI_Send(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, to, 0, comm_.view().get());
  }
  void receive(int from, std::size_t bytes) {
    MPI_Recv(buffer_.data(), static_cast<int>(bytes), MPI_BYTE, from, 0, comm_.view().get(),
             MPI_STATUS_IGNORE);
  }
  void start(MPI_Request& request, std::size_t first, std::size_t bytes) {
    const int length = static_cast<int>(bytes);
    if (comm_.view().is_root())
      MPI_Isend(buffer_.data() + first, length, MPI_BYTE, 1, 1, comm_.view().get(), &request);
    else
      MPI_Irecv(buffer_.data() + first, length, MPI_BYTE, 0, 1, comm_.view().get(), &request);
  }

  mpi::Comm comm_;
  std::vector<std::byte> buffer_;
};

/// The same through an endpoint.
class Active {
 public:
  explicit Active(am::Endpoint& endpoint) : endpoint_(&endpoint) {
    endpoint.set_handler(0, am::Lane::data, [this](am::Message&) { ++received_; });
  }

  void ping_pong(int count, std::size_t bytes) {
    body_.resize(bytes);
    for (int i = 0; i < count; ++i) {
      if (endpoint_->rank() == 0) send(1);
      await(1);
      if (endpoint_->rank() == 1) send(0);
    }
    flush();
  }
  void stream(int count, std::size_t bytes) {
    body_.resize(bytes);
    if (endpoint_->rank() == 0) {
      for (int i = 0; i < count; ++i) send(1);
      await(1);
    } else {
      await(count);
      send(0);
      flush();
    }
  }

 private:
  void send(int to) { endpoint_->send(to, 0, {.body = body_}); }
  void await(int count) {
    for (awaited_ += count; received_ < awaited_;) endpoint_->progress();
  }
  void flush() {
    while (!endpoint_->quiet()) endpoint_->progress();
  }

  am::Endpoint* endpoint_;
  am::Bytes body_;
  std::int64_t received_ = 0, awaited_ = 0;
};

double seconds_of(mpi::CommView comm, const std::function<void()>& action) {
  mpi::barrier(comm);
  const double start_s = monotonic_s();
  action();
  return monotonic_s() - start_s;
}

nlohmann::json quartiles(std::vector<double> values) {
  std::ranges::sort(values);
  return {{"low", values[values.size() / 4]},
          {"median", values[values.size() / 2]},
          {"high", values[values.size() * 3 / 4]}};
}

/// Times both ways one after the other, round by round, and compares them within each round.
nlohmann::json compare(mpi::CommView comm, const Settings& settings, const std::function<void()>& raw,
                       const std::function<void()>& active) {
  std::vector<double> raw_us, active_us, ratio;
  for (int round = -1; round < settings.rounds; ++round) {
    const double each = 1e6 / settings.messages;
    const double raw_here = seconds_of(comm, raw) * each, active_here = seconds_of(comm, active) * each;
    if (round < 0) continue;  // to warm up
    raw_us.push_back(raw_here);
    active_us.push_back(active_here);
    ratio.push_back(active_here / raw_here);
  }
  return {{"raw_us", quartiles(raw_us)}, {"active_us", quartiles(active_us)}, {"ratio", quartiles(ratio)}};
}

/// A row for each size; the time of a latency is that of a round trip.
nlohmann::json timed(mpi::CommView comm, const Settings& settings) {
  nlohmann::json rows = nlohmann::json::array();
  Raw raw(comm);
  am::launch(comm, {}, [&](am::Endpoint& endpoint) {
    Active active(endpoint);
    const int count = settings.messages;
    for (const std::size_t bytes : {8, 64, 1024, 4096, 65536}) {
      auto row = compare(
          comm, settings, [&] { raw.ping_pong(count, bytes); }, [&] { active.ping_pong(count, bytes); });
      row.update({{"test", "round trip"}, {"bytes", bytes}});
      rows.push_back(row);
    }
    for (const std::size_t bytes : {8, 64}) {
      auto row = compare(
          comm, settings, [&] { raw.stream(count, bytes); }, [&] { active.stream(count, bytes); });
      row.update({{"test", "stream"}, {"bytes", bytes}});
      rows.push_back(row);
    }
  });
  return rows;
}

/// What the largest rank sends for a sum, and frames per message when each rank sends `messages` to every
/// other.
nlohmann::json counted(int ranks, int messages) {
  std::mutex mutex;
  std::int64_t sums_sent = 0, frames = 0, sent = 0;
  am::Choice choice;
  choice.local_ranks = ranks;
  am::launch_local(choice, [&](am::Endpoint& endpoint) {
    endpoint.set_handler(0, am::Lane::data, [](am::Message&) {});
    const am::Bytes body(8);
    for (int i = 0; i < messages; ++i)
      for (int to = 0; to < ranks; ++to)
        if (to != endpoint.rank()) endpoint.send(to, 0, {.body = body});
    endpoint.flush();
    const std::lock_guard lock(mutex);
    frames += endpoint.costs().frames_sent;
    sent += endpoint.messages_sent();
  });
  am::launch_local(choice, [&](am::Endpoint& endpoint) {
    endpoint.sums().start({});
    while (!endpoint.sums().complete()) endpoint.wait();
    const std::lock_guard lock(mutex);
    sums_sent = std::max(sums_sent, endpoint.sent().of(am::own_module).messages);
  });
  return {{"ranks", ranks},
          {"messages_of_a_sum_per_rank", sums_sent},
          {"messages_per_frame", static_cast<double>(sent) / static_cast<double>(frames)}};
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  OptionParser parser("Active messages beside raw MPI", "tailrace-bench-messages");
  parser.option("--rounds", settings.rounds, "rounds of each row").positive();
  parser.option("--messages", settings.messages, "messages of each round").positive();
  parser.flag("--counts", settings.counts, "count instead, without MPI");
  parser.option("--ranks", settings.ranks, "numbers of ranks that are counted").within(2, 1024);
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  nlohmann::json rows = nlohmann::json::array();
  if (settings.counts) {
    for (const int ranks : settings.ranks) rows.push_back(counted(ranks, 100));
    fmt::print("{}\n", rows.dump(2));
    return 0;
  }
  mpi::Environment environment(argc, argv);
  if (environment.world().size() != 2) {
    fmt::print(stderr, "start it on 2 ranks: mpirun -n 2 {}\n", argv[0]);
    return 2;
  }
  rows = timed(environment.world(), settings);
  if (environment.world().is_root())
    fmt::print("{}\n", nlohmann::json{{"mpi", mpi::Environment::library_version()}, {"rows", rows}}.dump(2));
  return 0;
}
