// SPDX-License-Identifier: BSD-3-Clause
/// A link with a given delay, in place of a network: two interfaces, each packet of one of which comes out of
/// the other after so many microseconds. Whoever started it puts each interface into a network namespace.
///   tailrace-bench-link --delay-us 50 link0 link1
/// Prints "ready" when the interfaces are there and ends with its standard input. Linux, as root.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>
#include <iostream>
#include <vector>

#include "base/system.hpp"
#include "tailrace/option_parser.hpp"

namespace {

using tailrace::monotonic_s;

constexpr std::size_t largest_packet = 65536;
/// A sleep may end so much later than was asked for; the rest of a delay is spent awake.
constexpr double oversleep_s = 100e-6;

struct Packet {
  double due_s;
  std::vector<char> bytes;
};

int open_interface(const std::string& name) {
  const int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  ifreq request{};
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (file < 0 || ioctl(file, TUNSETIFF, &request) < 0) {
    std::cerr << "tailrace-bench-link: cannot make the interface " << name << ": " << std::strerror(errno)
              << "\n";
    std::exit(2);
  }
  return file;
}

/// One direction of the link.
class Direction {
 public:
  Direction(int from, int to, double delay_s) : from_(from), to_(to), delay_s_(delay_s) {}

  void take() {
    for (ssize_t got = 0; (got = read(from_, room_.data(), room_.size())) > 0;)
      waiting_.push_back({monotonic_s() + delay_s_, {room_.data(), room_.data() + got}});
  }
  /// A packet that the other end does not take is lost, as on a wire.
  void pass_on() {
    for (; !waiting_.empty() && waiting_.front().due_s <= monotonic_s(); waiting_.pop_front())
      if (write(to_, waiting_.front().bytes.data(), waiting_.front().bytes.size()) < 0) ++lost_;
  }
  [[nodiscard]] double next_s() const { return waiting_.empty() ? 1e300 : waiting_.front().due_s; }
  [[nodiscard]] int lost() const { return lost_; }

 private:
  int from_, to_, lost_ = 0;
  double delay_s_;
  std::deque<Packet> waiting_;
  std::array<char, largest_packet> room_{};
};

/// Before other programs wherever the system allows it: a delay that waits for a core is another delay.
void go_first() {
  const sched_param first{.sched_priority = 10};
  sched_setscheduler(0, SCHED_FIFO, &first);
  prctl(PR_SET_TIMERSLACK, 1);
}

/// Until something comes, or the next packet is due.
void wait_for(std::array<pollfd, 3>& files, double next_s) {
  const double pause_s = next_s - monotonic_s() - oversleep_s;
  timespec pause{};
  if (pause_s > 0) {
    pause.tv_sec = static_cast<time_t>(std::min(pause_s, 1.0));
    pause.tv_nsec = pause_s < 1.0 ? static_cast<long>(pause_s * 1e9) : 0;
  }
  ppoll(files.data(), files.size(), &pause, nullptr);
}

void relay(int a, int b, double delay_s) {
  Direction there(a, b, delay_s), back(b, a, delay_s);
  std::array<pollfd, 3> files{{{a, POLLIN, 0}, {b, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
  while (files[2].revents == 0) {
    wait_for(files, std::min(there.next_s(), back.next_s()));
    there.take();
    back.take();
    there.pass_on();
    back.pass_on();
  }
  if (const int lost = there.lost() + back.lost(); lost > 0)
    std::cerr << "tailrace-bench-link: " << lost << " packets lost\n";
}

}  // namespace

int main(int argc, char** argv) {
  tailrace::OptionParser parser("A link with a given delay between two network namespaces.",
                                "tailrace-bench-link");
  double delay_us = 0;
  std::vector<std::string> names;
  parser.option("--delay-us", delay_us, "Microseconds, each way").within(0.0, 1e6);
  parser.option("names", names, "Its two interfaces").values(2).required();
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  const int a = open_interface(names[0]), b = open_interface(names[1]);
  std::cout << "ready" << std::endl;
  go_first();
  relay(a, b, delay_us * 1e-6);
  return 0;
}
