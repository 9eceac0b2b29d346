// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/thread_times.hpp"

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"
#include "base/system.hpp"

namespace tailrace::fragments {

ThreadTimes::ThreadTimes(const std::string& name, double start_s)
    : log_(name), start_s_(start_s), last_s_(start_s), full_until_s_(start_s), bins_(bin_count) {}

/// The bin of a time, after as much widening as it takes.
std::size_t ThreadTimes::bin_at(double time_s) {
  const double passed_s = std::max(time_s - start_s_, 0.0);
  while (passed_s >= bin_s_ * bin_count) widen();
  return std::min(static_cast<std::size_t>(passed_s / bin_s_), bin_count - 1);
}

void ThreadTimes::widen() {
  for (std::size_t i = 0; i < bin_count; ++i) {
    Bin sum;
    for (std::size_t part = 2 * i; part < std::min(2 * i + 2, bin_count); ++part) {
      const Bin& bin = bins_[part];
      for (std::size_t a = 0; a < activity_count; ++a) sum.seconds[a] += bin.seconds[a];
      for (std::size_t s = 0; s < step_count; ++s) sum.counts[s] += bin.counts[s];
      sum.stored_bytes += bin.stored_bytes, sum.released_bytes += bin.released_bytes;
    }
    bins_[i] = sum;
  }
  bin_s_ *= 2;
}

/// Adds an interval to the bins in which it lies.
void ThreadTimes::spend(double from_s, double to_s) {
  const auto kind = static_cast<std::size_t>(activity_);
  const auto last = bin_at(to_s), first = bin_at(from_s);
  double at_s = from_s;
  for (auto bin = first; bin < last; ++bin) {
    const double end_s = start_s_ + static_cast<double>(bin + 1) * bin_s_;
    bins_[bin].seconds[kind] += end_s - at_s;
    at_s = end_s;
  }
  bins_[last].seconds[kind] += to_s - at_s;
}

double ThreadTimes::turn_to(Activity activity) {
  const double now_s = monotonic_s();
  spend(last_s_, now_s);
  last_s_ = now_s;
  if (activity == activity_) return now_s;
  if (activity_ == Activity::idle) record(Step::busy, {.time_s = now_s});
  if (activity == Activity::idle) record(Step::idle, {.time_s = now_s});
  activity_ = activity;
  return now_s;
}

void ThreadTimes::record(Step step, const trace::Record& what) {
  Bin& bin = bins_[bin_at(what.time_s)];
  ++bin.counts[static_cast<std::size_t>(step)];
  if (step == Step::store) bin.stored_bytes += what.amount;
  if (step == Step::release) bin.released_bytes += what.amount;
  if (!full_) return;
  auto record = what;
  record.event = static_cast<std::uint8_t>(step);
  full_ = log_.add(record);
  if (full_) full_until_s_ = what.time_s;
}

void ThreadTimes::took(Stage stage, std::uint16_t type, double seconds) {
  const auto number = std::min<std::size_t>(type, type_count - 1);
  if (number >= types_.size()) types_.resize(number + 1);
  const auto which = static_cast<std::size_t>(stage);
  types_[number].seconds[which] += seconds;
  const auto ns = static_cast<std::uint64_t>(std::max(seconds, 0.0) * 1e9);
  const auto size = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(ns)), class_count - 1);
  ++types_[number].classes[which][size];
}

void ThreadTimes::say(const Totals& totals, double record_cost_s) {
  trace::Summary summary{start_s_, last_s_, full_ ? last_s_ : full_until_s_, bin_s_, {}};
  auto& body = summary.body;
  append_value(body, record_cost_s);
  for (const auto number : {bin_count, activity_count, step_count, types_.size(), stage_count, class_count,
                            hop_count, static_cast<std::size_t>(full_)})
    append_value(body, static_cast<std::uint32_t>(number));
  append_value(body, totals);
  append_bytes(body, std::as_bytes(std::span(bins_)));
  append_bytes(body, std::as_bytes(std::span(types_)));
  log_.add(std::move(summary));
}

}  // namespace tailrace::fragments
