// SPDX-License-Identifier: BSD-3-Clause
#include "fragments/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "base/system.hpp"

namespace tailrace::fragments {

namespace {

/// In place of a fragment: a value was there at the end of its program.
constexpr std::uint64_t of_the_end = std::numeric_limits<std::uint64_t>::max();

std::uint32_t clamped(std::size_t value) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

/// Seconds that it takes to turn to something else and to record that: the median of some tries on a log
/// whose records go nowhere.
double measure_record_s() {
  constexpr int tries = 9, repeats = 200;
  ThreadTimes scratch("", monotonic_s());
  std::array<double, tries> seconds{};
  for (auto& one : seconds) {
    const double begin_s = monotonic_s();
    for (int i = 0; i < repeats; ++i) scratch.turn_to(i % 2 == 0 ? Activity::useful : Activity::distribution);
    one = (monotonic_s() - begin_s) / repeats;
  }
  std::ranges::nth_element(seconds, seconds.begin() + tries / 2);
  return seconds[tries / 2];
}

}  // namespace

/// What stays from one program of the process to the next, while one recorder is at work.
struct Recording::Process {
  using Key = std::tuple<int, std::string, std::string, int, int>;

  explicit Process(unsigned number)
      : recorder(number), start_s(monotonic_s()), main("fragments", start_s), record_s(measure_record_s()) {
    main.say(totals, record_s);  // takes the memory for records now, and not in the first program
  }

  std::uint16_t number_of(const Image& image, const Statement& statement) {
    auto name = name_of(image, statement);
    const auto [place, is_new] =
        types.try_emplace(Key{name.kind, name.name, name.file, name.line, name.column}, types.size());
    const auto most = std::size_t{std::numeric_limits<std::uint16_t>::max()};
    name.number = static_cast<std::uint16_t>(std::min(place->second, most));
    if (is_new && place->second < most) main.add(name);
    return name.number;
  }
  void have_workers(int count) {
    while (std::ssize(workers) < count) {
      workers.push_back(std::make_unique<ThreadTimes>(fmt::format("worker {}", workers.size() + 1), start_s));
      workers.back()->say({}, record_s);
    }
    for (int i = 0; i < count; ++i) workers[static_cast<std::size_t>(i)]->turn_to(Activity::idle);
    at_work = count;
  }

  unsigned recorder;
  double start_s;
  ThreadTimes main;
  double record_s;
  std::vector<std::unique_ptr<ThreadTimes>> workers;
  int at_work = 0;
  std::map<Key, std::size_t> types;
  ThreadTimes::Totals totals;
  std::uint64_t fragments = 0, programs = 0;
};

Recording::Process* Recording::process_at_work(int workers) {
  static std::unique_ptr<Process> process;
  const auto number = trace::recorder_number();
  if (number == 0) return nullptr;
  if (!process || process->recorder != number) process = std::make_unique<Process>(number);
  process->have_workers(workers > 1 ? workers : 0);
  return process.get();
}

Recording::Recording(const Image& image, int rank, int workers, bool own_process, bool counts) {
  if (counts) statements_.emplace(image, workers);
  if (!own_process) return;
  process_ = process_at_work(workers);
  if (!on()) return;
  salt_ = process_->programs++ == 0 ? 0 : mixed_bits(process_->programs);
  constexpr int counter_bits = 40;
  rank_bits_ = static_cast<std::uint64_t>(rank) << counter_bits;
  types_.resize(image.statements.size() + 1);
  for (const auto& statement : image.statements)
    types_.at(statement.number) = process_->number_of(image, statement);
  types_.back() = process_->number_of(image, image.main_call);
  turn(Activity::messages);
}

void Recording::watch(Store& store) {
  if (!on()) return;
  store.on_release([this](const Id& id, const Stored& stored) {
    at_home(Step::release, id, stored.value.bytes().size());
  });
}

void Recording::leave(const Store& store) {
  for (const auto& [id, entry] : store.entries()) {
    if (entry.state != Stored::State::live) continue;
    const auto bytes = entry.value.bytes().size();
    ++process_->totals.left, process_->totals.left_bytes += bytes;
    process_->main.record(Step::release, {.time_s = process_->main.last_s(),
                                          .subject = of_the_end,
                                          .object = key(id),
                                          .amount = clamped(bytes)});
  }
}

void Recording::finish() {
  turn(Activity::outside);
  for (int i = 0; i < process_->at_work; ++i) {
    auto& worker = *process_->workers[static_cast<std::size_t>(i)];
    worker.turn_to(Activity::outside);
    worker.say({}, process_->record_s);
  }
  process_->main.say(process_->totals, process_->record_s);
}

ThreadTimes& Recording::times(int thread) const {
  return thread == 0 ? process_->main : *process_->workers[static_cast<std::size_t>(thread - 1)];
}

std::uint16_t Recording::type_of(const Fragment& fragment) const noexcept {
  const std::size_t number = fragment.statement->number;
  return number < types_.size() - 1 ? types_[number] : types_.back();
}

void Recording::put(Step step, const Fragment& fragment, double time_s, std::uint64_t object,
                    std::size_t amount) {
  process_->main.record(step, {.time_s = time_s,
                               .subject = fragment.mark.number,
                               .object = object,
                               .amount = clamped(amount),
                               .type = type_of(fragment)});
}

void Recording::turn(Activity activity) {
  process_->main.turn_to(activity);
}

void Recording::create(Fragment& fragment) {
  fragment.mark = {rank_bits_ | ++process_->fragments};
  ++process_->totals.created;
  put(Step::create, fragment, process_->main.last_s(), current_, 0);
}

void Recording::forward(Fragment& fragment, int rank) {
  put(Step::forward, fragment, process_->main.moment_s(), 0, static_cast<std::uint32_t>(rank));
  ++fragment.mark.hops, ++process_->totals.forwarded;
}

void Recording::arrive(const Fragment& fragment, int rank) {
  put(Step::arrive, fragment, process_->main.moment_s(), 0, static_cast<std::uint32_t>(rank));
}

void Recording::wait(Task& task) {
  task.since_s = process_->main.last_s();
  auto& mark = task.fragment.mark;
  if (mark.waited == 0) ++process_->totals.waited;
  mark.waited = 1;
  put(Step::wait, task.fragment, task.since_s, 0, task.awaited);
}

void Recording::request(const Task& task, const Id& data, int home) {
  put(Step::request, task.fragment, process_->main.last_s(), key(data), static_cast<std::size_t>(home));
}

void Recording::take(Task& task, const Id& data, std::size_t bytes) {
  put(Step::data_arrived, task.fragment, process_->main.moment_s(), key(data), bytes);
}

void Recording::resume(Task& task) {
  const double now_s = process_->main.last_s();
  process_->main.took(Stage::waiting, type_of(task.fragment), now_s - task.since_s);
  put(Step::resume, task.fragment, now_s, 0, 0);
}

void Recording::make_ready(Task& task) {
  task.since_s = process_->main.last_s();
  put(Step::ready, task.fragment, task.since_s, 0, 0);
}

void Recording::begin(const Task& task, int thread) {
  auto& thread_times = times(thread);
  const double now_s = thread_times.turn_to(Activity::useful);
  const auto type = type_of(task.fragment);
  thread_times.took(Stage::ready, type, now_s - task.since_s);
  thread_times.record(Step::begin, {.time_s = now_s, .subject = task.fragment.mark.number, .type = type});
}

void Recording::end(const Task& task, int thread) {
  auto& thread_times = times(thread);
  const double began_s = thread_times.last_s();
  const double now_s = thread_times.turn_to(thread == 0 ? Activity::distribution : Activity::idle);
  const auto type = type_of(task.fragment);
  thread_times.took(Stage::useful, type, now_s - began_s);
  thread_times.record(Step::end, {.time_s = now_s, .subject = task.fragment.mark.number, .type = type});
}

void Recording::unfold(const Task& task) {
  const double now_s = process_->main.turn_to(Activity::unfolding);
  put(Step::unfold, task.fragment, now_s, 0, 0);
}

void Recording::conclude(const Fragment& fragment, bool goes_on) {
  const double now_s = process_->main.turn_to(Activity::distribution);
  current_ = fragment.mark.number, current_type_ = type_of(fragment);
  if (goes_on) return;
  const auto hops = std::min<std::size_t>(fragment.mark.hops, ThreadTimes::hop_count - 1);
  ++process_->totals.ended, ++process_->totals.by_hops[hops];
  put(Step::destroy, fragment, now_s, 0, fragment.mark.hops);
}

void Recording::post(const Id& data, std::size_t bytes) {
  process_->main.record(Step::post, {.time_s = process_->main.last_s(),
                                     .subject = current_,
                                     .object = key(data),
                                     .amount = clamped(bytes),
                                     .type = current_type_});
}

void Recording::at_home(Step step, const Id& data, std::size_t amount) {
  process_->main.record(
      step, {.time_s = process_->main.moment_s(), .object = key(data), .amount = clamped(amount)});
}

}  // namespace tailrace::fragments
