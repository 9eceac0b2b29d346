// SPDX-License-Identifier: BSD-3-Clause
#include "am/endpoint.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.hpp"
#include "base/system.hpp"
#include "tailrace/error.hpp"

namespace tailrace::am {

namespace {

/// Where arrivals ring.
double longest_sleep_s_of(const Options& options) noexcept {
  return std::min(1.0, options.silence_limit_s / 8);
}
constexpr double idle_check_s = 1e-2;

/// A flag that is raised until the end of a scope.
class Raised {
 public:
  explicit Raised(bool& flag) noexcept : flag_(flag) { flag_ = true; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;
  ~Raised() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

Endpoint::Endpoint(std::unique_ptr<Transport> transport, const Options& options)
    : options_(options),
      transport_(std::move(transport)),
      outgoing_(*transport_, options_),
      incoming_(*transport_, options_.bodies_in_flight,
                {.deliver = [this](int number, Message& message) { deliver(number, message); },
                 .send_ready =
                     [this](int to, const Readiness& readiness) {
                       outgoing_.append(to, Lane::control,
                                        {EntryType::ready, own_module, 0, sizeof readiness},
                                        {.body = std::as_bytes(std::span(&readiness, 1))});
                     }}),
      sink_(
          [this](int source, Lane lane, std::span<const std::byte> frame) { receive(source, lane, frame); }),
      sums_(*this, own_module) {}

Endpoint::~Endpoint() = default;

Endpoint::Module& Endpoint::module(int number) {
  TAILRACE_CHECK(number >= 0 && number < module_count, "a module has a number below module_count");
  return modules_[static_cast<std::size_t>(number)];
}

void Endpoint::set_handler(int number, Lane lane, Handler handler) {
  module(number) = {.handler = std::move(handler), .lane = lane};
}

void Endpoint::send(int to, int number, const Contents& contents, Completion on_complete) {
  TAILRACE_CHECK(to >= 0 && to < size(), "a message is sent to a rank");
  TAILRACE_CHECK(contents.head.size() <= max_head_bytes, "a head has at most max_head_bytes");
  const Lane lane = module(number).lane;
  const std::size_t bytes = contents.head.size() + contents.body.size();
  sent_.add(number, bytes);
  if (number != own_module) outgoing_.tally(to).sent.add(bytes);
  if (to == rank()) return send_to_self(number, contents, on_complete);
  if (contents.body.size() > options_.rendezvous_bytes)
    return announce(to, number, contents, std::move(on_complete));
  const EntryHeader header{EntryType::message, static_cast<std::uint8_t>(number),
                           static_cast<std::uint16_t>(contents.head.size()),
                           static_cast<std::uint32_t>(contents.body.size())};
  outgoing_.append(to, lane, header, contents);
  if (on_complete) on_complete();
}

void Endpoint::send_to_self(int number, const Contents& contents, const Completion& on_complete) {
  to_self_.push_back({.module = number,
                      .head = {contents.head.begin(), contents.head.end()},
                      .body = {contents.body.begin(), contents.body.end()}});
  if (on_complete) on_complete();
}

void Endpoint::announce(int to, int number, const Contents& contents, Completion on_complete) {
  const Announcement announcement{
      .sender = announced_.insert({.to = to, .body = contents.body, .on_complete = std::move(on_complete)}),
      .body_bytes = contents.body.size()};
  const EntryHeader header{EntryType::announce, static_cast<std::uint8_t>(number),
                           static_cast<std::uint16_t>(contents.head.size()), sizeof announcement};
  outgoing_.append(to, module(number).lane, header,
                   {.head = contents.head, .body = std::as_bytes(std::span(&announcement, 1))});
}

void Endpoint::send_announced(int to, const Readiness& readiness) {
  const auto body = announced_.at(readiness.sender).body;
  ++bodies_sent_;
  transport_->send_body(to, readiness.tag, body, [this, token = readiness.sender] {
    const Completion on_complete = announced_.take(token).on_complete;
    if (on_complete) on_complete();
  });
}

void Endpoint::hand_over(int to, int number, const Contents& contents, Completion on_complete) {
  auto handed = std::make_unique<Handed>();
  handed->to = to;
  handed->module = number;
  handed->head.assign(contents.head.begin(), contents.head.end());
  handed->body = contents.body;
  handed->on_complete = std::move(on_complete);
  handed_over_.push(std::move(handed));
  transport_->bell().ring();
}

bool Endpoint::send_handed_over() {
  if (handed_over_.empty()) return false;
  handed_over_.take_all([this](Handed& handed) {
    send(handed.to, handed.module, {.head = handed.head, .body = handed.body}, std::move(handed.on_complete));
  });
  return true;
}

void Endpoint::receive(int source, Lane lane, std::span<const std::byte> frame) {
  ++frames_received_;
  const auto header = value_at<FrameHeader>(frame);
  outgoing_.take_credit(source, header);
  for_each_entry(frame, [&](const EntryHeader& entry, auto head, auto body) {
    receive_entry(source, entry, {.head = head, .body = body});
  });
  if (header.counted != 0) outgoing_.give_credit(source, lane);
}

void Endpoint::receive_entry(int source, const EntryHeader& entry, const Contents& contents) {
  switch (entry.type) {
    case EntryType::message:
      return incoming_.take(source, entry.module, contents);
    case EntryType::announce:
      return incoming_.take_announced(source, entry.module, contents.head,
                                      value_at<Announcement>(contents.body));
    case EntryType::ready:
      return send_announced(source, value_at<Readiness>(contents.body));
  }
}

void Endpoint::deliver(int number, Message& message) {
  const std::size_t bytes = message.head().size() + message.body().size();
  received_.add(number, bytes);
  if (number != own_module) outgoing_.tally(message.source()).received.add(bytes);
  const Handler& handler = module(number).handler;
  TAILRACE_CHECK(handler, "a message arrives for a module that has a handler");
  handler(message);
}

bool Endpoint::deliver_to_self() {
  if (to_self_.empty()) return false;
  for (ToSelf& own : std::exchange(to_self_, {})) {
    Message message(rank(), own.head, std::move(own.body));
    deliver(own.module, message);
  }
  return true;
}

bool Endpoint::progress() {
  TAILRACE_CHECK(!in_progress_, "no handler calls progress");
  const Raised in_progress(in_progress_);
  ++looks_;
  bool active = send_handed_over();
  active = deliver_to_self() || active;
  active = transport_->look(sink_) || active;
  if (active)
    outgoing_.flush_urgent();
  else
    outgoing_.flush();
  return active;
}

void Endpoint::flush() {
  outgoing_.flush();
}

namespace {
/// How long to sleep in a wait between two looks. A look takes about 8 us of a core with the sleep before it:
/// 2,000 in the first second.
double pause_after(double waited_s) {
  constexpr double shortest_s = 20e-6, longest_s = 2e-3, share = 1.0 / 300;
  return std::clamp(share * waited_s, shortest_s, longest_s);
}
}  // namespace

bool Endpoint::wait(double limit_s) {
  constexpr int looks_before_yield = 50, looks_before_pause = 300;
  constexpr double longest_yielding_s =
      1e-3;  // a yield takes milliseconds on a busy machine, a pause does not
  const int looks_before_sleep = transport_->arrivals_ring() ? looks_before_yield : looks_before_pause;
  const double start_s = monotonic_s();
  Doorbell& bell = transport_->bell();
  for (int looks = 1;; ++looks) {
    const std::uint32_t rings = bell.rings();
    throw_if_silent();
    if (progress() || woken_.exchange(false)) return true;
    const double waited_s = monotonic_s() - start_s, left_s = limit_s - waited_s;
    if (left_s <= 0) return false;
    if (looks >= looks_before_sleep || waited_s > longest_yielding_s) {
      ++sleeps_;
      bell.sleep(rings, std::min(left_s, transport_->arrivals_ring() ? longest_sleep_s_of(options_)
                                                                     : pause_after(waited_s)));
    } else if (looks >= looks_before_yield) {
      sched_yield();
    }
  }
}

std::vector<Silence> Endpoint::silences(double limit_s) {
  std::vector<Debt> debts;
  outgoing_.add_debts(debts);
  announced_.for_each(
      [&](const Announced& sent) { debts.push_back(outgoing_.debt(sent.to, "a body's memory")); });
  incoming_.for_each_source([&](int source) { debts.push_back(outgoing_.debt(source, "a body")); });
  for (const int rank : sums_.missing()) debts.push_back(outgoing_.debt(rank, "a sum"));
  return silence_watch_.look(debts, monotonic_s(), limit_s);
}

void Endpoint::throw_if_silent() {
  constexpr double looks_per_limit = 8;
  if (std::isinf(options_.silence_limit_s)) return;
  const double now_s = monotonic_s();
  if (now_s - silence_look_s_ < options_.silence_limit_s / looks_per_limit) return;
  silence_look_s_ = now_s;
  const auto found = silences(options_.silence_limit_s);
  if (!found.empty()) throw Error(ErrorKind::internal, to_text(found));
}

void Endpoint::wake() {
  woken_.store(true);
  transport_->bell().ring();
}

bool Endpoint::quiet() const noexcept {
  return handed_over_.empty() && to_self_.empty() && outgoing_.empty() && incoming_.empty() &&
         announced_.size() == 0 && transport_->quiet();
}

void Endpoint::close() {
  Termination termination(*this);
  while (!termination.reached(quiet())) wait(idle_check_s);
  do {
    do {
      progress();
    } while (!quiet());
  } while (!transport_->all_arrived());
}

PeerTally Endpoint::peer(int rank) const noexcept {
  return outgoing_.tally(rank);
}

Costs Endpoint::costs() const noexcept {
  return {.frames_sent = outgoing_.frames_sent(),
          .frames_received = frames_received_,
          .bodies_sent = bodies_sent_,
          .bodies_received = incoming_.bodies_received(),
          .looks = looks_,
          .sleeps = sleeps_,
          .credit_waits = outgoing_.credit_waits()};
}

}  // namespace tailrace::am
