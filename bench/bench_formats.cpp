// SPDX-License-Identifier: BSD-3-Clause
/// A state of molecules, written and read in every format, beside a plain write and read of as many bytes by
/// one process, all one after the other. Raw samples go to standard output as JSON; `tailrace bench
/// checkpoint --study molecules` makes ratios of them.
///   mpirun -n 4 tailrace-bench-formats --dir DIR --molecules 330000 --ranks 4 --restart 4 2
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plain_file.hpp"
#include "state_formats.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::bench;

namespace {

/// Of a molecule, without padding.
constexpr std::int64_t row_bytes = 116;

struct Settings {
  std::string directory;
  std::int64_t molecules = 330'000;
  int ranks = 0;             ///< that write
  std::vector<int> restart;  ///< numbers of ranks that read
  std::vector<std::string> formats;
  int rounds = 3;
  std::int64_t buffer_mib = 256;
};

class Benchmark {
 public:
  Benchmark(mpi::CommView comm, const Settings& settings)
      : comm_(comm),
        settings_(settings),
        liquid_(settings.molecules),
        writers_(comm, settings.ranks, liquid_) {
    for (const int ranks : settings.restart) readers_.emplace_back(comm, ranks, liquid_);
    for (const auto& [name, make] : state_formats)
      if (std::find(settings.formats.begin(), settings.formats.end(), name) != settings.formats.end())
        formats_.emplace_back(name, make(directory_of(name), settings.buffer_mib << 20));
  }

  /// All samples, without those of a first round that warms up. @collective
  nlohmann::json run() {
    if (writers_.has_this_rank()) writers_.fill();
    PlainFile plain(settings_.directory + "/plain", liquid_.count * row_bytes);
    for (int round = 0; round <= settings_.rounds; ++round) {
      if (round == 1) samples_.clear();
      measure_plain(plain);
      for (const auto& [name, format] : formats_) write_and_read(name, *format);
    }
    return {{"molecules", liquid_.count},
            {"state_bytes", liquid_.count * row_bytes},
            {"bytes", bytes_},
            {"samples", samples_}};
  }

 private:
  /// Keeps the largest value of all ranks.
  void mark(const std::string& name, double value) { samples_[name].push_back(mpi::max(comm_, value)); }

  void measure_plain(PlainFile& plain) {
    PlainFile::Written written;
    double read_s = 0;
    if (comm_.is_root()) {
      written = plain.write();
      read_s = plain.read();
    }
    mark("plain/write", written.durable_s);
    mark("plain/read", read_s);
  }

  [[nodiscard]] std::string directory_of(const std::string& name) const {
    return settings_.directory + "/" + name;
  }

  void write_and_read(const std::string& name, StateFormat& format) {
    if (comm_.is_root()) std::filesystem::create_directory(directory_of(name));
    mpi::barrier(comm_);
    double handed_s = 0;
    const double start_s = monotonic_s();
    if (writers_.has_this_rank()) handed_s = format.write(writers_);
    mark(name + "/write", writers_.has_this_rank() ? monotonic_s() - start_s : 0);
    mark(name + "/handed", handed_s);
    if (comm_.is_root()) bytes_[name] = size_of(format);
    for (auto& part : readers_) read(format, fmt::format("{}/read/{}", name, part.ranks()), part);
    if (comm_.is_root()) std::filesystem::remove_all(directory_of(name));
  }

  void read(StateFormat& format, const std::string& name, Part& part) {
    mpi::barrier(comm_);
    double seconds = 0, over_needed = 0;
    std::int64_t bytes = 0;
    if (part.has_this_rank()) {
      part.make_room();
      const auto before = bytes_read();
      const double start_s = monotonic_s();
      format.read(part);
      seconds = monotonic_s() - start_s;
      bytes = bytes_read() - before;
      const auto needed = std::max<std::int64_t>(1, part.size()) * row_bytes;
      over_needed = static_cast<double>(bytes) / static_cast<double>(needed);
    }
    mark(name, seconds);
    mark(name + "/over_needed", over_needed);
    mark(name + "/all_over_needed",
         static_cast<double>(mpi::sum(comm_, bytes)) / static_cast<double>(liquid_.count * row_bytes));
    if (mpi::sum(comm_, part.size()) != liquid_.count)
      throw std::runtime_error(name + ": other molecules were read than were written");
    part.clear();
  }

  static std::uintmax_t size_of(const StateFormat& format) {
    std::uintmax_t bytes = 0;
    for (const auto& path : format.paths())
      if (!std::filesystem::is_directory(path))
        bytes += std::filesystem::file_size(path);
      else
        for (const auto& file : std::filesystem::directory_iterator(path)) bytes += file.file_size();
    return bytes;
  }

  mpi::CommView comm_;
  Settings settings_;
  Liquid liquid_;
  Part writers_;
  std::vector<Part> readers_;
  /// By name. They keep what they need from one state to the next, as in a run.
  std::vector<std::pair<std::string, std::unique_ptr<StateFormat>>> formats_;
  std::map<std::string, std::vector<double>> samples_;
  std::map<std::string, std::uintmax_t> bytes_;  ///< refers to the files of a format
};

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const mpi::CommView comm = environment.world();
  Settings settings;
  for (const auto& format : state_formats) settings.formats.emplace_back(format.name);
  OptionParser parser("States of molecules in every format, beside plain writes and reads, as JSON",
                      "tailrace-bench-formats");
  parser.option("--dir", settings.directory, "where the files are made").required();
  parser.option("--molecules", settings.molecules, "about so many");
  parser.option("--ranks", settings.ranks, "that write (default: all)");
  parser.option("--restart", settings.restart, "numbers of ranks that read (default: the same)");
  parser.option("--formats", settings.formats).one_of(std::vector(settings.formats));
  parser.option("--rounds", settings.rounds, "samples of each time");
  parser.option("--buffers", settings.buffer_mib, "MiB of buffers on each rank, for checkpoints of Tailrace");
  if (const auto status = parser.read_or_end(argc, argv, comm.is_root())) return *status;
  if (settings.ranks == 0) settings.ranks = comm.size();
  if (settings.restart.empty()) settings.restart = {settings.ranks};
  try {
    const auto result = Benchmark(comm, settings).run();
    if (comm.is_root()) fmt::print("{}\n", result.dump());
  } catch (const std::exception& error) {
    say(stderr, fmt::format("tailrace-bench-formats: {}\n", error.what()));
    mpi::Environment::abort(3);
  }
  return 0;
}
