// SPDX-License-Identifier: BSD-3-Clause
#include "base/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <new>
#include <set>

#include "tailrace/error.hpp"

namespace tailrace {

namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const noexcept { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

struct Destroy {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = fmt::format("hwloc cannot say the processors of this machine: {}", what),
                        .path = {},
                        .hint = "see what `lstopo-no-graphics` says"});
}

Handle make_handle() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) refuse("it cannot begin");
  return Handle(topology);
}

Bitmap make_bitmap() {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (bitmap == nullptr) throw std::bad_alloc();
  return bitmap;
}

Bitmap bitmap_of(const Cpus& cpus) {
  Bitmap bitmap = make_bitmap();
  for (const int cpu : cpus) hwloc_bitmap_set(bitmap.get(), static_cast<unsigned>(cpu));
  return bitmap;
}

Cpus cpus_of(hwloc_const_bitmap_t bitmap) {
  Cpus cpus;
  for (int cpu = hwloc_bitmap_first(bitmap); cpu >= 0; cpu = hwloc_bitmap_next(bitmap, cpu))
    cpus.push_back(cpu);
  return cpus;
}

/// The number of the package that holds an object; 0 where the system knows of none.
int package_of(hwloc_topology_t topology, hwloc_obj_t object) {
  const auto* const package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
  return package != nullptr ? static_cast<int>(package->logical_index) : 0;
}

Core describe(hwloc_topology_t topology, hwloc_obj_t object) {
  return {.cpus = cpus_of(object->cpuset),
          .numa = std::max(0, hwloc_bitmap_first(object->nodeset)),
          .package = package_of(topology, object)};
}

Topology describe(hwloc_topology_t topology) {
  Topology machine;
  // Where the system does not state cores, each processor counts as one.
  const auto kind = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t object = nullptr;
       (object = hwloc_get_next_obj_by_type(topology, kind, object)) != nullptr;)
    machine.cores.push_back(describe(topology, object));
  for (hwloc_obj_t package = nullptr;
       (package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, package)) != nullptr;) {
    const char* const model = hwloc_obj_get_info_by_name(package, "CPUModel");
    machine.models.emplace_back(model != nullptr ? model : "");
  }
  return machine;
}

/// This machine for hwloc's own functions; null if hwloc cannot say.
hwloc_topology_t this_machine() noexcept {
  static const Handle machine = [] {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return Handle();
    Handle handle(topology);
    return hwloc_topology_load(topology) == 0 ? std::move(handle) : Handle();
  }();
  return machine.get();
}

std::string counted(std::size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

void leave_out_display_plugins() {
  setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so,hwloc_opencl.so", 0);
}

std::string to_text(const Cpus& cpus) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    parts.push_back(first == last ? fmt::format("{}", cpus[first])
                                  : fmt::format("{}-{}", cpus[first], cpus[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

Cpus common(const Cpus& a, const Cpus& b) {
  Cpus both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

Cpus united(const Cpus& a, const Cpus& b) {
  Cpus either;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(either));
  return either;
}

Cpus Topology::cpus() const {
  Cpus all;
  for (const auto& core : cores) all = united(all, core.cpus);
  return all;
}

std::vector<std::string> Topology::packages() const {
  std::set<int> numbers;
  for (const auto& core : cores) numbers.insert(core.package);
  std::vector<std::string> lines;
  for (const int number : numbers) {
    std::size_t count = 0;
    std::set<int> domains;
    Cpus cpus;
    for (const auto& core : cores) {
      if (core.package != number) continue;
      ++count;
      domains.insert(core.numa);
      cpus = united(cpus, core.cpus);
    }
    const auto place = static_cast<std::size_t>(number);
    const auto model = place < models.size() && !models[place].empty() ? models[place] + ", " : "";
    lines.push_back(fmt::format("{}{}, {} ({}), {}", model, counted(count, "core"),
                                counted(cpus.size(), "hardware thread"), to_text(cpus),
                                counted(domains.size(), "NUMA domain")));
  }
  return lines;
}

const Topology& this_topology() {
  static const Topology topology = [] {
    if (this_machine() == nullptr) refuse("it cannot look at it");
    return describe(this_machine());
  }();
  return topology;
}

Topology synthetic_topology(const std::string& description, const Cpus& usable) {
  const auto handle = make_handle();
  if (hwloc_topology_set_synthetic(handle.get(), description.c_str()) != 0 ||
      hwloc_topology_load(handle.get()) != 0)
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("\"{}\" describes no machine", description),
                          .path = {},
                          .hint = "write it as hwloc does, such as \"package:2 core:4 pu:2\""});
  if (!usable.empty() && hwloc_topology_restrict(handle.get(), bitmap_of(usable).get(), 0) != 0)
    throw Error(ErrorInfo{
        .kind = ErrorKind::usage,
        .message = fmt::format("\"{}\" has none of the processors {}", description, to_text(usable)),
        .path = {},
        .hint = "name some that it has"});
  return describe(handle.get());
}

Cpus thread_cpus() {
  const Bitmap bitmap = make_bitmap();
  const auto machine = this_machine();
  if (machine == nullptr || hwloc_get_cpubind(machine, bitmap.get(), HWLOC_CPUBIND_THREAD) != 0) return {};
  return cpus_of(bitmap.get());
}

Cpus parent_cpus() {
  const Bitmap bitmap = make_bitmap();
  const auto machine = this_machine();
  if (machine == nullptr || hwloc_get_proc_cpubind(machine, getppid(), bitmap.get(), 0) != 0) return {};
  return cpus_of(bitmap.get());
}

Cpus cpus_near(const std::string& pci_address, const std::string& system) {
  const Bitmap bitmap = make_bitmap();
  const auto file = fmt::format("{}/{}/local_cpus", system, pci_address);
  if (pci_address.empty() || hwloc_linux_read_path_as_cpumask(file.c_str(), bitmap.get()) != 0) return {};
  return cpus_of(bitmap.get());
}

bool bind_thread(const Cpus& cpus) noexcept {
  const auto machine = this_machine();
  if (machine == nullptr || cpus.empty()) return false;
  try {
    return hwloc_set_cpubind(machine, bitmap_of(cpus).get(), HWLOC_CPUBIND_THREAD) == 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace tailrace
