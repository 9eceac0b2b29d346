// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "mpi/file.hpp"
#include "output/registry/options.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

std::string message_of(const OptionTexts& texts) {
  try {
    parse_options(texts);
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

OptionTexts texts(const std::string& write, const std::string& sink, const std::string& pace,
                  const std::string& fault) {
  return {.write = write, .sink = sink, .pace = pace, .fault = fault};
}

}  // namespace

TEST_CASE("empty texts give the defaults") {
  const WriteOptions options = parse_options({});
  CHECK(strategy_text(options) == "auto");
  CHECK(options.sink == "hdf5");
  CHECK(!options.pace);
  CHECK(options.faults.empty());
  CHECK(buffer_count(options) == 2);
}

TEST_CASE("strategies are read and written back") {
  CHECK(strategy_text(parse_options(texts("blocking", "", "", ""))) == "blocking");
  CHECK(buffer_count(parse_options(texts("blocking", "", "", ""))) == 1);
  CHECK(strategy_text(parse_options(texts("threads", "hdf5", "", ""))) == "threads:2");
  CHECK(parse_options(texts("threads:5", "", "", "")).buffers == 5);
}

TEST_CASE("ranks and spawn take a number of processes") {
  const auto read = [](const char* text) { return parse_options(texts(text, "", "", "")); };
  CHECK(strategy_text(read("ranks")) == "ranks:1");
  CHECK(strategy_text(read("ranks:3,isend")) == "ranks:3");
  CHECK(strategy_text(read("ranks:2,send")) == "ranks:2,send");
  CHECK(buffer_count(read("ranks:2")) == 2);
  CHECK(buffer_count(read("ranks:2,send")) == 1);
  CHECK(strategy_text(read("spawn:4")) == "spawn:4");
  CHECK(strategy_text(read("spawn-each")) == "spawn-each:2");
  CHECK(splits_samples(read("spawn-each:3")));
  CHECK(!splits_samples(read("spawn:3")));
  for (const char* bad : {"ranks:0", "ranks:x", "ranks:2,recv", "ranks:2,", "spawn:0", "spawn:2,send"})
    CHECK_MESSAGE(contains(message_of(texts(bad, "", "", "")), bad), bad);
  CHECK(contains(message_of(texts("ranks:1", "hdf5-chunked", "", "")), "other processes can write"));
}

TEST_CASE("leaders take a group, and buffers with it") {
  const auto read = [](const char* text) { return parse_options(texts(text, "", "", "")); };
  CHECK(strategy_text(read("leaders")) == "leaders:node,buffers=2");
  CHECK(strategy_text(read("leaders:4")) == "leaders:4,buffers=2");
  CHECK(strategy_text(read("leaders:node,buffers=3")) == "leaders:node,buffers=3");
  const WriteOptions options = read("leaders:12,buffers=5");
  CHECK(options.group == 12);
  CHECK(buffer_count(options) == 5);
  CHECK(read(strategy_text(options).c_str()).group == 12);
  for (const char* bad :
       {"leaders:", "leaders:0", "leaders:x", "leaders:4,", "leaders:4,5", "leaders:,buffers=2",
        "leaders:4,buffers=0", "leaders:4,buffers=", "leaders:buffers=2", "leaders:-1"})
    CHECK_MESSAGE(contains(message_of(texts(bad, "", "", "")), "leaders[:GROUP[,buffers=N]]"), bad);
  CHECK(contains(message_of(texts("leaders", "hdf5-chunked", "", "")),
                 "it needs a sink that takes samples of several ranks"));
}

TEST_CASE("sinks are read and written back") {
  CHECK(sink_text(parse_options({})) == "hdf5");
  CHECK(sink_text(parse_options(texts("", "hdf5-chunked", "", ""))) == "hdf5-chunked:4");
  const WriteOptions options = parse_options(texts("", "hdf5-chunked:9", "", ""));
  CHECK(options.sink == "hdf5-chunked");
  CHECK(options.deflate_level == 9);
  CHECK(sink_text(options) == "hdf5-chunked:9");
  for (const char* bad : {"hdf5-chunked:", "hdf5-chunked:0", "hdf5-chunked:10", "hdf5-chunked:x", "hdf5:4"})
    CHECK_MESSAGE(contains(message_of(texts("", bad, "", "")), "hdf5, rsf, hdf5-chunked[:LEVEL]"), bad);
}

TEST_CASE("hints for MPI-IO are passed on as they are, and forgotten with another sink") {
  CHECK(sink_text(parse_options(texts("", "mpiio", "", ""))) == "mpiio");
  const auto text = "mpiio:striping_factor=8,romio_cb_write=enable,path=a=b";
  WriteOptions options = parse_options(texts("", text, "", ""));
  CHECK(options.mpi_hints ==
        mpi::Hints{{"striping_factor", "8"}, {"romio_cb_write", "enable"}, {"path", "a=b"}});
  CHECK(sink_text(options) == text);
  parse_sink("--sink", "hdf5", options);
  CHECK(options.mpi_hints.empty());
  for (const char* bad :
       {"mpiio:", "mpiio:cb_nodes", "mpiio:=4", "mpiio:cb_nodes=", "mpiio:a=1,,b=2", "mpiio:a=1,b"})
    CHECK_MESSAGE(contains(message_of(texts("", bad, "", "")), "mpiio[:KEY=VALUE,...]"), bad);
}

TEST_CASE("sinks that call MPI are served by the strategy blocking alone, which is taken for them") {
  for (const std::string sink : {"mpiio", "hdf5-parallel", "pnetcdf", "adios2"}) {
    const auto message = message_of(texts("", sink, "", ""));
    if (message != "accepted") {
      CHECK(sink != "mpiio");
      CHECK_MESSAGE(contains(message, "this build has no"), message);
      continue;
    }
    CHECK(parse_options(texts("", sink, "", "")).strategy == "blocking");
    CHECK(contains(message_of(texts("threads", sink, "", "")),
                   "--write threads does not go with --sink " + sink));
  }
}

TEST_CASE("stripes on Lustre are hints where MPI-IO makes the file") {
  OptionTexts wanted;
  wanted.lustre_count = "8";
  wanted.lustre_size = "100KB";
  const WriteOptions plain = parse_options(wanted);
  CHECK(plain.lustre.count == 8);
  CHECK(plain.lustre.bytes == 128 << 10);
  CHECK(plain.mpi_hints.empty());
  wanted.sink = "mpiio:cb_nodes=2,striping_factor=8";
  CHECK(sink_text(parse_options(wanted)) == "mpiio:cb_nodes=2,striping_factor=8,striping_unit=131072");
  wanted.sink = "mpiio:striping_factor=4";
  CHECK(contains(message_of(wanted), "say striping_factor=8, and the sink's hints striping_factor=4"));
}

TEST_CASE("stripes on Lustre that cannot be are refused") {
  for (const char* bad : {"0", "-1", "2001", "8.5", "many", "8 "}) {
    OptionTexts texts;
    texts.lustre_count = bad;
    CHECK_MESSAGE(contains(message_of(texts), "--lustre-count"), bad);
  }
  for (const char* bad : {"1KiB", "4GiB", "much"}) {
    OptionTexts texts;
    texts.lustre_size = bad;
    CHECK_MESSAGE(contains(message_of(texts), "--lustre-size"), bad);
  }
  OptionTexts spread;
  spread.lustre_count = "2";
  spread.directories = "/tmp";
  CHECK(contains(message_of(spread), "the samples go into others"));
  spread.directories = {};
  spread.write = "spawn-each";
  CHECK(contains(message_of(spread), "the samples go into others"));
  spread.write = {};
  spread.sink = "rsf";
  CHECK(contains(message_of(spread), "the samples go into others"));
}

TEST_CASE("parameters of ADIOS2's engine are those that leave its steps complete") {
  const std::string text = "adios2:NumAggregators=2,StatsLevel=0";
  if (contains(message_of(texts("", text, "", "")), "this build has no ADIOS2")) return;
  CHECK(sink_text(parse_options(texts("", text, "", ""))) == text);
  for (const char* bad : {"adios2:AsyncWrite=true", "adios2:numaggregators=2", "adios2:NoSuchThing=1"})
    CHECK_MESSAGE(contains(message_of(texts("", bad, "", "")), "none of the parameters that can be set"),
                  bad);
}

TEST_CASE("a pace") {
  const Pace pace = parse_pace("bandwidth=50MB/s,latency=1ms,jitter=0.1,seed=7");
  CHECK(pace.bandwidth_bytes_s == 50e6);
  CHECK(pace.latency_s == doctest::Approx(1e-3));
  CHECK(pace.jitter == 0.1);
  CHECK(pace.seed == 7);
  CHECK(parse_pace("latency=2us").bandwidth_bytes_s == 0);
}

TEST_CASE("when samples reach the device") {
  CHECK(!parse_options({}).flush_samples);
  OptionTexts wanted;
  wanted.flush = "none";
  CHECK(!parse_options(wanted).flush_samples);
  wanted.flush = "sample";
  CHECK(parse_options(wanted).flush_samples);
  wanted.flush = "always";
  CHECK(contains(message_of(wanted), "--flush always: unknown"));
}

TEST_CASE("faults") {
  const auto faults = parse_faults(
      "write:every=7,seed=3;kill:rank=1,step=20;short:probability=0.5;stall:s=100ms,nth=2;write:after=8MiB,"
      "error=ENOSPC");
  REQUIRE(faults.size() == 5);
  CHECK(faults[0].action == Fault::Action::write);
  CHECK(faults[0].every == 7);
  CHECK(faults[0].seed == 3);
  CHECK(faults[0].error == EIO);
  CHECK(faults[1].action == Fault::Action::kill);
  CHECK(faults[1].rank == 1);
  CHECK(faults[1].from_step == 20);
  CHECK(faults[2].action == Fault::Action::shorten);
  CHECK(faults[2].probability == 0.5);
  CHECK(faults[3].stall_s == doctest::Approx(0.1));
  CHECK(faults[3].nth == 2);
  CHECK(faults[4].after_bytes == 8 << 20);
  CHECK(faults[4].error == ENOSPC);
  CHECK(parse_faults("short").size() == 1);
}

TEST_CASE("every bad text is refused with the accepted forms") {
  for (const char* bad : {"thread", "threads:", "threads:0", "threads:x", "threads:2x", "threads:99999999999",
                          "blocking:2", "threads:-1", ":2", "threads:1001"})
    CHECK_MESSAGE(contains(message_of(texts(bad, "", "", "")), "blocking, threads[:BUFFERS]"), bad);
  CHECK(contains(message_of(texts("followers", "", "", "")),
                 "unknown strategy \"followers\". Fix: one of auto, blocking, threads"));
  CHECK(contains(message_of(texts("", "netcdf", "", "")), "unknown sink \"netcdf\". Fix: one of hdf5"));
  for (const char* bad : {"50MB/s", "bandwidth=fast", "speed=3", "jitter=2,latency=1s", "latency=-1s",
                          "seed=1", "latency=1d", "bandwidth=1MB/s,", "seed=-1,latency=1s", "bandwidth=inf"})
    CHECK_MESSAGE(contains(message_of(texts("", "", bad, "")), "bandwidth=50MB/s,latency=1ms"), bad);
  for (const char* bad :
       {"explode", "write:every=0", "write:rank=-1", "write:nth=1,every=2", "short:error=EIO", "kill:s=3",
        "write:error=EWHAT", "write:", "write:every", "write:probability=1.5", "write;;kill", "stall:s=x",
        "write:after=1parsec", "write:step=1.5", "write:nth=99999999999999999999"})
    CHECK_MESSAGE(contains(message_of(texts("", "", "", bad)), "ACTION:KEY=VALUE"), bad);
}

TEST_CASE("the fix for a sink that this build does not have names others") {
  for (const char* sink : {"pnetcdf", "adios2"}) {
    const auto message = message_of(texts("", sink, "", ""));
    if (message == "accepted") continue;
    REQUIRE(contains(message, "Fix: one of hdf5, rsf, "));
    CHECK(!contains(message.substr(message.find("Fix: ")), sink));
  }
}

TEST_CASE("all bad texts are reported together") {
  const auto message = message_of(texts("x", "y", "z", "w"));
  CHECK(contains(message, "4 problems"));
  CHECK(contains(message, "--write x"));
  CHECK(contains(message, "--sink y"));
  CHECK(contains(message, "--pace z"));
  CHECK(contains(message, "--fault w"));
}
