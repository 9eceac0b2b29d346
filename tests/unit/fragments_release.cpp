// SPDX-License-Identifier: BSD-3-Clause
// Each way in which values are released, by the account of live bytes on each rank at the end.
#include <doctest/doctest.h>

#include <optional>

#include "am/launch.hpp"
#include "fragments/runtime.hpp"
#include "fragments_bodies.hpp"

namespace tailrace::test {

namespace {

/// A way in which values of 1000 bytes and more are released, and what is left.
struct Release {
  std::string what;
  std::string program;
  std::int64_t left_count = 0, left_bytes = 0;
  std::int64_t copied_bytes = 0;  ///< what a rank with copies of what is left has
};

const std::string everywhere = " @ { locator_cyclic: i; }; ";

const std::vector<Release> releases = {
    {"use counts, used up on several ranks",
     "sub main() { df x, y; for i=0..20 { block(1000, x[i]) @ { req_count x[i] = 2; locator_cyclic: i; }; "
     "half(3, y[i]) @ { request x[i]; req_count y[i] = 1; locator_cyclic: i + 1; }; show(\"y\", y[i]) @ { "
     "request x[i]; locator_cyclic: i + 2; }; } }"},
    {"a use count of none",
     "sub main() { df x; for i=0..20 block(1000, x[i]) @ { req_count x[i] = 0; "
     "locator_cyclic: i; }; }"},
    {"delete, by who has read it",
     "sub main() { df x; for i=0..20 { block(1000, x[i])" + everywhere +
         "nothing() @ { request x[i]; delete x[i]; locator_cyclic: i + 1; }; } }"},
    {"delete before the value is there",
     "sub main() { df x, y; nothing() --> (x); block(1000, x) @ { request y; locator_cyclic: 1; }; set(1, y) "
     "@ { req_count y = 1; locator_cyclic: 2; }; }"},
    {"delete of a range, element by element",
     "sub main() { df x, d; for i=0..20 block(1000, x[i]) >> (d[i]) @ { req_count d[i] = 1; locator_cyclic: "
     "i; }; "
     "for i=0..20 nothing() --> (x[i]) @ { request d[i]; locator_cyclic: 2 * i; }; }"},
    {"delete when a structured fragment has run",
     "sub read(name x) { for i=0..4 nothing() @ { request x[i]; locator_cyclic: i; }; } sub main() { df x; "
     "for i=0..4 "
     "block(1000, x[i])" +
         everywhere + "read(x) @ { delete x[0], x[1], x[2], x[3], x[4]; }; }"},
    {"a block that is handed on to whoever reads it last",
     "sub main() { df x; block(1000, x[0]) @ { req_count x[0] = 1; }; for i=1..20 change(x[i - 1], x[i]) @ { "
     "req_count x[i] = 1; locator_cyclic: i; }; nothing() @ { request x[20]; }; }"},
    {"values that are pushed and used up",
     "sub main() { df x; for i=0..20 { block(1000, x[i]) @ { req_count x[i] = 1; afterpush x[i] => c[i]; }; "
     "cf "
     "c[i]: nothing() @ { wait x[i]; }; } } @ { locator_cyclic c[i] => 2 * i + 1; }"},
    {"values that are pushed and deleted",
     "sub main() { df x; for i=0..20 { block(1000, x[i]) @ { afterpush x[i] => c[i]; }; cf c[i]: nothing() @ "
     "{ wait x[i]; delete x[i]; }; } } @ { locator_cyclic c[i] => 2 * i + 1; }"},
    {"copies on all ranks, deleted with their value",
     "sub main() { df x, d; for i=0..9 { block(1000, x[i])" + everywhere +
         "for j=0..9 nothing() >> (d[i][j]) @ { request x[i]; locator_cyclic: j; req_count d[i][j] = 1; }; "
         "nothing() @ { request d[i][0], d[i][1], d[i][2], d[i][3], d[i][4], d[i][5], d[i][6], d[i][7], "
         "d[i][8], d[i][9]; delete x[i]; }; } } @ { locator_replicating x => all; }"},
    {"values with copies that their use counts forbid",
     "sub main() { df x; for i=0..9 { block(1000, x[i]) @ { req_count x[i] = 5; locator_cyclic: i; }; for "
     "j=1..5 nothing() @ { request x[i]; locator_cyclic: j; }; } } @ { locator_replicating x => all; }"},
    {"no reader can remain: the block of a name says all of its readers, per iteration and call",
     "sub once(int i) { df x, y; block(1000, x) @ { locator_cyclic: i; }; copy(x, y) @ { locator_cyclic: i + "
     "1; }; nothing() @ { request x, y; locator_cyclic: i + 2; }; } sub main() { for i=0..20 { df x, n; "
     "block(1000 + i, x)" +
         everywhere + "nothing() @ { request x; locator_cyclic: i + 1; }; set(2, n)" + everywhere +
         "for j=1..n nothing() @ { request x; }; if n once(i) @ { locator_cyclic: i; }; } }"},
    {"a block is over: names with indices, read by a loop and by calls",
     "sub read(name v, int i) { for j=0..3 nothing() @ { request v[j]; locator_cyclic: i + j; }; } sub "
     "main() { "
     "for i=0..20 { df x, n; for j=0..3 block(1000, x[j]) @ { locator_cyclic: i + j; }; read(x, i) @ { "
     "locator_cyclic: i; }; set(3, n)" +
         everywhere + "for j=0..n nothing() @ { request x[j]; }; } }"},
    {"a block is over: of a recursion, whose calls write to each other's names",
     "sub tree(name r, int n) { df a, b; if n > 0 { tree(a[n], n - 1); tree(b, n - 1); block(1000, r) @ { "
     "request a[n], b; locator_cyclic: n; }; } if n < 1 block(1000, r) @ { locator_cyclic: n; }; } sub "
     "main() "
     "{ df r; tree(r[1], 5); nothing() @ { request r[1]; }; }",
     1, 1000},
    {"a block is over: of each turn of a loop with a condition, and of a condition",
     "sub main() { df s, n; set(0, s[0]); while s[k] < 20, k=0..out n { df x; block(1000, x[k]) @ { "
     "locator_cyclic: k; }; if k % 2 { df y; copy(x[k], y[0]) @ { locator_cyclic: k + 1; }; nothing() @ { "
     "request y[0]; }; } add(s[k], 1, s[k + 1]) @ { request x[k]; req_count s[k + 1] = 2; }; } nothing() @ { "
     "request n, s[n]; }; }",
     1, 4},
    {"a block is over: values that nobody reads, some of which come when it is",
     "sub main() { for i=0..50 { df x; for j=0..6 block(1000, x[j]) @ { locator_cyclic: i; }; } } "},
    {"a block is over: what has a use count or is deleted, is not a matter of the block",
     "sub keep(name v) { block(1000, v[1]) @ { req_count v[1] = 3; }; block(10, v[2]); } sub main() { for "
     "i=0..4 { df x; keep(x)" +
         everywhere + "nothing() @ { request x[1], x[2]; }; } }",
     5, 5000},
    {"no reader can remain: nobody reads it",
     "sub main() { for i=0..20 { df x; block(1000, x)" + everywhere + "} }"},
    {"no reader can remain: of main's own",
     "sub main() { df x, y, z; block(1000, x) @ { locator_cyclic: 1; }; copy(x, y) @ { locator_cyclic: 2; }; "
     "copy(x, z); nothing() @ { request y, z; locator_cyclic: 1; }; }"},
    {"the end of the program: what has no other end is left, and reported",
     "sub main() { df x; for i=0..20 block(1000, x[i])" + everywhere + "}", 21, 21000},
    {"the end of the program: what is left has copies",
     "sub main() { df x; block(1000, x[0]) @ { locator_cyclic: 1; }; } @ { locator_replicating x => all; }",
     1, 1000, 1000},
};

}  // namespace

TEST_CASE("release: live bytes are those that are left, by each way, on each rank") {
  for (const auto& row : releases)
    for (const int ranks : {1, 2, 3})
      for (const int workers : {1, 2}) {
        CAPTURE(row.what);
        CAPTURE(ranks);
        CAPTURE(workers);
        Printed printed;
        const auto image = test_image(row.program);
        const auto bodies = test_bodies(printed);
        CHECK(fragments::interpret(image, bodies, {}).left_bytes == row.left_bytes);
        std::vector<fragments::Ending> endings(static_cast<std::size_t>(ranks));
        std::optional<am::Faults> faults;  // what is released, and what releases it, overtake each other
        if (ranks == 3) faults = {.seed = 7, .delayed = 0.5, .max_looks = 30, .slow_rank = -1};
        am::launch_local({.local_ranks = ranks, .faults = faults, .options = {}},
                         [&](am::Endpoint& endpoint) {
                           endings[static_cast<std::size_t>(endpoint.rank())] =
                               fragments::run(endpoint, image, bodies, {}, {{.workers = workers}});
                         });
        std::int64_t live = 0;
        for (const auto& ending : endings) {
          CHECK_MESSAGE(ending.errors.empty(), fmt::format("{}", fmt::join(ending.errors, "\n")));
          CHECK(ending.left_count == row.left_count);
          CHECK(ending.left_bytes == row.left_bytes);
          live += ending.live_bytes;
          if (row.copied_bytes == 0) CHECK(ending.known_copies == 0);
        }
        CHECK(live == row.left_bytes + (ranks - 1) * row.copied_bytes);
      }
}

}  // namespace tailrace::test
