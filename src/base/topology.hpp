// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

/// The processors of this machine, as hwloc informs them.
namespace tailrace {

/// Numbers of processors, ascending, as the system counts them: one for each hardware thread.
using Cpus = std::vector<int>;

/// "0-3,8" @local
std::string to_text(const Cpus& cpus);
/// Returns what is in both, in either. @local
Cpus common(const Cpus& a, const Cpus& b);
Cpus united(const Cpus& a, const Cpus& b);

/// A core with its hardware threads.
struct Core {
  Cpus cpus;
  int numa = 0;     ///< domain of memory that is near to it
  int package = 0;  ///< socket

  friend bool operator==(const Core&, const Core&) = default;
};

/// Describes what of a machine a job may compute with.
struct Topology {
  std::vector<Core> cores;
  std::vector<std::string> models;  ///< refers to the processor in each package; empty: unknown

  [[nodiscard]] Cpus cpus() const;
  /// A line about each package: its model, cores, hardware threads, NUMA domains. @local
  [[nodiscard]] std::vector<std::string> packages() const;
};

/// Has hwloc, that of the MPI library too, do without its plugins that look for displays and OpenCL devices:
/// they bring X11 and more into the memory of each process, and say nothing of processors. What the user has
/// set stays. To be called before the first of all uses, while there is one thread. @local
void leave_out_display_plugins();
/// This machine, without what the cpuset of this process's control group withholds. Looked at once, by the
/// first call. @local. Errors (io): hwloc cannot say.
const Topology& this_topology();
/// A machine from a description of hwloc's, such as "package:2 core:4 pu:2", of which only the processors in
/// `usable` can be used, all if that is empty. @local. Errors (usage): it is no description.
Topology synthetic_topology(const std::string& description, const Cpus& usable = {});

/// Returns where the calling thread may run. @local
Cpus thread_cpus();
/// Returns where the process that started this one may run; empty if the system does not say so. @local
Cpus parent_cpus();
/// Returns the processors that are nearest to a PCI device, as the system says of `pci_address`
/// ("0000:3b:00.0"); empty where it does not. `system` is its directory of devices. @local
Cpus cpus_near(const std::string& pci_address, const std::string& system = "/sys/bus/pci/devices");
/// Has the calling thread run there only, and threads that it starts afterwards. Returns whether the system
/// does it. @local
bool bind_thread(const Cpus& cpus) noexcept;

}  // namespace tailrace
