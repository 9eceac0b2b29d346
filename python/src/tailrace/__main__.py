# SPDX-License-Identifier: BSD-3-Clause
"""Entry of the `tailrace` command: turns errors into messages and exit statuses."""

import atexit
import gc
import os
import signal
import sys
import traceback
from typing import NoReturn

from tailrace import __version__
from tailrace.console import EXIT_BAD_INPUT, EXIT_RUN_FAILED, CommandError, refused


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(f"tailrace {__version__}")
        return
    # Imports and pictures make some 100,000 objects that stay. To look through them for cycles again
    # and again takes up to a tenth of a command.
    gc.set_threshold(100_000, 10, 10)
    atexit.register(gc.freeze)  # else Python looks through all of them once more when it ends
    try:
        from tailrace.cli import build_app

        build_app(sys.argv[1:])(prog_name="tailrace")
    except CommandError as error:
        end(str(error), error.exit_code)
    except BrokenPipeError:  # whoever reads our words has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except OSError as error:
        end(refused(error), EXIT_BAD_INPUT)
    except Exception:
        # Status 1 is an answer ("differs"), so a defect of ours must not look like one.
        traceback.print_exc()
        sys.exit(EXIT_RUN_FAILED)


def end(message: str, status: int) -> NoReturn:
    print(f"tailrace: {message}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
