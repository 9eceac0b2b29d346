// SPDX-License-Identifier: BSD-3-Clause
#include "run/xdmf.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "tailrace/error.hpp"
#include "temp_dir.hpp"

using namespace tailrace;

namespace {

output::Stream stream(const std::string& name, output::Selection selection, const h5::Shape& shape) {
  return {name,
          "p",
          "Pa",
          std::move(selection),
          output::Reduction::none,
          {.first = 2, .every = 2, .last = 4},
          {{fmt::format("/{}/values", name), shape, h5::ElementType::float32, {}}}};
}

const output::Frame frame{
    .domain = {4, 3, 2}, .spacing_m = {0.5, 0.25, 2}, .time_of_step_0_s = -1, .dt_s = 0.5};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a series on a box is a grid for each sample, with its place and time") {
  const output::Boxes box{{Box{{1, 0, 1}, {3, 3, 2}}}};
  const auto text = run::xdmf_text({stream("snap", box, {2, 1, 3, 2})}, frame, "a&b.h5");
  CHECK(holds(text, "<Time Value=\"0\"/>"));
  CHECK(holds(text, "<Time Value=\"1\"/>"));
  CHECK(holds(text, "Dimensions=\"1 3 2\""));
  CHECK(holds(text, ">2 0 0.5<"));                  // the low corner, z y x
  CHECK(holds(text, ">2 0.25 0.5<"));               // the spacing, z y x
  CHECK(holds(text, ">1 0 0 0 1 1 1 1 1 1 3 2<"));  // the second sample
  CHECK(holds(text, "Dimensions=\"2 1 3 2\""));
  CHECK(holds(text, "a&amp;b.h5:/snap/values"));
}

TEST_CASE("the points of a staggered field lie half a cell further along its axis") {
  const output::Boxes box{{Box{{1, 0, 1}, {3, 3, 2}}}};
  auto staggered = stream("uy", box, {2, 1, 3, 2});
  staggered.offset_cells = {0, 0.5, 0};
  const auto text = run::xdmf_text({staggered}, frame, "out.h5");
  CHECK(holds(text, ">2 0.125 0.5<"));  // the low corner, z y x
  CHECK(holds(text, ">2 0.25 0.5<"));   // the spacing
}

TEST_CASE("a grid whose point 0 is not at 0 lies where its points are") {
  auto elsewhere = frame;
  elsewhere.origin_m = {0.25, 0.125, 1};
  const output::Boxes box{{Box{{1, 0, 1}, {3, 3, 2}}}};
  CHECK(holds(run::xdmf_text({stream("snap", box, {2, 1, 3, 2})}, elsewhere, "out.h5"), ">3 0.125 0.75<"));
  CHECK(holds(run::xdmf_text({stream("all", output::Whole{}, {2, 2, 3, 4})}, elsewhere, "out.h5"),
              ">1 0.125 0.25<"));
}

TEST_CASE("a reduction is one grid, points are none") {
  auto mean = stream("mean", output::Whole{}, {1, 2, 3, 4});
  mean.reduction = output::Reduction::mean;
  const auto points = stream("line", output::Points{{{0, 0, 0}}}, {2, 1});
  const auto text = run::xdmf_text({points, mean}, frame, "out.h5");
  CHECK(!holds(text, "line"));
  CHECK(holds(text, "<Time Value=\"1\"/>"));
  CHECK(!holds(text, "<Time Value=\"0\"/>"));
  CHECK(run::xdmf_text({points}, frame, "out.h5").empty());
}

TEST_CASE("it is beside the output, or an error says why not") {
  const test::TempDir directory;
  const std::vector<output::Stream> streams{stream("snap", output::Whole{}, {2, 2, 3, 4})};
  run::write_xdmf(streams, frame, directory.file("out.h5"));
  std::ifstream file(directory.file("out.xdmf"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text == run::xdmf_text(streams, frame, "out.h5"));
  CHECK_THROWS_AS(run::write_xdmf(streams, frame, directory.file("missing/out.h5")), Error);
}
