// SPDX-License-Identifier: BSD-3-Clause
#include "am/over_mpi.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "mpi/message.hpp"

namespace tailrace::am {

namespace {

constexpr int first_frame_tag = 0, first_body_tag = 16;

/// Receives that were posted beforehand, in a ring. MPI matches messages with them in the order in which
/// they were posted, so only the oldest has to be tested, and the order of each sender's messages stays.
class ReceiveRing {
 public:
  ReceiveRing(mpi::CommView comm, int tag, std::size_t frame_bytes) : memory_(count * frame_bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      buffers_[i] = std::span(memory_).subspan(i * frame_bytes, frame_bytes);
      requests_[i] = mpi::prepare_receive(comm, buffers_[i], mpi::any_source, tag);
      mpi::start(requests_[i]);
    }
  }
  ReceiveRing(const ReceiveRing&) = delete;
  ReceiveRing& operator=(const ReceiveRing&) = delete;
  ~ReceiveRing() {
    mpi::abandon(requests_, {});
    for (mpi::Request& request : requests_) mpi::free_request(request);
  }

  /// The receive that is complete next.
  [[nodiscard]] mpi::Request oldest() const noexcept { return requests_[next_]; }
  /// Calls visit(source, frame) for the frame that the oldest receive has received, then posts it again.
  template <class Visit>
  void take(const mpi::Received& received, Visit visit) {
    const std::size_t here = std::exchange(next_, (next_ + 1) % count);
    visit(received.source, buffers_[here].first(static_cast<std::size_t>(received.bytes)));
    mpi::start(requests_[here]);
  }

 private:
  static constexpr std::size_t count = 32;
  Bytes memory_;
  std::array<std::span<std::byte>, count> buffers_;
  std::array<mpi::Request, count> requests_{};
  std::size_t next_ = 0;
};

/// Bodies that are being sent or received.
class Bodies {
 public:
  void add(mpi::Request request, Completion completion) {
    requests_.push_back(request);
    completions_.push_back(std::move(completion));
  }
  [[nodiscard]] bool empty() const noexcept { return requests_.empty(); }

  /// Calls the completions of those that are complete. Returns whether there were any.
  bool complete_some() {
    if (requests_.empty()) return false;
    std::vector<Completion> done;
    for (const int number : mpi::test_some(requests_, numbers_))
      done.push_back(std::move(completions_[static_cast<std::size_t>(number)]));
    if (done.empty()) return false;
    remove_complete();
    for (const Completion& completion : done) completion();
    return true;
  }

 private:
  void remove_complete() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == mpi::Request::none) continue;
      requests_[kept] = requests_[i];
      if (kept != i) completions_[kept] = std::move(completions_[i]);
      ++kept;
    }
    requests_.resize(kept);
    completions_.resize(kept);
  }

  std::vector<mpi::Request> requests_;
  std::vector<Completion> completions_;
  std::vector<int> numbers_;
};

class MpiTransport : public Transport {
 public:
  MpiTransport(mpi::CommView parent, const Options& options)
      : comm_(mpi::Comm::duplicate(parent)),
        view_(comm_.view()),
        control_(view_, first_frame_tag, options.max_frame_bytes()),
        data_(view_, first_frame_tag + 1, options.max_frame_bytes()) {}

  [[nodiscard]] int rank() const noexcept override { return view_.rank(); }
  [[nodiscard]] int size() const noexcept override { return view_.size(); }
  [[nodiscard]] Bytes empty_frame() override;
  void send(int to, Lane lane, Bytes frame) override;
  void send_body(int to, int tag, std::span<const std::byte> bytes, Completion sent) override;
  void receive_body(int from, int tag, std::span<std::byte> bytes, Completion received) override;
  bool look(const FrameSink& sink) override;
  [[nodiscard]] bool quiet() const noexcept override { return sending_.empty() && bodies_.empty(); }
  [[nodiscard]] Doorbell& bell() noexcept override { return bell_; }
  [[nodiscard]] bool arrivals_ring() const noexcept override { return false; }
  bool all_arrived() override { return mpi::sum(view_, balance_) == 0; }

 private:
  struct Sending {
    mpi::Request request = mpi::Request::none;
    Bytes frame;
  };
  bool take(const FrameSink& sink);
  void reuse_sent();
  template <class Byte, class Start>
  void add_batches(std::span<Byte> bytes, const Completion& complete, Start start);

  mpi::Comm comm_;
  mpi::CommView view_;
  ReceiveRing control_, data_;
  std::deque<Sending> sending_;
  std::vector<Bytes> spare_;
  Bodies bodies_;
  Doorbell bell_;
  std::int64_t balance_ = 0;  ///< frames sent minus frames received
};

Bytes MpiTransport::empty_frame() {
  if (spare_.empty()) return {};
  Bytes frame = std::move(spare_.back());
  spare_.pop_back();
  frame.clear();
  return frame;
}

void MpiTransport::send(int to, Lane lane, Bytes frame) {
  ++balance_;
  const int tag = first_frame_tag + static_cast<int>(lane);
  const mpi::Request request = mpi::start_send(view_, frame, to, tag);
  sending_.push_back({request, std::move(frame)});
}

void MpiTransport::reuse_sent() {
  constexpr std::size_t max_spare = 64;
  for (; !sending_.empty() && mpi::test_all({&sending_.front().request, 1}); sending_.pop_front())
    if (spare_.size() < max_spare) spare_.push_back(std::move(sending_.front().frame));
}

/// Calls start(batch) for batches that MPI's counts allow, and `complete` when all of them are complete.
template <class Byte, class Start>
void MpiTransport::add_batches(std::span<Byte> bytes, const Completion& complete, Start start) {
  constexpr std::size_t batch_bytes = 1U << 30;  // MPI 3.1 counts are int
  const auto left = std::make_shared<std::size_t>((bytes.size() + batch_bytes - 1) / batch_bytes);
  for (std::size_t done = 0; done < bytes.size(); done += batch_bytes)
    bodies_.add(start(bytes.subspan(done, std::min(batch_bytes, bytes.size() - done))), [left, complete] {
      if (--*left == 0) complete();
    });
}

void MpiTransport::send_body(int to, int tag, std::span<const std::byte> bytes, Completion sent) {
  add_batches(bytes, sent,
              [&](auto batch) { return mpi::start_send(view_, batch, to, first_body_tag + tag); });
}

void MpiTransport::receive_body(int from, int tag, std::span<std::byte> bytes, Completion received) {
  add_batches(bytes, received,
              [&](auto batch) { return mpi::start_receive(view_, batch, from, first_body_tag + tag); });
}

/// Hands on a frame that has arrived, one of control first. Returns whether there was one.
bool MpiTransport::take(const FrameSink& sink) {
  std::array oldest{control_.oldest(), data_.oldest()};
  const auto found = mpi::test_receives(oldest);
  if (!found) return false;
  const bool urgent = found->request == 0;
  (urgent ? control_ : data_).take(found->what, [&](int source, std::span<const std::byte> frame) {
    --balance_;
    sink(source, urgent ? Lane::control : Lane::data, frame);
  });
  return true;
}

bool MpiTransport::look(const FrameSink& sink) {
  constexpr int max_frames = 16;  // so that a flood does not keep bodies waiting
  bool any = false;
  for (int i = 0; i < max_frames && take(sink); ++i) any = true;
  any = bodies_.complete_some() || any;
  reuse_sent();
  return any;
}

}  // namespace

std::unique_ptr<Transport> over_mpi(mpi::CommView comm, const Options& options) {
  return std::make_unique<MpiTransport>(comm, options);
}

}  // namespace tailrace::am
