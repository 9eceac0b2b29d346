// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <system_error>
#include <thread>
#include <utility>

#include "base/check.hpp"
#include "base/system.hpp"
#include "channel.hpp"
#include "counters.hpp"
#include "format.hpp"
#include "record_channel.hpp"

namespace tailrace::trace {

namespace {

constexpr auto period = std::chrono::milliseconds(100);
constexpr std::int64_t max_file_bytes = std::int64_t{256} << 20;
constexpr auto between_summaries = std::chrono::seconds(10);  // of a run that continues
constexpr int max_threads = 255;                              // their numbers have 8 bits

/// Resident memory as the kernel keeps it anyway, shared memory included: for a sample ten times a second.
std::int64_t sample_memory_bytes() noexcept {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long total = 0, resident = 0;
  const bool read = std::fscanf(file, "%lld %lld", &total, &resident) == 2;  // NOLINT: the kernel wrote it
  std::fclose(file);
  return read ? resident * sysconf(_SC_PAGESIZE) : 0;
}

std::string error_text(int code) {
  return std::generic_category().message(code);
}

ErrorInfo io_error(const std::string& path, const std::string& what) {
  return {.kind = ErrorKind::io,
          .message = fmt::format("{}: {}", path, what),
          .path = path,
          .hint = "check the space and the permissions there"};
}

}  // namespace

const char* to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::off:
      return "off";
    case Mode::on:
      return "on";
    case Mode::papi:
      return "papi";
  }
  return "on";
}

Mode parse_mode(const char* name, const std::string& text) {
  if (text == "off") return Mode::off;
  if (text == "on") return Mode::on;
  if (text != "papi")
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("{} {}: unknown", name, text),
                          .path = {},
                          .hint = "one of off, on, papi"});
  require_counters(name);
  return Mode::papi;
}

/// Describes what the recorder and its thread share; channels know it only by its bell.
class Recorder::State {
 public:
  State(std::string path, const Identity& identity, const Clock& clock, Mode mode, std::int64_t record_bytes);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { close(); }

  std::shared_ptr<Channel> open_channel(const std::string& thread);
  std::shared_ptr<RecordChannel> open_records(const std::string& thread);
  void add(const ClockPoint& point) {
    const std::scoped_lock lock(mutex_);
    clock_points_.push_back(point);
  }
  void add(const TypeName& name) {
    const std::scoped_lock lock(mutex_);
    type_names_.push_back(name);
  }
  void add(int thread, Summary summary) {
    const std::scoped_lock lock(mutex_);
    summaries_[thread] = std::move(summary);
  }
  std::optional<ErrorInfo> close() noexcept;

 private:
  void start();
  void work() noexcept;
  template <class Way>
  int free_number(const std::string& thread, const std::vector<std::shared_ptr<Way>>& at_work);
  void write_out(bool last = false) noexcept;
  std::vector<std::shared_ptr<Channel>> take_news();
  void take_from(Channel& channel, std::int64_t memory_bytes);
  void take_records();
  void take_summaries(bool last);
  void flush();

  const std::shared_ptr<RecordBudget> budget_;
  const std::string path_;
  const Clock clock_;
  const bool counting_;

  std::mutex mutex_;  // of what the threads of logs see too; never held while the file is written
  std::vector<std::shared_ptr<Channel>> channels_;
  std::vector<std::string> names_;  // of the threads, by number
  std::vector<ClockPoint> clock_points_;
  std::vector<std::shared_ptr<RecordChannel>> record_channels_;
  std::vector<TypeName> type_names_;  // that are not in the file
  std::map<int, Summary> summaries_;  // by thread, the last ones that are not in the file
  Encoder encoder_;                   // from here on: of the recorder's thread, after its end of `close`
  int file_ = -1;
  std::size_t named_ = 0;  // threads whose names are in the file
  std::int64_t file_bytes_ = 0;
  std::chrono::steady_clock::time_point next_summaries_ =
      std::chrono::steady_clock::now() + between_summaries;
  std::uint32_t left_out_ = 0;  // events for which the file had no place
  std::optional<ErrorInfo> failure_;

  const std::shared_ptr<Bell> bell_ = std::make_shared<Bell>();
  bool closing_ = false;  // under the bell's mutex
  std::thread thread_;
};

Recorder::State::State(std::string path, const Identity& identity, const Clock& clock, Mode mode,
                       std::int64_t record_bytes)
    : budget_(std::make_shared<RecordBudget>(record_bytes / static_cast<std::int64_t>(sizeof(Record)))),
      path_(std::move(path)),
      clock_(clock),
      counting_(mode == Mode::papi),
      encoder_(counting_ ? static_cast<int>(counter_names().size()) : 0) {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw Error(io_error(path_, fmt::format("cannot be created: {}", error_text(errno))));
  encoder_.header(identity, host_name(), clock.identity(),
                  counting_ ? counter_names() : std::vector<std::string>());
  start();
}

/// The thread gets no signals: they belong to the simulation's.
void Recorder::State::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Recorder::State::work() noexcept {
  std::unique_lock lock(bell_->mutex);
  while (!closing_) {
    bell_->rung.wait_for(lock, period);
    lock.unlock();
    write_out();
    lock.lock();
  }
}

std::shared_ptr<Channel> Recorder::State::open_channel(const std::string& thread) {
  const std::scoped_lock lock(mutex_);
  const int number = free_number(thread, channels_);
  if (number > max_threads) return {};
  channels_.push_back(std::make_shared<Channel>(number, counting_, bell_));
  return channels_.back();
}

std::shared_ptr<RecordChannel> Recorder::State::open_records(const std::string& thread) {
  const std::scoped_lock lock(mutex_);
  const int number = free_number(thread, record_channels_);
  if (number > max_threads) return {};
  record_channels_.push_back(std::make_shared<RecordChannel>(number, bell_, budget_));
  return record_channels_.back();
}

/// The number of the thread: that of an earlier log of its name that has ended, else a new one. Where several
/// logs of a name are `at_work`, the later ones are called "NAME 2" and so on; spans and records of a log
/// have the same number.
template <class Way>
int Recorder::State::free_number(const std::string& thread,
                                 const std::vector<std::shared_ptr<Way>>& at_work) {
  for (int copy = 1;; ++copy) {
    const auto name = copy == 1 ? thread : fmt::format("{} {}", thread, copy);
    const auto known = std::find(names_.begin(), names_.end(), name);
    const int number = static_cast<int>(known - names_.begin());
    const bool taken = std::ranges::any_of(
        at_work, [&](const auto& channel) { return channel->thread() == number && !channel->ended(); });
    if (taken) continue;
    if (known == names_.end() && number <= max_threads) names_.push_back(name);
    return number;
  }
}

/// Moves what the logs hold into the file. What does not fit into the file is counted.
void Recorder::State::write_out(bool last) noexcept {
  try {
    const auto memory_bytes = sample_memory_bytes();
    for (const auto& channel : take_news()) take_from(*channel, memory_bytes);
    take_records();
    take_summaries(last);
    flush();
  } catch (...) {
    failure_ = describe_current_exception();
  }
}

/// Puts new names and clock points into the file, and forgets logs that have ended; the returned ones may
/// hold events.
std::vector<std::shared_ptr<Channel>> Recorder::State::take_news() {
  const std::scoped_lock lock(mutex_);
  for (; named_ < names_.size(); ++named_) encoder_.thread(static_cast<int>(named_), names_[named_]);
  for (const auto& point : clock_points_) encoder_.clock_point(point);
  clock_points_.clear();
  for (const auto& name : type_names_) encoder_.type_name(name);
  type_names_.clear();
  auto all = channels_;
  std::erase_if(channels_, [](const auto& channel) { return channel->ended(); });
  return all;
}

void Recorder::State::take_from(Channel& channel, std::int64_t memory_bytes) {
  if (channel.waiting() == 0) {
    left_out_ += channel.take_lost();
    return;
  }
  if (failure_ || file_bytes_ >= max_file_bytes) {
    channel.empty([this](const Event&, const Counts&) { ++left_out_; });
    return;
  }
  encoder_.begin_events(channel.thread(), channel.take_lost());
  channel.empty([&](const Event& event, const Counts& counts) {
    encoder_.event(event, counts, channel.thread(), clock_);
  });
  encoder_.end_events(memory_bytes);
  flush();
}

void Recorder::State::take_records() {
  std::vector<std::shared_ptr<RecordChannel>> all;
  {
    const std::scoped_lock lock(mutex_);
    all = record_channels_;
    std::erase_if(record_channels_, [](const auto& channel) { return channel->ended(); });
  }
  for (const auto& channel : all) {
    if (!channel->waiting()) continue;
    encoder_.begin_records(channel->thread());
    channel->empty([this](const Record& record) { encoder_.record(record, clock_); });
    encoder_.end_records();
    flush();
  }
}

/// Writes what threads say of all their records: at the end, and now and then for a run that is killed.
void Recorder::State::take_summaries(bool last) {
  const auto now = std::chrono::steady_clock::now();
  if (!last && now < next_summaries_) return;
  next_summaries_ = now + between_summaries;
  const std::scoped_lock lock(mutex_);
  for (const auto& [thread, summary] : summaries_) encoder_.summary(summary, thread, clock_);
  summaries_.clear();
}

void Recorder::State::flush() {
  auto left = encoder_.bytes();
  while (!left.empty() && !failure_) {
    const auto written = ::write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      failure_ = io_error(path_, fmt::format("the trace ends early, write: {}", error_text(errno)));
    else
      left = left.subspan(static_cast<std::size_t>(written));
  }
  file_bytes_ += static_cast<std::int64_t>(encoder_.bytes().size());
  encoder_.clear();
}

std::optional<ErrorInfo> Recorder::State::close() noexcept {
  if (!thread_.joinable()) return failure_;
  {
    const std::scoped_lock lock(bell_->mutex);
    closing_ = true;
  }
  bell_->rung.notify_one();
  thread_.join();
  write_out(true);
  encoder_.end(left_out_);
  flush();
  if (::close(file_) != 0 && !failure_)
    failure_ = io_error(path_, fmt::format("the trace may be incomplete, close: {}", error_text(errno)));
  return failure_;
}

namespace {

/// The recorder of the process, for the logs of all its threads.
struct Process {
  std::mutex mutex;
  Recorder* recorder = nullptr;
  unsigned last = 0;
  std::atomic<unsigned> number = 0;
};

Process& process() noexcept {
  static Process instance;
  return instance;
}

}  // namespace

Recorder::Recorder(const std::string& path, const Identity& identity, const Clock& clock, Mode mode,
                   std::int64_t record_bytes)
    : state_(std::make_unique<State>(path, identity, clock, mode, record_bytes)) {
  const std::scoped_lock lock(process().mutex);
  TAILRACE_CHECK(process().recorder == nullptr, "a process has one recorder at a time");
  process().recorder = this;
  process().number = ++process().last;
}

Recorder::~Recorder() {
  close();
}

unsigned Recorder::current() noexcept {
  return process().number.load(std::memory_order_relaxed);
}

void Recorder::with_state(const std::function<void(State&)>& use) {
  const std::scoped_lock lock(process().mutex);
  if (process().recorder != nullptr) use(*process().recorder->state_);
}

std::shared_ptr<Channel> Recorder::channel_for(const std::string& thread) noexcept {
  std::shared_ptr<Channel> channel;
  try {
    with_state([&](State& state) { channel = state.open_channel(thread); });
  } catch (const std::exception&) {  // no memory: this log has totals only
  }
  return channel;
}

std::shared_ptr<RecordChannel> Recorder::record_channel_for(const std::string& thread) noexcept {
  std::shared_ptr<RecordChannel> channel;
  try {
    with_state([&](State& state) { channel = state.open_records(thread); });
  } catch (const std::exception&) {  // no memory: this log has a summary only
  }
  return channel;
}

void Recorder::add(const TypeName& name) {
  with_state([&](State& state) { state.add(name); });
}

void Recorder::add(int thread, Summary summary) {
  with_state([&](State& state) { state.add(thread, std::move(summary)); });
}

unsigned recorder_number() noexcept {
  return Recorder::current();
}

void Recorder::add(const ClockPoint& point) {
  state_->add(point);
}

std::optional<ErrorInfo> Recorder::close() noexcept {
  {
    const std::scoped_lock lock(process().mutex);
    if (process().recorder == this) {
      process().recorder = nullptr;
      process().number = 0;
    }
  }
  return state_->close();
}

std::int64_t Recorder::memory_bytes(int threads, Mode mode) noexcept {
  if (mode == Mode::off) return 0;
  const auto each = sizeof(Event) + (mode == Mode::papi ? sizeof(Counts) : 0);
  return static_cast<std::int64_t>(static_cast<std::size_t>(threads) * Channel::capacity * each);
}

}  // namespace tailrace::trace
