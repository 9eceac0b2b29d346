// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>

#include "../unit/output_pattern.hpp"
#include "base/system.hpp"
#include "output/session/session.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// Runs 40 steps; rank 1, or the only rank, dies in step `kill_step` before its sample is taken.
void run(mpi::CommView world, const std::string& path, const OptionTexts& texts, StepIndex kill_step) {
  constexpr Index3 domain{11, 7, 14};
  constexpr StepIndex steps = 40;
  constexpr double step_s = 5e-3;
  const Box own = pattern::slabs(domain, world.size())[static_cast<std::size_t>(world.rank())];
  const auto stream =
      pattern::make_stream("p", Whole{}, Reduction::none, {.first = 1, .every = 1, .last = steps},
                           h5::ElementType::float32, domain);
  pattern::Field<float> field(own);
  trace::Log log("main");
  Session session(world, path, make_plan({stream}, own, domain), {}, parse_options(texts), log);
  for (StepIndex step = 1; step <= steps; ++step) {
    mpi::barrier(world);
    sleep_s(step_s);
    if (step == kill_step && world.rank() == std::min(1, world.size() - 1)) std::raise(SIGKILL);
    field.set(step);
    session.sample(step, [&](const std::string&) { return field.view(); });
  }
  session.finish(steps, {});
}

}  // namespace

/// output_kill_target FILE SINK STRATEGY FAULT [KILL_STEP]: a run that is going to be killed.
int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const std::vector<std::string> words(argv + 1, argv + argc);
  // With the sink hdf5-chunked, samples become part of the file when they are flushed.
  run(environment.world(), words.at(0),
      {.write = words.at(2), .sink = words.at(1), .pace = {}, .flush = "sample", .fault = words.at(3)},
      words.size() > 4 ? std::stoll(words[4]) : 0);
}
