// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <stdlib.h>  // NOLINT: setenv

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>

#include "base/placement.hpp"
#include "base/topology.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

namespace {

/// Ranks without a launcher's binding, each with the same number of threads, on what they may use.
std::vector<Process> floating(const Cpus& usable, int ranks, int threads, int writers = 1) {
  const Process one{.threads = std::vector<Cpus>(static_cast<std::size_t>(threads), usable),
                    .bound = usable,
                    .allowed = usable,
                    .writers = writers};
  return std::vector<Process>(static_cast<std::size_t>(ranks), one);
}

/// A rank that a launcher has bound.
Process bound(const Cpus& cpus, int threads, const Cpus& allowed) {
  return {.threads = std::vector<Cpus>(static_cast<std::size_t>(threads), cpus),
          .bound = cpus,
          .allowed = allowed,
          .writers = 1};
}

}  // namespace

TEST_CASE("processors near to a device are those that the system says") {
  const test::TempDir system;
  std::filesystem::create_directory(system.file("0000:3b:00.0"));
  std::ofstream(system.file("0000:3b:00.0/local_cpus")) << "00000001,00000f0c\n";
  CHECK(cpus_near("0000:3b:00.0", system.path()) == Cpus{2, 3, 8, 9, 10, 11, 32});
  CHECK(cpus_near("0000:af:00.0", system.path()).empty());
  CHECK(cpus_near("", system.path()).empty());
}

TEST_CASE("hwloc's descriptions become cores") {
  const auto machine = synthetic_topology("package:2 core:2 pu:2");
  REQUIRE(machine.cores.size() == 4);
  CHECK(machine.cores[0] == Core{.cpus = {0, 1}, .numa = 0, .package = 0});
  CHECK(machine.cores[3].cpus == Cpus{6, 7});
  CHECK(machine.cores[3].package == 1);
  CHECK(machine.packages() == std::vector<std::string>{"2 cores, 4 hardware threads (0-3), 1 NUMA domain",
                                                       "2 cores, 4 hardware threads (4-7), 1 NUMA domain"});
  const auto domains = synthetic_topology("node:2 core:2 pu:1");
  CHECK(domains.cores[1].numa == 0);
  CHECK(domains.cores[2].numa == 1);
  CHECK(synthetic_topology("node:2 core:2 pu:1", {1, 3}).cores.size() == 2);
  CHECK_THROWS_AS(synthetic_topology("cores?"), Error);
  CHECK_THROWS_AS(synthetic_topology("core:2 pu:1", {7}), Error);
}

TEST_CASE("processors are named in ranges") {
  CHECK(to_text(Cpus{}).empty());
  CHECK(to_text(Cpus{0, 1, 2, 5, 7, 8}) == "0-2,5,7-8");
  CHECK(common({0, 1, 4}, {1, 3, 4}) == Cpus{1, 4});
  CHECK(united({0, 4}, {1, 4}) == Cpus{0, 1, 4});
}

TEST_CASE("a writer gets a core on which nobody computes") {
  const auto machine = synthetic_topology("core:2 pu:1");
  const auto placement = place(machine, floating({0, 1}, 1, 1));
  CHECK(placement.free_cores == 1);
  CHECK(placement.of_process[0] ==
        ThreadPlacement{.computing = {0, 1}, .writing = {1}, .place = WriterPlace::core});
}

TEST_CASE("each writer gets a core of its own, and the last ones share") {
  const auto machine = synthetic_topology("core:8 pu:1");
  const auto placement = place(machine, floating(machine.cpus(), 3, 2));
  CHECK(placement.free_cores == 2);
  CHECK(placement.of_process[0].writing == Cpus{6});
  CHECK(placement.of_process[1].writing == Cpus{7});
  CHECK(placement.of_process[2].place == WriterPlace::shared);
  CHECK(placement.of_process[2].writing == machine.cpus());
}

TEST_CASE("without a free core a writer takes the other hardware thread of an own core") {
  const auto machine = synthetic_topology("node:2 core:2 pu:2");  // cores 0-1, 2-3 and 4-5, 6-7
  const auto all = machine.cpus();
  const std::vector<Process> ranks{bound({0, 1, 2, 3}, 2, all), bound({4, 5, 6, 7}, 2, all)};
  const auto placement = place(machine, ranks);
  CHECK(placement.free_cores == 0);
  CHECK(placement.of_process[0] ==
        ThreadPlacement{.computing = {0, 1, 2, 3}, .writing = {1}, .place = WriterPlace::hardware_thread});
  CHECK(placement.of_process[1].writing == Cpus{5});
}

TEST_CASE("a writer stays near the memory of its rank if it can") {
  const auto machine = synthetic_topology("node:2 core:4 pu:1");
  const auto all = machine.cpus();
  const std::vector<Process> ranks{bound({0, 1, 2, 3}, 4, all), bound({4, 5}, 2, all)};
  auto placement = place(machine, ranks);
  CHECK(placement.free_cores == 2);
  CHECK(placement.of_process[1] ==
        ThreadPlacement{.computing = {4, 5}, .writing = {6}, .place = WriterPlace::core});
  CHECK(placement.of_process[0].place == WriterPlace::far_core);
  CHECK(placement.of_process[0].writing == Cpus{7});
  // A hardware thread nearby is better than a core far away.
  const auto threaded = synthetic_topology("node:2 core:1 pu:2");
  placement = place(threaded, std::vector<Process>{bound({0, 1}, 1, {0, 1, 2, 3})});
  CHECK(placement.of_process[0].place == WriterPlace::hardware_thread);
  CHECK(placement.of_process[0].writing == Cpus{1});
}

TEST_CASE("nothing is used that the job may not use") {
  const auto machine = synthetic_topology("core:8 pu:2", {2, 3, 6});  // what a cpuset leaves
  CHECK(machine.cpus() == Cpus{2, 3, 6});
  auto placement = place(machine, floating({2, 3, 6}, 1, 1));
  CHECK(placement.of_process[0].writing == Cpus{6});
  // Put onto one core by the user, not by a launcher: the writer stays there.
  placement = place(machine, std::vector<Process>{bound({2}, 1, {2})});
  CHECK(placement.free_cores == 0);
  CHECK(placement.of_process[0] ==
        ThreadPlacement{.computing = {2}, .writing = {2}, .place = WriterPlace::shared});
  // Put there by a launcher that may use more.
  placement = place(machine, std::vector<Process>{bound({2, 3}, 1, {2, 3, 6})});
  CHECK(placement.of_process[0].writing == Cpus{6});
}

TEST_CASE("on one core everything is shared") {
  const auto machine = synthetic_topology("core:1 pu:1");
  const auto placement = place(machine, floating({0}, 2, 1));
  CHECK(placement.free_cores == 0);
  for (const auto& thread_placement : placement.of_process)
    CHECK(thread_placement ==
          ThreadPlacement{.computing = {0}, .writing = {0}, .place = WriterPlace::shared});
}

TEST_CASE("threads that OpenMP has bound leave the cores between them") {
  const auto machine = synthetic_topology("core:4 pu:1");
  const Process spread{.threads = {{0}, {2}}, .bound = {0, 1, 2, 3}, .allowed = {0, 1, 2, 3}, .writers = 2};
  const auto placement = place(machine, std::vector<Process>{spread});
  CHECK(placement.free_cores == 2);
  CHECK(placement.of_process[0] ==
        ThreadPlacement{.computing = {0, 2}, .writing = {1, 3}, .place = WriterPlace::core});
  // A thread with a choice makes room for one without.
  auto two = floating({0, 1}, 1, 1, 0);
  two.push_back(bound({0}, 1, {0, 1}));
  CHECK(place(synthetic_topology("core:2 pu:1"), two).free_cores == 0);
}

TEST_CASE("a process that only writes stays on what the launcher gave it") {
  const auto machine = synthetic_topology("core:4 pu:1");
  const auto all = machine.cpus();
  auto ranks = std::vector<Process>{bound({0}, 1, all), bound({1}, 1, all)};
  ranks[0].writers = ranks[1].writers = 0;
  ranks.push_back({.threads = {}, .bound = {3}, .allowed = all, .writers = 1});
  const auto placement = place(machine, ranks);
  CHECK(placement.of_process[0].place == WriterPlace::none);
  CHECK(placement.of_process[0].writing.empty());
  CHECK(placement.of_process[2] ==
        ThreadPlacement{.computing = {}, .writing = {3}, .place = WriterPlace::core});
}

TEST_CASE("no thread placement is outside of what is allowed, and none of its own is given twice") {
  const std::array<const char*, 4> machines{"core:3 pu:1", "node:2 core:3 pu:2", "package:2 core:2 pu:4",
                                            "core:1 pu:2"};
  for (const char* description : machines) {
    const auto machine = synthetic_topology(description);
    for (int ranks = 1; ranks <= 5; ++ranks)
      for (int threads = 1; threads <= 3; ++threads) {
        CAPTURE(description);
        CAPTURE(ranks);
        CAPTURE(threads);
        const auto placement = place(machine, floating(machine.cpus(), ranks, threads));
        Cpus given;
        for (const auto& thread_placement : placement.of_process) {
          REQUIRE(!thread_placement.writing.empty());
          CHECK(common(thread_placement.writing, machine.cpus()) == thread_placement.writing);
          if (thread_placement.place == WriterPlace::shared) continue;
          CHECK(common(given, thread_placement.writing).empty());
          given = united(given, thread_placement.writing);
        }
        const int cores = static_cast<int>(machine.cores.size());
        CHECK(placement.free_cores == std::max(0, cores - ranks * threads));
      }
  }
}

TEST_CASE("a thread can be bound and let go, and this machine is known") {
  const auto before = thread_cpus();
  REQUIRE(!before.empty());
  CHECK(common(before, this_topology().cpus()) == before);
  CHECK(!this_topology().packages().empty());
  CHECK(!parent_cpus().empty());
  REQUIRE(bind_thread({before.back()}));
  CHECK(thread_cpus() == Cpus{before.back()});
  CHECK(bind_thread(before));
  CHECK(thread_cpus() == before);
  CHECK(!bind_thread({}));
}

TEST_CASE("hwloc does without plugins for displays, unless the user says which to do without") {
  const char* const name = "HWLOC_PLUGINS_BLACKLIST";
  const char* const text = getenv(name);
  const std::string before = text != nullptr ? text : "";
  unsetenv(name);
  leave_out_display_plugins();
  CHECK(std::string(getenv(name)).find("hwloc_gl.so") != std::string::npos);
  setenv(name, "hwloc_xml_libxml.so", 1);
  leave_out_display_plugins();
  CHECK(std::string(getenv(name)) == "hwloc_xml_libxml.so");
  before.empty() ? unsetenv(name) : setenv(name, before.c_str(), 1);
}
