// SPDX-License-Identifier: BSD-3-Clause
#include "device/emulation.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/system.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

namespace {

/// What the queues of a device share.
struct State {
  explicit State(const EmulationOptions& chosen) : options(chosen) {}

  EmulationOptions options;
  mutable std::mutex mutex;
  std::map<const void*, std::size_t> allocations;
  std::map<const std::byte*, std::size_t> pins;
  std::optional<ErrorInfo> failure;  ///< once it has failed, everything on it fails
  EmulationCounts counts;

  void throw_if_failed() const {
    const std::scoped_lock lock(mutex);
    if (failure) throw Error(*failure);
  }
  /// Counts a copy, and returns whether it may be made.
  bool begin_copy(const std::byte* host, std::size_t bytes) {
    const std::scoped_lock lock(mutex);
    ++counts.copies;
    auto pin = pins.upper_bound(host);
    const bool pinned =
        pin != pins.begin() && (--pin, host + bytes <= pin->first + static_cast<std::ptrdiff_t>(pin->second));
    if (!pinned) ++counts.unpinned_copies;
    if (options.failing_copy > 0 && counts.copies >= options.failing_copy && !failure)
      failure = Error(ErrorKind::resource, "the emulated device failed in a copy").info();
    return !failure;
  }
};

class EmulatedEvent final : public Event {
 public:
  explicit EmulatedEvent(const State& state) : state_(&state) {}

  [[nodiscard]] bool reached() const override {
    state_->throw_if_failed();
    const std::scoped_lock lock(mutex_);
    return reached_ == recorded_;
  }
  void wait() const override {
    wait_for(recorded());
    state_->throw_if_failed();
  }
  std::int64_t record() {
    const std::scoped_lock lock(mutex_);
    return ++recorded_;
  }
  [[nodiscard]] std::int64_t recorded() const {
    const std::scoped_lock lock(mutex_);
    return recorded_;
  }
  [[nodiscard]] double seconds_since(const Event& earlier) const override {
    return reached_at_s() - static_cast<const EmulatedEvent&>(earlier).reached_at_s();
  }
  void reach(std::int64_t mark) {
    const std::scoped_lock lock(mutex_);
    reached_ = std::max(reached_, mark);
    reached_at_s_ = monotonic_s();
    changed_.notify_all();
  }
  void wait_for(std::int64_t mark) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_ >= mark; });
  }

 private:
  [[nodiscard]] double reached_at_s() const {
    const std::scoped_lock lock(mutex_);
    return reached_at_s_;
  }

  const State* state_;
  double reached_at_s_ = 0;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::int64_t recorded_ = 0, reached_ = 0;
};

class EmulatedQueue final : public Queue, public Emulation {
 public:
  explicit EmulatedQueue(State& state)
      : state_(&state), thread_([this](const std::stop_token& stop) { work(stop); }) {}
  ~EmulatedQueue() override {
    flush();
    {
      const std::scoped_lock lock(mutex_);  // else the thread could miss it between its look and its sleep
      thread_.request_stop();
    }
    changed_.notify_all();
  }

  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    enqueue([=, this] {
      std::this_thread::sleep_for(std::chrono::duration<double>(state_->options.copy_delay_s));
      if (state_->begin_copy(static_cast<const std::byte*>(to), bytes)) std::memcpy(to, from, bytes);
    });
  }
  void copy_to_device(void* to, const void* from, std::size_t bytes) override {
    enqueue([=] { std::memcpy(to, from, bytes); });
  }
  void clear(void* memory, std::size_t bytes) override {
    enqueue([=] { std::memset(memory, 0, bytes); });
  }
  void record(Event& event) override {
    auto& mine = static_cast<EmulatedEvent&>(event);
    enqueue([&mine, mark = mine.record()] { mine.reach(mark); });
  }
  void wait_for(const Event& event) override {
    const auto& mine = static_cast<const EmulatedEvent&>(event);
    enqueue([&mine, mark = mine.recorded()] { mine.wait_for(mark); });
  }
  void synchronize() override {
    flush();
    state_->throw_if_failed();
  }
  [[nodiscard]] void* native() const noexcept override { return const_cast<EmulatedQueue*>(this); }
  [[nodiscard]] Emulation* emulation() noexcept override { return this; }

  void enqueue(std::function<void()> work) override {
    const std::scoped_lock lock(mutex_);
    works_.push_back(std::move(work));
    changed_.notify_all();
  }

 private:
  void flush() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return works_.empty(); });
  }
  void work(const std::stop_token& stop) {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [&] { return !works_.empty() || stop.stop_requested(); });
      if (works_.empty()) return;
      const auto& next = works_.front();  // stays until it is done
      lock.unlock();
      next();
      lock.lock();
      works_.pop_front();
      changed_.notify_all();
    }
  }

  State* state_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> works_;
  std::jthread thread_;
};

/// A queue of the caller's, under another owner.
class BorrowedQueue final : public Queue {
 public:
  explicit BorrowedQueue(Queue& queue) : queue_(&queue) {}
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    queue_->copy_to_host(to, from, bytes);
  }
  void copy_to_device(void* to, const void* from, std::size_t bytes) override {
    queue_->copy_to_device(to, from, bytes);
  }
  void clear(void* memory, std::size_t bytes) override { queue_->clear(memory, bytes); }
  void record(Event& event) override { queue_->record(event); }
  void wait_for(const Event& event) override { queue_->wait_for(event); }
  void synchronize() override { queue_->synchronize(); }
  [[nodiscard]] void* native() const noexcept override { return queue_->native(); }
  [[nodiscard]] Emulation* emulation() noexcept override { return queue_->emulation(); }

 private:
  Queue* queue_;
};

class Emulated final : public EmulatedDevice {
 public:
  Emulated(const EmulationOptions& options, int index) : state_(options) {
    info_.index = index;
    info_.name = "emulated device";
    info_.memory_bytes = options.memory_bytes;
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::size_t free_bytes() const override {
    const std::scoped_lock lock(state_.mutex);
    return state_.options.memory_bytes - state_.counts.allocated_bytes;
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<EmulatedQueue>(state_); }
  std::unique_ptr<Queue> queue_of(void* native) override {
    if (native == nullptr) {
      const std::scoped_lock lock(state_.mutex);
      if (!own_) own_ = std::make_unique<EmulatedQueue>(state_);
      native = own_.get();
    }
    return std::make_unique<BorrowedQueue>(*static_cast<EmulatedQueue*>(native));
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<EmulatedEvent>(state_); }

  std::unique_ptr<Event> make_timed_event() override { return make_event(); }

  void* allocate(std::size_t bytes) override {
    const std::scoped_lock lock(state_.mutex);
    auto& counts = state_.counts;
    if (bytes > state_.options.memory_bytes - counts.allocated_bytes)
      throw Error(ErrorKind::resource, "the emulated device has no " + std::to_string(bytes) + " bytes left");
    void* const memory = ::operator new(bytes);
    state_.allocations[memory] = bytes;
    counts.allocated_bytes += bytes;
    counts.max_allocated_bytes = std::max(counts.max_allocated_bytes, counts.allocated_bytes);
    return memory;
  }
  void release(void* memory) noexcept override {
    const std::scoped_lock lock(state_.mutex);
    const auto found = state_.allocations.find(memory);
    state_.counts.allocated_bytes -= found->second;
    state_.allocations.erase(found);
    ::operator delete(memory);
  }
  bool pin(std::span<std::byte> memory) override {
    const std::scoped_lock lock(state_.mutex);
    if (state_.options.refuses_to_pin) return false;
    return state_.pins.emplace(memory.data(), memory.size()).second;
  }
  void unpin(std::span<std::byte> memory) noexcept override {
    const std::scoped_lock lock(state_.mutex);
    state_.pins.erase(memory.data());
  }
  [[nodiscard]] EmulationCounts counts() const override {
    const std::scoped_lock lock(state_.mutex);
    return state_.counts;
  }

 private:
  DeviceInfo info_;
  State state_;
  std::unique_ptr<EmulatedQueue> own_;  ///< as CUDA's default stream
};

}  // namespace

std::unique_ptr<EmulatedDevice> emulate(const EmulationOptions& options, int index) {
  return std::make_unique<Emulated>(options, index);
}

}  // namespace tailrace::device
