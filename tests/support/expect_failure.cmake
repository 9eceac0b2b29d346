# SPDX-License-Identifier: BSD-3-Clause
# cmake -DCOMMAND=a;b;c -DMESSAGE=REGEX -P expect_failure.cmake: passes if the command fails and says MESSAGE.
execute_process(COMMAND ${COMMAND} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(status EQUAL 0 OR NOT output MATCHES "${MESSAGE}")
  message(FATAL_ERROR "expected a failure that says: ${MESSAGE}; status ${status}")
endif()
