// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tailrace/trace.hpp"

namespace tailrace::fragments {

/// What a thread of the runtime does at a moment; in the order of docs/formats/trace.md.
enum class Activity : std::uint8_t {
  useful,        ///< runs a body
  distribution,  ///< hands on what fragments wrote and created
  dependencies,  ///< finds out what fragments need
  unfolding,
  messages,
  ending,  ///< after the end of the program: reports
  checkpoint,
  idle,
  outside,  ///< between two programs of a process
};
inline constexpr std::size_t activity_count = 9;

/// What happens to fragments, data fragments and threads; in the order of docs/formats/trace.md.
enum class Step : std::uint8_t {
  create,
  forward,
  arrive,
  wait,
  request,
  data_arrived,
  resume,
  ready,
  begin,
  end,
  unfold,
  post,
  store,
  deliver,
  release,
  destroy,
  idle,
  busy,
};
inline constexpr std::size_t step_count = 18;

/// Stages of a fragment of which the times are counted by their length.
enum class Stage : std::uint8_t { waiting, ready, useful };
inline constexpr std::size_t stage_count = 3;

/// What one thread of the runtime did: each record for the file as long as its budget lasts, and all of it in
/// constant space: time bins, which double in width when the run is longer, and histograms.
class ThreadTimes {
 public:
  ThreadTimes(const std::string& name, double start_s);

  /// The thread turns to something else. Returns the time.
  double turn_to(Activity activity);
  [[nodiscard]] double last_s() const noexcept { return last_s_; }
  /// The time of what happens now: that at which the thread turned to what it does, but in messages, of which
  /// several are read after one another, and which end idle time, the present.
  double moment_s() {
    if (activity_ == Activity::idle) return turn_to(Activity::messages);
    const bool reads =
        activity_ == Activity::messages || activity_ == Activity::ending || activity_ == Activity::checkpoint;
    return reads ? turn_to(activity_) : last_s_;
  }
  /// Something has happened, at a time from the start on.
  void record(Step step, const trace::Record& what);
  void took(Stage stage, std::uint16_t type, double seconds);
  void add(const trace::TypeName& name) { log_.add(name); }

  /// What totals of the rank are to be in the summary: see docs/formats/trace.md.
  static constexpr std::size_t hop_count = 8;
  struct Totals {
    std::uint64_t created = 0, ended = 0, waited = 0, forwarded = 0;
    std::uint64_t left = 0, left_bytes = 0;  ///< values at the end of programs
    std::array<std::uint64_t, hop_count> by_hops{};
  };
  /// Says all that was counted to the recorder.
  void say(const Totals& totals, double record_cost_s);

 private:
  static constexpr std::size_t bin_count = 256, class_count = 40, type_count = 256;
  static constexpr double first_bin_s = 0.01;
  struct Bin {
    std::array<double, activity_count> seconds{};
    std::array<std::uint64_t, step_count> counts{};
    std::uint64_t stored_bytes = 0, released_bytes = 0;
  };
  struct OfType {
    std::array<double, stage_count> seconds{};
    std::array<std::array<std::uint32_t, class_count>, stage_count> classes{};
  };

  [[nodiscard]] std::size_t bin_at(double time_s);
  void widen();
  void spend(double from_s, double to_s);

  trace::Log log_;
  Activity activity_ = Activity::outside;
  double start_s_, last_s_, full_until_s_;
  double bin_s_ = first_bin_s;
  bool full_ = true;
  std::vector<Bin> bins_;
  std::vector<OfType> types_;
};

}  // namespace tailrace::fragments
