# SPDX-License-Identifier: BSD-3-Clause
"""Entry of the `tailrace` command: turns errors into messages and exit statuses."""

import sys
import traceback

from tailrace import __version__
from tailrace.console import EXIT_RUN_FAILED, CommandError


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print(f"tailrace {__version__}")
        return
    try:
        from tailrace.cli import build_app

        build_app(sys.argv[1:])(prog_name="tailrace")
    except CommandError as error:
        print(f"tailrace: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception:
        # Status 1 is an answer ("differs"), so a defect of ours must not look like one.
        traceback.print_exc()
        sys.exit(EXIT_RUN_FAILED)


if __name__ == "__main__":
    main()
