# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe: copy this directory to packages/tailrace of a repository of recipes, and name the checkout:

spack dev-build tailrace@0.1.0
"""

from spack.package import CMakePackage, depends_on, license, variant, version


class Tailrace(CMakePackage):
    """Output, checkpoints and insight for parallel simulations, and simulations of ultrasound, seismic waves
    and molecules built on them. This recipe builds the native programs and the library; the command is
    Python's: pip install tailrace.
    """

    version("0.1.0")
    license("BSD-3-Clause")

    variant("native", default=True, description="Use every instruction of the machine that builds")
    variant("uring", default=True, description="The strategy uring")
    variant("zstd", default=True, description="Compressed checkpoints")
    variant("tests", default=False, description="Build the tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("hdf5@1.10.3:~mpi")
    depends_on("zlib")
    depends_on("hwloc@2:")
    depends_on("xxhash@0.8:")
    depends_on("cli11")
    depends_on("tomlplusplus")
    depends_on("pugixml")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("liburing@2.2:", when="+uring")
    depends_on("zstd@1.4:", when="+zstd")
    depends_on("doctest", when="+tests")

    generator = "Ninja"

    def cmake_args(self):
        """The options of CMakeLists.txt, by the variants of the same names."""
        names = ("native", "uring", "zstd", "tests")
        return [self.define_from_variant(f"TAILRACE_{name.upper()}", name) for name in names] + [
            self.define("TAILRACE_BENCHMARKS", False)
        ]
