#include <doctest/doctest.h>

#include "tailrace/base/error.hpp"
#include "tailrace/output/options.hpp"

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
  const Options options = parse_options({});
  CHECK(strategy_text(options) == "threads:2");
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

TEST_CASE("sinks are read and written back") {
  CHECK(sink_text(parse_options({})) == "hdf5");
  CHECK(sink_text(parse_options(texts("", "hdf5-chunked", "", ""))) == "hdf5-chunked:4");
  const Options options = parse_options(texts("", "hdf5-chunked:9", "", ""));
  CHECK(options.sink == "hdf5-chunked");
  CHECK(options.deflate_level == 9);
  CHECK(sink_text(options) == "hdf5-chunked:9");
  for (const char* bad : {"hdf5-chunked:", "hdf5-chunked:0", "hdf5-chunked:10", "hdf5-chunked:x", "hdf5:4"})
    CHECK_MESSAGE(contains(message_of(texts("", bad, "", "")), "hdf5, hdf5-chunked[:LEVEL]"), bad);
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
  CHECK(contains(message_of(texts("leaders", "", "", "")),
                 "unknown strategy \"leaders\". Fix: one of blocking, threads"));
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

TEST_CASE("all bad texts are reported together") {
  const auto message = message_of(texts("x", "y", "z", "w"));
  CHECK(contains(message, "4 problems"));
  CHECK(contains(message, "--write x"));
  CHECK(contains(message, "--sink y"));
  CHECK(contains(message, "--pace z"));
  CHECK(contains(message, "--fault w"));
}
