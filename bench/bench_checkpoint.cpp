// SPDX-License-Identifier: BSD-3-Clause
/// Checkpoints of a synthetic state and restarts from them, beside a plain write and read of as many bytes by
/// one process, all one after the other. Raw samples go to standard output as JSON; `tailrace bench
/// checkpoint` makes ratios of them.
///   mpirun -n 4 tailrace-bench-checkpoint --dir DIR --particles 1000000 --restart 1 2 4
#include <fmt/format.h>
#include <malloc.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/system.hpp"
#include "checkpoint/restore.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint_load.hpp"
#include "header_ways.hpp"
#include "output/core/staging.hpp"
#include "plain_file.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::bench;

namespace {

struct Settings {
  std::string directory;
  std::int64_t particles = 0, field_mib = 0;
  bool clustered = false, cold = false;
  std::vector<std::string> strategies{"threads"};
  std::vector<int> ranks, restart;  ///< numbers of ranks that save, and that restore
  int rounds = 7;
  std::int64_t buffer_mib = 256;
  std::string compress = "none";
  std::vector<std::int64_t> headers;  ///< bytes: only how ranks come to know them
};

/// Samples of all that is measured, by name.
using Samples = std::map<std::string, std::vector<double>>;

/// The largest memory of this process from here on, beyond what it has now without what it may give back.
class ExtraMemory {
 public:
  ExtraMemory() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";
    before_ = resident_memory_bytes();
  }
  [[nodiscard]] std::int64_t bytes() const {
    return std::max<std::int64_t>(0, peak_memory_bytes() - before_);
  }

 private:
  std::int64_t before_ = 0;
};

/// The first ranks of a communicator with a state of theirs.
class Part {
 public:
  Part(mpi::CommView comm, int ranks, const Settings& settings)
      : ranks_(ranks), comm_(mpi::Comm::split(comm, comm.rank() < ranks ? 0 : -1)) {
    if (comm_.empty()) return;
    if (settings.particles > 0)
      load_ = std::make_unique<ParticleLoad>(comm_.view(), settings.particles,
                                             settings.clustered ? Spread::clustered : Spread::uniform);
    else
      load_ = std::make_unique<FieldLoad>(comm_.view(), edge_of(settings.field_mib));
  }
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  [[nodiscard]] bool has_this_rank() const noexcept { return !comm_.empty(); }
  [[nodiscard]] mpi::CommView comm() const noexcept { return comm_.view(); }
  [[nodiscard]] Load& load() const noexcept { return *load_; }
  /// Points along an edge of a cube of so many MiB.
  static std::int64_t edge_of(std::int64_t mib) {
    return std::llround(std::cbrt(static_cast<double>(mib << 20) / sizeof(double)));
  }

 private:
  int ranks_;
  mpi::Comm comm_;
  std::unique_ptr<Load> load_;
};

class Benchmark {
 public:
  Benchmark(mpi::CommView comm, const Settings& settings) : comm_(comm), settings_(settings) {
    for (const auto* counts : {&settings.ranks, &settings.restart})
      for (const int ranks : *counts)
        if (!parts_.contains(ranks)) parts_.try_emplace(ranks, comm, ranks, settings);
  }

  /// All samples, without those of a first round that warms up.
  nlohmann::json run() {
    const auto& first = parts_.at(settings_.ranks.front());
    const auto state_bytes = mpi::sum(comm_, first.has_this_rank() ? first.load().bytes() : 0);
    save(first, settings_.strategies.front());
    const auto bytes =
        mpi::max(comm_, comm_.is_root() ? static_cast<std::int64_t>(file_size()) : std::int64_t{0});
    PlainFile plain(settings_.directory + "/plain", comm_.is_root() ? std::max(bytes, state_bytes) : 0);
    for (int round = 0; round <= settings_.rounds; ++round) {
      if (round == 1) samples_.clear();
      warm_ = round > 0;
      measure_plain(plain);
      for (const auto& strategy : settings_.strategies)
        for (const int ranks : settings_.ranks) save_and_restore(strategy, parts_.at(ranks));
    }
    if (comm_.is_root()) std::filesystem::remove_all(place());
    return {
        {"bytes", bytes}, {"state_bytes", state_bytes}, {"samples", samples_}, {"extra_bytes", extra_bytes_}};
  }

 private:
  /// Keeps the largest value of all ranks.
  void mark(const std::string& name, double value) { samples_[name].push_back(mpi::max(comm_, value)); }
  /// The same of memory, in the round that counts for nothing else: to look at it, it must be given back.
  void measure_memory(const std::string& name, const std::function<void()>& action) {
    if (warm_) return action();
    memory_.emplace();
    const ExtraMemory extra;
    action();
    extra_bytes_[name] = mpi::max(comm_, extra.bytes());
  }
  [[nodiscard]] std::string place() const { return checkpoint::checkpoint_path(settings_.directory, step_); }
  [[nodiscard]] std::uintmax_t file_size() const { return std::filesystem::file_size(place() + "/state.h5"); }

  void measure_plain(PlainFile& plain) {
    PlainFile::Written written;
    double read_s = 0;
    if (comm_.is_root()) {
      written = plain.write();
      if (settings_.cold) drop_from_cache(plain.path());
      read_s = plain.read();
    }
    mark("plain/written", written.written_s);
    mark("plain/durable", written.durable_s);
    mark("plain/read", read_s);
  }

  /// A checkpoint, which replaces the one before, and restarts from it.
  void save_and_restore(const std::string& strategy, const Part& part) {
    const auto name = fmt::format("{}/{}", strategy, part.ranks());
    measure_memory(name + "/save", [&] {
      const auto times = save(part, strategy);
      mark(name + "/handed", times.handed_s);
      mark(name + "/durable", times.durable_s);
      mark(name + "/complete", times.complete_s);
    });
    for (const int ranks : settings_.restart) {
      const auto restart = fmt::format("{}/restart/{}", name, ranks);
      measure_memory(restart, [&] {
        const auto times = restore(parts_.at(ranks));
        mark(restart, times.restored_s);
        mark(restart + "/read_over_needed", times.read_over_needed);
      });
    }
  }

  /// Seconds since a checkpoint was begun.
  struct SaveTimes {
    double handed_s = 0;    ///< the state may change
    double durable_s = 0;   ///< all of it is on the device
    double complete_s = 0;  ///< the checkpoint has its name
  };
  SaveTimes save(const Part& part, const std::string& strategy) {
    if (comm_.is_root()) std::filesystem::remove_all(place());
    ++step_;
    mpi::barrier(comm_);
    if (!part.has_this_rank()) return {};
    SaveTimes times;
    const auto options = output::parse_options({.write = strategy, .sink = {}, .pace = {}, .fault = {}});
    trace::Log log("checkpoint");
    const double start_s = monotonic_s();
    checkpoint::Saving saving(
        part.comm(), settings_.directory, {.simulation = "bench", .program = "bench", .step = step_},
        [&](checkpoint::StateArchive& archive) { part.load().state(archive); }, options,
        {.buffer_bytes = settings_.buffer_mib << 20,
         .compression = checkpoint::parse_compression("--compress", settings_.compress)},
        log, {.memory = &*memory_});
    times.handed_s = monotonic_s() - start_s;
    for (Backoff backoff; !saving.ready();) backoff.pause();
    times.durable_s = monotonic_s() - start_s;
    saving.finish();
    times.complete_s = monotonic_s() - start_s;
    return times;
  }

  struct RestoreTimes {
    double restored_s = 0;
    double read_over_needed = 0;  ///< bytes read over those of the rank's state
  };
  RestoreTimes restore(const Part& part) {
    if (comm_.is_root() && settings_.cold) drop_from_cache(place() + "/state.h5");
    mpi::barrier(comm_);
    if (!part.has_this_rank()) return {};
    RestoreTimes times;
    const auto before = bytes_read();
    const double start_s = monotonic_s();
    checkpoint::Checkpoint(part.comm(), place(), "bench").restore([&](checkpoint::StateArchive& archive) {
      part.load().state(archive);
    });
    times.restored_s = monotonic_s() - start_s;
    times.read_over_needed = static_cast<double>(bytes_read() - before) /
                             static_cast<double>(std::max<std::int64_t>(1, part.load().bytes()));
    return times;
  }

  mpi::CommView comm_;
  Settings settings_;
  std::map<int, Part> parts_;  ///< by their ranks
  std::optional<output::StagingMemory> memory_{std::in_place};
  StepIndex step_ = 0;
  bool warm_ = false;
  Samples samples_;
  std::map<std::string, std::int64_t> extra_bytes_;
};

/// Returns how long ranks take to learn headers of several lengths.
nlohmann::json measure_headers(mpi::CommView comm, const Settings& settings) {
  auto rows = nlohmann::json::array();
  for (const auto bytes : settings.headers) {
    HeaderWays ways(comm, settings.directory + "/header", bytes);
    Samples samples;
    static_cast<void>(ways.measure());  // warms up
    for (int round = 0; round < settings.rounds; ++round)
      for (const auto& [name, seconds] : ways.measure()) samples[name].push_back(seconds);
    rows.push_back({{"bytes", bytes}, {"ranks", comm.size()}, {"samples", samples}});
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const mpi::CommView comm = environment.world();
  Settings settings;
  OptionParser parser("Checkpoints and restarts beside plain writes and reads, as JSON",
                      "tailrace-bench-checkpoint");
  parser.option("--dir", settings.directory, "where the files are made").required();
  parser.option("--particles", settings.particles, "state: about so many particles");
  parser.flag("--clustered", settings.clustered, "most of them in a small part of the space");
  parser.option("--field", settings.field_mib, "state: a field of so many MiB");
  parser.option("--write", settings.strategies, "who writes");
  parser.option("--ranks", settings.ranks, "numbers of ranks that save (default: all)");
  parser.option("--restart", settings.restart, "numbers of ranks that restore (default: the same)");
  parser.option("--rounds", settings.rounds, "samples of each time");
  parser.option("--buffers", settings.buffer_mib, "MiB of buffers on each rank");
  parser.option("--compress", settings.compress, "none, zstd or zstd:LEVEL");
  parser.option("--headers", settings.headers, "instead: ways to read so many bytes on all ranks");
  parser.flag("--cold", settings.cold, "read from the device, not from what the system remembers");
  if (const auto status = parser.read_or_end(argc, argv, comm.is_root())) return *status;
  if (settings.ranks.empty()) settings.ranks = {comm.size()};
  if (settings.restart.empty()) settings.restart = settings.ranks;
  try {
    const auto result =
        settings.headers.empty() ? Benchmark(comm, settings).run() : measure_headers(comm, settings);
    if (comm.is_root()) fmt::print("{}\n", result.dump());
  } catch (const std::exception& error) {
    say(stderr, fmt::format("tailrace-bench-checkpoint: {}\n", error.what()));
    mpi::Environment::abort(3);
  }
  return 0;
}
