// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/heap/far.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/bytes.hpp"
#include "base/system.hpp"
#include "mpi/look_until.hpp"
#include "mpi/message.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

constexpr int tag = 0x6865;
/// The longest record; longer operations are several.
constexpr std::size_t batch_bytes = 65536;
/// Of messages that MPI has not sent yet, and of answers that have not come: beyond, an operation waits
/// before it begins.
constexpr std::size_t on_the_way_bytes = std::size_t{4} << 20;
/// The same of messages: Open MPI goes through all that it could not send yet in each of its calls.
constexpr std::size_t on_the_way_messages = 64;
constexpr int looks_at_once = 16;

/// The objects of the process: a rank that waits for one serves the others too.
std::vector<Far*>& all() {
  static std::vector<Far*> list;
  return list;
}

AggregationRules rules_of(const HeapOptions& options) {
  return {.message_bytes = static_cast<std::size_t>(options.aggregate_bytes),
          .age_s = options.aggregate_age_s};
}

template <class Bytes, class Move>
void for_each_batch(Bytes bytes, FarPlace place, Move move) {
  for (std::size_t at = 0; at < bytes.size(); at += batch_bytes) {
    const auto batch = bytes.subspan(at, std::min(batch_bytes, bytes.size() - at));
    move(FarPlace{place.rank, place.block, place.offset + at}, batch);
  }
}

}  // namespace

std::size_t Far::bound_bytes(const HeapOptions& options) {
  return Aggregator::bound_bytes(rules_of(options), sizeof(Record) + batch_bytes) + on_the_way_bytes;
}

Far::Far(mpi::CommView comm, const HeapOptions& options, HeapCounts& counts, Resolve resolve)
    : comm_(comm),
      limit_s_(options.limit_s),
      counts_(counts),
      resolve_(std::move(resolve)),
      aggregator_(rules_of(options),
                  [this](int rank, Aggregator::Message message) { post(rank, std::move(message)); }) {
  all().push_back(this);
}

Far::~Far() {
  std::erase(all(), this);
  mpi::abandon({}, sends_);
  if (std::any_of(sends_.begin(), sends_.end(), [](mpi::Request one) { return one != mpi::Request::none; }))
    static_cast<void>(
        new std::vector(std::move(sending_)));  // MPI still reads it, while an error ends the program
}

void Far::post(int rank, Aggregator::Message message) {
  ++counts_.messages;
  counts_.bytes += static_cast<std::int64_t>(message.size());
  counts_.largest_message = std::max(counts_.largest_message, static_cast<std::int64_t>(message.size()));
  sending_bytes_ += message.size();
  sending_.push_back(std::move(message));
  sends_.push_back(mpi::start_send(comm_, sending_.back(), rank, tag));
}

void Far::drop_sent() {
  if (sends_.empty()) return;
  std::vector<int> numbers;
  mpi::test_some(sends_, numbers);
  for (std::size_t i = sends_.size(); i-- > 0;) {
    if (sends_[i] != mpi::Request::none) continue;
    sending_bytes_ -= sending_[i].size();
    std::swap(sends_[i], sends_.back());
    std::swap(sending_[i], sending_.back());
    sends_.pop_back();
    sending_.pop_back();
  }
}

void Far::make_room() {
  const auto within = [&](std::size_t part) {
    return sending_bytes_ + expected_bytes_ < on_the_way_bytes / part &&
           sends_.size() < on_the_way_messages / part;
  };
  if (within(1)) return;
  aggregator_.flush();
  wait([&] { return within(2); }, "room for messages");
}

void Far::begin(int rank, const Record& record, std::span<const std::byte> body) {
  make_room();
  Peer& peer = peer_of(rank);
  peer.used = true;
  ++counts_.far;
  append(rank, peer, record, body);
}

void Far::append(int rank, Peer& peer, const Record& record, std::span<const std::byte> body) {
  peer.block = record.verb == Verb::put ? std::int64_t{record.block} : -1;
  aggregator_.append(rank, std::as_bytes(std::span(&record, 1)), body, monotonic_s);
}

Far::Peer& Far::peer_of(int rank) {
  if (last_peer_.first != rank) last_peer_ = {rank, &peers_[rank]};
  return *last_peer_.second;
}

bool Far::put_word(const FarPlace& to, std::span<const std::byte> bytes) {
  constexpr std::uint64_t end_of_offsets = std::uint64_t{1} << 48U;
  if (bytes.size() != sizeof(std::uint64_t) || to.offset >= end_of_offsets) return false;
  make_room();  // lets messages leave
  Peer& peer = peer_of(to.rank);
  if (peer.block != std::int64_t{to.block} || aggregator_.begins_message(to.rank)) return false;
  peer.used = true;
  ++counts_.far;
  const WordRecord record{.offset_high = static_cast<std::uint16_t>(to.offset >> 32U),
                          .offset_low = static_cast<std::uint32_t>(to.offset),
                          .word = value_at<std::uint64_t>(bytes)};
  aggregator_.append(to.rank, std::as_bytes(std::span(&record, 1)), {}, monotonic_s);
  return true;
}

void Far::put(FarPlace to, std::span<const std::byte> bytes) {
  if (put_word(to, bytes)) return;
  for_each_batch(bytes, to, [&](const FarPlace& place, std::span<const std::byte> batch) {
    begin(place.rank,
          {.verb = Verb::put,
           .block = place.block,
           .offset = place.offset,
           .bytes = static_cast<std::uint32_t>(batch.size())},
          batch);
  });
}

std::uint32_t Far::expect(std::span<std::byte> out) {
  if (free_tokens_.empty()) {
    free_tokens_.push_back(static_cast<std::uint32_t>(expected_.size()));
    expected_.emplace_back();
  }
  const std::uint32_t token = free_tokens_.back();
  free_tokens_.pop_back();
  expected_[token] = out;
  expected_bytes_ += out.size();
  ++missing_;
  return token;
}

void Far::get(FarPlace from, std::span<std::byte> out) {
  for_each_batch(out, from, [&](const FarPlace& place, std::span<std::byte> batch) {
    begin(place.rank,
          {.verb = Verb::get,
           .block = place.block,
           .offset = place.offset,
           .token = expect(batch),
           .bytes = static_cast<std::uint32_t>(batch.size())},
          {});
  });
}

void Far::change(const FarPlace& at, const Change& change) {
  begin(at.rank, {.verb = Verb::change, .block = at.block, .offset = at.offset, .bytes = sizeof change},
        std::as_bytes(std::span(&change, 1)));
}

void Far::fetch(const FarPlace& at, const Change& change, std::uint64_t& result) {
  begin(at.rank,
        {.verb = Verb::fetch,
         .block = at.block,
         .offset = at.offset,
         .token = expect(std::as_writable_bytes(std::span(&result, 1))),
         .bytes = sizeof change},
        std::as_bytes(std::span(&change, 1)));
}

void Far::reply(int rank, const Record& record, std::span<const std::byte> body) {
  append(rank, peers_[rank], record, body);
  replied_.push_back(rank);
}

void Far::take_answer(std::uint32_t token, std::span<const std::byte> body) {
  if (!expected_[token].empty()) std::memcpy(expected_[token].data(), body.data(), body.size());
  expected_bytes_ -= body.size();
  --missing_;
  free_tokens_.push_back(token);
}

void Far::serve(int rank, const Record& record, std::span<const std::byte> body) {
  const auto place = [&] { return resolve_(record.block, record.offset); };
  const auto answer = [&](Verb verb, std::span<const std::byte> bytes) {
    reply(rank, {.verb = verb, .token = record.token, .bytes = static_cast<std::uint32_t>(bytes.size())},
          bytes);
  };
  switch (record.verb) {
    case Verb::put:
    case Verb::put_word:
      return;  // `receive` has carried them out
    case Verb::change:
      apply_change(place(), value_at<Change>(body));
      return;
    case Verb::fetch: {
      const std::uint64_t old = apply_change(place(), value_at<Change>(body));
      return answer(Verb::value, std::as_bytes(std::span(&old, 1)));
    }
    case Verb::get:
      return answer(Verb::value, {place(), record.bytes});
    case Verb::value:
      return take_answer(record.token, body);
    case Verb::ask:
      return answer(Verb::done, {});
    case Verb::done:
      ++peers_[rank].answered;
      --unanswered_;
  }
}

void Far::receive(int rank, std::span<const std::byte> message) {
  std::byte* block = nullptr;  // of the last put
  while (!message.empty()) {
    if (value_at<Verb>(message) == Verb::put_word) {
      const auto record = value_at<WordRecord>(message);
      copy_number_or_bytes(block + record.offset(), std::as_bytes(std::span(&record.word, 1)).data(),
                           sizeof record.word);
      message = message.subspan(sizeof record);
      ++counts_.served;
      continue;
    }
    const auto record = value_at<Record>(message);
    const auto body = message.subspan(sizeof record, record.verb == Verb::get ? 0 : record.bytes);
    if (record.verb < Verb::value) ++counts_.served;
    if (record.verb == Verb::put) {
      block = resolve_(record.block, 0);
      copy_number_or_bytes(block + record.offset, body.data(), body.size());
    } else {
      serve(rank, record, body);
    }
    message = message.subspan(sizeof record + body.size());
  }
}

void Far::progress() {
  for (int looks = 0; looks < looks_at_once; ++looks) {
    const auto arrival = mpi::find_arrival(comm_, tag);
    if (!arrival) break;
    receive(arrival->source, mpi::receive(*arrival));
  }
  for (const int rank : replied_) aggregator_.flush(rank);
  replied_.clear();
  if (aggregator_.waiting_messages() > 0) aggregator_.flush_old(monotonic_s());
  drop_sent();
}

void Far::progress_all() {
  for (Far* const far : all()) far->progress();
}

std::string Far::silent_ranks() const {
  std::vector<int> ranks;
  for (const auto& [rank, peer] : peers_)
    if (peer.used || peer.asked != peer.answered) ranks.push_back(rank);
  return ranks.empty() ? "no rank in particular" : fmt::format("rank {}", fmt::join(ranks, ", "));
}

void Far::wait(const std::function<bool()>& done, const char* what) {
  if (done()) return;
  const double start_s = monotonic_s();
  const auto look = [&] {
    progress_all();
    return done();
  };
  const bool in_time = mpi::look_until(look, limit_s_);
  counts_.wait_s += monotonic_s() - start_s;
  if (in_time) return;
  std::fill(expected_.begin(), expected_.end(), std::span<std::byte>());  // that memory may be gone
  throw Error(
      ErrorKind::internal,
      fmt::format("rank {} waited {:g} s for {} of a heap; still to answer: {}", comm_.rank(), limit_s_, what,
                  silent_ranks()),
      "a rank carries out what others ask of it while it is in a function of a heap: progress() in long "
      "computations; or a larger limit_s");
}

void Far::ask(int rank, Peer& peer) {
  if (peer.used) {
    ++peer.asked;
    ++unanswered_;
    append(rank, peer, {.verb = Verb::ask}, {});
    peer.used = false;
  }
  send(rank);
}

void Far::quiet(int rank) {
  const auto found = peers_.find(rank);
  if (found == peers_.end()) return;
  ask(rank, found->second);
  wait([&] { return found->second.asked == found->second.answered; },
       "what it has begun towards another rank");
}

void Far::quiet() {
  for (auto& [rank, peer] : peers_) ask(rank, peer);
  wait([&] { return unanswered_ == 0; }, "what it has begun towards other ranks");
}

void Far::wait_for_gets() {
  if (missing_ == 0) return;
  aggregator_.flush();
  wait([&] { return missing_ == 0; }, "what it wants to read");
}

}  // namespace tailrace::exchange
