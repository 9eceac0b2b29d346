// SPDX-License-Identifier: BSD-3-Clause
// Programs that are cut at random moments and continue on another number of ranks, which are threads of this
// process, against the interpreter.
#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <map>
#include <mutex>

#include "am/launch.hpp"
#include "error_of.hpp"
#include "fragments/runtime.hpp"
#include "fragments_meaning.hpp"
#include "random_fragments.hpp"

namespace tailrace::test {

namespace {

using Bytes = std::vector<std::byte>;

/// A state in memory.
struct Memory {
  std::vector<Bytes> numbers;
  std::multimap<std::uint64_t, Bytes> items;
  int version = 0;  ///< of the form of the state; 0: today's
  std::mutex mutex;
};

/// The archive of one rank.
class MemoryArchive final : public checkpoint::StateArchive {
 public:
  MemoryArchive(Memory& memory, bool restores) : memory_(&memory), restores_(restores) {}
  [[nodiscard]] bool restores() const noexcept override { return restores_; }

 private:
  int enter(const std::string& /*component*/, int version) override {
    return memory_->version > 0 ? memory_->version : version;
  }
  void pass_numbers(const std::string& /*name*/, h5::ElementType /*type*/, Bytes& bytes) override {
    const std::scoped_lock lock(memory_->mutex);
    if (restores_)
      bytes = memory_->numbers.at(0);
    else
      memory_->numbers.assign(1, bytes);
  }
  void pass_text(const std::string& /*name*/, std::string& /*text*/) override { FAIL("no texts"); }
  void pass_field(const std::string& /*name*/, const checkpoint::FieldState& /*field*/) override {
    FAIL("no fields");
  }
  void pass_rows(const std::string& /*name*/, checkpoint::RowSet& /*rows*/) override { FAIL("no rows"); }
  void pass_items(const std::string& /*name*/, checkpoint::ItemSet& items) override {
    const std::scoped_lock lock(memory_->mutex);
    if (!restores_) return save(items);
    const auto ranges = items.begin_restore();
    for (const auto& [key, bytes] : memory_->items)
      for (const auto& range : ranges)
        if (range.begin <= key && key < range.end && items.owns(key, bytes)) items.add(key, bytes);
  }
  void save(const checkpoint::ItemSet& items) {
    std::size_t number = 0;
    for (const auto& item : items.items()) {
      Bytes bytes(static_cast<std::size_t>(item.bytes));
      items.read(number++, bytes);
      memory_->items.emplace(item.key, std::move(bytes));
    }
  }

  Memory* memory_;
  bool restores_;
};

/// What the ranks of one run share: where it begins, when it is cut, and what is left then.
struct Segment {
  explicit Segment(int ranks) : meeting(ranks) {}
  Memory* from = nullptr;
  Memory* to = nullptr;
  fragments::Wish wish = fragments::Wish::none;
  std::int64_t after = 0;  ///< fragments of a rank, which asks then
  std::barrier<> meeting;
  std::atomic<int> saved = 0;
};

class InMemory final : public fragments::Checkpoints {
 public:
  explicit InMemory(Segment& segment) : segment_(&segment) {}
  fragments::Wish wish(std::int64_t executed) override {
    const bool asks = executed >= segment_->after && segment_->saved == 0;
    return asks ? segment_->wish : fragments::Wish::none;
  }
  void save(const checkpoint::StateFunction& state, std::int64_t /*executed*/, bool stops) override {
    segment_->meeting.arrive_and_wait();
    MemoryArchive archive(*segment_->to, false);
    state(archive);
    ++segment_->saved;
    CHECK(stops == (segment_->wish == fragments::Wish::stop));
    segment_->meeting.arrive_and_wait();
  }
  bool restore(const checkpoint::StateFunction& state) override {
    if (segment_->from == nullptr) return false;
    MemoryArchive archive(*segment_->from, true);
    state(archive);
    return true;
  }

 private:
  Segment* segment_;
};

struct Run {
  fragments::Ending ending;
  std::string printed;
};

/// A program in segments, each on its number of ranks, cut at a random moment; two
/// workers on some.
class Segments {
 public:
  Segments(std::string program, std::vector<std::string> words)
      : program_(std::move(program)), words_(std::move(words)) {}

  Run interpreted() const {
    Printed printed;
    auto ending = fragments::interpret(test_image(program_), test_bodies(printed), words_);
    return {std::move(ending), printed.sorted()};
  }
  /// What all segments together came to. `most` bounds what the rank that asks has executed.
  Run run(const std::vector<int>& ranks, std::uint64_t seed, std::int64_t most) {
    SplitMix64 random(seed);
    Printed printed;
    std::unique_ptr<Memory> state;
    fragments::Ending last;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      Segment segment(ranks[i]);
      auto next = std::make_unique<Memory>();
      segment.from = state.get(), segment.to = next.get();
      if (i + 1 < ranks.size())
        segment.wish = random.next() % 8 == 0 ? fragments::Wish::checkpoint : fragments::Wish::stop;
      segment.after = static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(most + 1));
      last = run_segment(segment, ranks[i], random.next(), printed);
      if (!last.stopped) break;
      ++cuts_;
      state = std::move(next);
    }
    return {std::move(last), printed.sorted()};
  }
  [[nodiscard]] int cuts() const noexcept { return cuts_; }

  fragments::Ending run_segment(Segment& segment, int ranks, std::uint64_t seed, Printed& printed) const {
    const auto image = test_image(program_);
    const auto bodies = test_bodies(printed);
    std::vector<fragments::Ending> endings(static_cast<std::size_t>(ranks));
    std::optional<am::Faults> faults;
    if (seed % 2 == 0) faults = {.seed = seed, .delayed = 0.5, .max_looks = 30, .slow_rank = -1};
    am::launch_local({.local_ranks = ranks, .faults = faults, .options = {}}, [&](am::Endpoint& endpoint) {
      InMemory checkpoints(segment);
      fragments::RunOptions options{{.workers = seed % 3 == 0 ? 2 : 1}};
      options.balance = fragments::balance_words[seed % 4];
      options.taken = &checkpoints;
      endings[static_cast<std::size_t>(endpoint.rank())] =
          fragments::run(endpoint, image, bodies, words_, options);
    });
    for (const auto& ending : endings) CHECK(ending.stopped == endings[0].stopped);
    for (std::size_t rank = 1; rank < endings.size(); ++rank) endings[0].executed += endings[rank].executed;
    endings[0].executed += endings[0].executed_before;
    return endings[0];
  }

 private:
  std::string program_;
  std::vector<std::string> words_;
  int cuts_ = 0;
};

void check_same(const Run& run, const Run& expected) {
  CHECK_FALSE(run.ending.stopped);
  CHECK(run.printed == expected.printed);
  CHECK(run.ending.errors == expected.ending.errors);
  CHECK(run.ending.executed == expected.ending.executed);
  CHECK(run.ending.waiting == expected.ending.waiting);
  CHECK(run.ending.left_count == expected.ending.left_count);
  CHECK(run.ending.left_bytes == expected.ending.left_bytes);
}

/// Random programs, each cut up to three times.
int check_random(std::uint64_t first, std::uint64_t last) {
  int cuts = 0;
  for (auto seed = first; seed <= last; ++seed) {
    CAPTURE(seed);
    Segments segments(RandomFragments(seed).program(), {});
    const auto ranks = [&](std::uint64_t shift) { return 1 + static_cast<int>((seed * 7 + shift) % 5); };
    check_same(segments.run({ranks(0), ranks(seed), ranks(3), ranks(2 * seed)}, seed, 12),
               segments.interpreted());
    cuts += segments.cuts();
  }
  return cuts;
}

/// Calls itself to different depths; larger values come with each level, and some are blocks.
const std::string unbalanced =
    "sub tree(name r, int n, int seed) { df a, b, c, s; block(seed * 1000, c); copy(c, s);\n"
    "if n < 1 set(seed, r); if n > 0 { add(a[n], b[n], r) @ { req_count r = 1; };\n"
    "tree(a[n], n - 1, seed % 7); tree(b[n], n - 1 - seed % 3, (seed * 5 + 3) % 11) >> (a[0]); } }\n"
    "sub main(int n) { df r, x, k; tree(r, n, 5); show(\"tree\", r); set(0, x[0]);\n"
    "while x[i] < 40, i=0..out k { add(x[i], 1, x[i + 1]); } @ { req_count k = 1; } show(\"loop\", k);\n"
    "for i=1..150 { copy(x[i % 10], x[1000 + i]) @ { locator_cyclic: i; }; } }";

}  // namespace

TEST_CASE("checkpoints: each sentence of the language, cut and continued on other ranks") {
  int cuts = 0;
  for (const auto& row : meanings) {
    CAPTURE(row.what);
    if (left_to_chance(row)) continue;
    Segments segments(row.program, row.words);
    for (const auto& ranks : std::vector<std::vector<int>>{{1, 3, 2}, {4, 1, 7}, {2, 2, 2}})
      check_same(segments.run(ranks, static_cast<std::uint64_t>(cuts + ranks[0]), 3), segments.interpreted());
    cuts += segments.cuts();
  }
  CHECK(cuts > 30);
}

TEST_CASE("checkpoints: random programs with delayed messages, cut up to three times") {
  CHECK(check_random(1, 150) > 150);
}
TEST_CASE("full: random programs with delayed messages, cut up to three times") {
  check_random(1000, 6000);
}

TEST_CASE("checkpoints: those of another version of the form are refused") {
  const Segments program(unbalanced, {"3"});
  Printed printed;
  Memory state;
  Segment first(2);
  first.to = &state, first.wish = fragments::Wish::stop;
  REQUIRE(program.run_segment(first, 2, 1, printed).stopped);
  for (const int version : {1, 2, 9}) {
    CAPTURE(version);
    state.version = version;
    Segment next(2);
    next.from = &state;
    const auto error = error_of([&] { program.run_segment(next, 2, 1, printed); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::input);
    if (version == 9) {
      CHECK(error->message == "fragments has version 9, this program knows 3 and older ones");
    } else {
      CHECK(error->message == "the checkpoint is of an earlier version of fragment programs");
      CHECK(error->hint == "run the program from its beginning");
    }
  }
  state.version = 0;
  Segment again(3);
  again.from = &state;
  CHECK(program.run_segment(again, 3, 1, printed).succeeded());
}

TEST_CASE("checkpoints: an unbalanced recursive program on each number of ranks after each") {
  Segments segments(unbalanced, {"7"});
  const auto expected = segments.interpreted();
  REQUIRE(expected.ending.succeeded());
  std::uint64_t seed = 0;
  for (const int from : {1, 2, 3, 4, 7})
    for (const int to : {1, 2, 3, 4, 7}) {
      CAPTURE(from);
      CAPTURE(to);
      check_same(segments.run({from, to}, ++seed, expected.ending.executed / from / 2), expected);
    }
  CHECK(segments.cuts() > 15);
}

}  // namespace tailrace::test
