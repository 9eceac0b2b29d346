// SPDX-License-Identifier: BSD-3-Clause
#include "am/faults.hpp"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::am {

namespace {

class FaultyTransport : public Transport {
 public:
  FaultyTransport(std::unique_ptr<Transport> inner, const Faults& faults)
      : inner_(std::move(inner)),
        faults_(faults),
        random_(mixed_bits(faults.seed + static_cast<std::uint64_t>(inner_->rank()) * SplitMix64::increment)),
        keep_(
            [this](int source, Lane lane, std::span<const std::byte> frame) { keep(source, lane, frame); }) {}

  [[nodiscard]] int rank() const noexcept override { return inner_->rank(); }
  [[nodiscard]] int size() const noexcept override { return inner_->size(); }
  [[nodiscard]] Bytes empty_frame() override { return inner_->empty_frame(); }
  void send(int to, Lane lane, Bytes frame) override { inner_->send(to, lane, std::move(frame)); }
  void send_body(int to, int tag, std::span<const std::byte> bytes, Completion sent) override {
    inner_->send_body(to, tag, bytes, later(std::move(sent)));
  }
  void receive_body(int from, int tag, std::span<std::byte> bytes, Completion received) override {
    inner_->receive_body(from, tag, bytes, later(std::move(received)));
  }
  bool look(const FrameSink& sink) override;
  [[nodiscard]] bool quiet() const noexcept override { return kept_.empty() && inner_->quiet(); }
  [[nodiscard]] Doorbell& bell() noexcept override { return inner_->bell(); }
  /// What is kept becomes due by looking.
  [[nodiscard]] bool arrivals_ring() const noexcept override {
    return inner_->arrivals_ring() && kept_.empty() && rank() != faults_.slow_rank;
  }
  bool all_arrived() override { return inner_->all_arrived(); }

 private:
  using Key = std::tuple<int, int, int>;  ///< source, lane and kind; a body is a key of its own
  struct Kept {
    std::int64_t due = 0;
    std::vector<std::byte> frame;
    Completion completion;
  };

  std::int64_t due() noexcept;
  void keep(int source, Lane lane, std::span<const std::byte> frame);
  Completion later(Completion completion);
  bool release(const FrameSink& sink);

  std::unique_ptr<Transport> inner_;
  Faults faults_;
  SplitMix64 random_;
  FrameSink keep_;
  std::map<Key, std::deque<Kept>> kept_;
  std::int64_t looks_ = 0;
  int bodies_ = 0;
};

std::int64_t FaultyTransport::due() noexcept {
  const bool delayed = random_.unit() < faults_.delayed;
  const auto range = static_cast<std::uint64_t>(faults_.max_looks);
  return looks_ + (delayed ? 1 + static_cast<std::int64_t>(random_.next() % range) : 0);
}

void FaultyTransport::keep(int source, Lane lane, std::span<const std::byte> frame) {
  const Key key{source, static_cast<int>(lane), value_at<FrameHeader>(frame).kind};
  kept_[key].push_back({due(), {frame.begin(), frame.end()}, {}});
}

Completion FaultyTransport::later(Completion completion) {
  return [this, completion = std::move(completion)] {
    kept_[Key{-1, 0, bodies_++}].push_back({due(), {}, completion});
  };
}

/// Hands on what is due: of each key, in the order of arrival.
bool FaultyTransport::release(const FrameSink& sink) {
  std::vector<std::pair<Key, Kept>> due;
  for (auto at = kept_.begin(); at != kept_.end();) {
    auto& queue = at->second;
    for (; !queue.empty() && queue.front().due <= looks_; queue.pop_front())
      due.emplace_back(at->first, std::move(queue.front()));
    at = queue.empty() ? kept_.erase(at) : std::next(at);
  }
  for (const auto& [key, kept] : due) {
    if (kept.completion)
      kept.completion();
    else
      sink(std::get<0>(key), static_cast<Lane>(std::get<1>(key)), kept.frame);
  }
  return !due.empty();
}

bool FaultyTransport::look(const FrameSink& sink) {
  ++looks_;
  if (rank() == faults_.slow_rank && looks_ % faults_.slow_looks != 0) return false;
  const bool moved = inner_->look(keep_);
  return release(sink) || moved;
}

/// Puts a value into the field that its key names. Returns what was expected instead, if it does not fit.
std::optional<std::string> assign(Faults& faults, std::string_view key, std::string_view value) {
  const auto put = [value](auto& field, auto min, auto max, const char* expected) {
    const auto number = parse_number<std::remove_reference_t<decltype(field)>>(value, min, max);
    if (number) field = *number;
    return number ? std::nullopt : std::optional<std::string>(expected);
  };
  constexpr int most = 1'000'000;
  if (key == "seed") return put(faults.seed, std::uint64_t{0}, ~std::uint64_t{0}, "a number from 0 on");
  if (key == "delayed") return put(faults.delayed, 0.0, 1.0, "a share from 0 to 1");
  if (key == "max_looks") return put(faults.max_looks, 1, most, "a number from 1 to 1000000");
  if (key == "slow_rank") return put(faults.slow_rank, -1, most, "a rank, or -1 for none");
  if (key == "slow_looks") return put(faults.slow_looks, 1, most, "a number from 1 to 1000000");
  return "one of seed, delayed, max_looks, slow_rank, slow_looks as the key";
}

}  // namespace

Faults parse_faults(const std::string& text) {
  Faults faults;
  Problems problems("faults of messages");
  for (const std::string& word : text.empty() ? std::vector<std::string>{} : split_text(text, ',')) {
    const auto equals = word.find('=');
    const std::string_view value =
        equals == std::string::npos ? "" : std::string_view(word).substr(equals + 1);
    if (const auto expected = assign(faults, std::string_view(word).substr(0, equals), value))
      problems.add(fmt::format("'{}' is not understood", word), "give " + *expected);
  }
  problems.throw_if_any(ErrorKind::usage);
  return faults;
}

std::unique_ptr<Transport> with_faults(std::unique_ptr<Transport> inner, const Faults& faults) {
  return std::make_unique<FaultyTransport>(std::move(inner), faults);
}

Options one_by_one(Options options) {
  options.messages_per_frame = 1;
  return options;
}

}  // namespace tailrace::am
