// SPDX-License-Identifier: BSD-3-Clause
/// Messages between ranks through every adapter, which take turns in each window. Times of all windows as
/// JSON on standard output; or, with --tests check, whether adapters keep order, sizes and contents.
///   mpirun -n 2 tailrace-bench-network --windows 50 --sizes 0 8 4096
///   mpirun -n 4 tailrace-bench-network --tests group --sizes 8 4096
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "room.hpp"
#include "tailrace/error.hpp"
#include "tailrace/option_parser.hpp"
#include "tests.hpp"

using namespace tailrace;
using namespace tailrace::bench::network;

namespace {

using Test = nlohmann::json (*)(mpi::CommView, const Settings&);

struct Kind {
  Test run;
  bool two_ranks;
};

nlohmann::json protocol(mpi::CommView comm, const Settings&) {
  return protocol_rows(comm);
}

const std::map<std::string, Kind> kinds{{"pair", {pair_rows, true}},      {"overlap", {overlap_rows, true}},
                                        {"protocol", {protocol, true}},   {"check", {check_rows, true}},
                                        {"group", {group_rows, false}},   {"matrix", {matrix_rows, false}},
                                        {"by-hand", {by_hand_rows, true}}};
const std::map<std::string, int> levels{{"single", MPI_THREAD_SINGLE},
                                        {"funnelled", MPI_THREAD_FUNNELED},
                                        {"serialized", MPI_THREAD_SERIALIZED},
                                        {"multiple", MPI_THREAD_MULTIPLE}};

/// MPI with the level of thread support that is measured, where programs of the library have a fixed one.
class Mpi {
 public:
  Mpi(int& argc, char**& argv, int level) : level_(level) {
    mpi::check(MPI_Init_thread(&argc, &argv, level, &granted_), "MPI_Init_thread");
  }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;
  ~Mpi() { MPI_Finalize(); }

  void require_level() const {
    if (granted_ < level_)
      throw Error(ErrorKind::resource, "this MPI library was built without this level of thread support");
  }

 private:
  int level_, granted_ = MPI_THREAD_SINGLE;
};

struct Order {
  Settings settings;
  std::vector<std::string> adapters;  ///< all, if there are none
  std::string tests = "pair", level = "funnelled";
};

int run(mpi::CommView comm, const Order& order) {
  const Kind& kind = kinds.at(order.tests);
  if (kind.two_ranks ? comm.size() != 2 : comm.size() < 2)
    throw Error(ErrorKind::usage, "--tests " + order.tests + " needs " +
                                      (kind.two_ranks ? "2 ranks" : "2 ranks or more") + ", not " +
                                      std::to_string(comm.size()));
  require_room(comm, order.settings, kind.two_ranks ? 1 : comm.size() - 1);
  const nlohmann::json rows = kind.run(comm, order.settings);
  if (comm.is_root())
    std::cout << nlohmann::json{{"mpi", mpi::Environment::library_version()}, {"rows", rows}} << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  OptionParser parser("Messages between ranks through every adapter.", "tailrace-bench-network");
  Order order;
  Settings& settings = order.settings;
  parser.option("--tests", order.tests, "Which tests").name_in(kinds);
  parser.option("--sizes", settings.sizes, "Bytes of a message").within(0, 1 << 30);
  parser.option("--windows", settings.windows, "Windows that are timed").within(1, 1000000);
  parser.option("--messages", settings.messages, "Messages of a window").within(2, 100000);
  parser.option("--adapters", order.adapters, "Which adapters (default: all)")
      .one_of(names_of(all_adapters()));
  parser.option("--threads", order.level, "Level of thread support").name_in(levels);
  parser.flag("--cycled", settings.cycled, "Each message from another place");
  parser.flag("--bounced", settings.bounced, "Ping-pong sends back what came");
  parser.flag("--touched", settings.touched, "Received bytes are read");
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  if (!order.adapters.empty())
    std::erase_if(settings.adapters, [&](const Adapter& one) {
      return std::find(order.adapters.begin(), order.adapters.end(), one.name) == order.adapters.end();
    });
  const Mpi mpi(argc, argv, levels.at(order.level));
  const mpi::CommView world(MPI_COMM_WORLD);
  try {
    mpi.require_level();
    return run(world, order);
  } catch (const Error& error) {
    // Before MPI ends: the launcher ends all ranks as soon as one has left with this status.
    if (world.is_root()) std::cerr << "tailrace-bench-network: " << error.what() << "\n";
    return 2;
  }
}
