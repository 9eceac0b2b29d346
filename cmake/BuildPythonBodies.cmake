# SPDX-License-Identifier: BSD-3-Clause
# cmake -P: builds python/native, the library of bodies in Python, where its Python has what it takes. Nothing is wrong
# where it has not: everything but programs in Python is there then.
# SOURCE: the checkout. BUILD: where to build. OUTPUT: where the library goes. PYTHON: empty, or the Python to use.
# COMPILER, LAUNCHER: of C++. STAMP: a file that is touched when the library has been built.
if(NOT PYTHON AND EXISTS ${SOURCE}/.venv/bin/python)
  set(PYTHON ${SOURCE}/.venv/bin/python)
elseif(NOT PYTHON)
  find_program(PYTHON python3)
endif()
set(question "import nanobind, os, sys, sysconfig
headers = os.path.join(sysconfig.get_paths()['include'], 'Python.h')
sys.exit('its headers are missing' if not os.path.isfile(headers) else
         'it has no shared library' if not sysconfig.get_config_var('Py_ENABLE_SHARED') else 0)")
execute_process(COMMAND "${PYTHON}" -c "${question}" RESULT_VARIABLE status ERROR_VARIABLE why OUTPUT_QUIET)
if(NOT status EQUAL 0)
  string(STRIP "${why}" why)
  string(REGEX REPLACE ".*\n" "" why "${why}")
  message(STATUS "Fragment programs in Python are left out: ${PYTHON}: ${why}")
  return()
endif()
file(REMOVE ${BUILD}/CMakeCache.txt) # it may be that of another Python
execute_process(COMMAND ${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/python/native -B ${BUILD} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}" -DPython_EXECUTABLE=${PYTHON}
  -DTAILRACE_OUTPUT_DIRECTORY=${OUTPUT} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
# Without its own counts of steps, which would be taken for those of the whole build.
execute_process(COMMAND ${CMAKE_COMMAND} -E env NINJA_STATUS= ${CMAKE_COMMAND} --build ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
file(TOUCH ${STAMP})
