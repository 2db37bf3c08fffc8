"""The first process of a container: starts the program, and ends everything when its time is over.

    python3 -I -S init.py SECONDS COMMAND ...

The worker outside ends a run at its deadline. Should the worker die, this process still does it: as the first of
its process namespace it can be neither killed nor stopped from inside, nobody inside may look into it, and with it
the kernel ends every other process of the container.
"""

import contextlib
import ctypes
import os
import signal
import sys
import time

_NOT_DUMPABLE = (4, 0, 0, 0, 0)  # prctl: PR_SET_DUMPABLE 0; else the program, being the same user, could change it
_TIME_IS_OVER = 124  # as timeout(1) has it
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127
_KILLED = 128 + 9
_KILLED_INSIDE = 222


def main(seconds: float, command: "list[str]") -> int:
    """Run a command, reap whatever loses its parent, and return the exit code: 128 + n after signal n.

    137 becomes 222, so that 137 from here always means that this process was killed from outside.
    """
    deadline = time.monotonic() + seconds
    ctypes.CDLL(None).prctl(*_NOT_DUMPABLE)
    # As a first process, this one gets only signals that it handles: the program can send it nothing.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    program = os.fork()
    if program == 0:
        become(command)
    while True:
        code = reap(program)
        if code is not None:
            return _KILLED_INSIDE if code == _KILLED else code
        left = deadline - time.monotonic()
        if left <= 0:
            return _TIME_IS_OVER
        signal.sigtimedwait({signal.SIGCHLD}, left)


def become(command: "list[str]") -> None:
    """Turn this process into the program, with signals as a shell would leave them."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    code = _NOT_EXECUTABLE
    try:
        os.setsid()
        os.execvp(command[0], command)  # noqa: S606  # no shell: the words are taken as they are
    except FileNotFoundError:
        print(f"{command[0]}: command not found", file=sys.stderr, flush=True)
        code = _NOT_FOUND
    except (OSError, ValueError) as error:
        print(f"{command[0]}: {getattr(error, 'strerror', error)}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def reap(program: int) -> "int | None":
    """Collect all processes that ended; the program's exit code once it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                # Not os.waitstatus_to_exitcode: images of organizers may have an older Python than 3.9.
                found = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return found


if __name__ == "__main__":
    os._exit(main(float(sys.argv[1]), sys.argv[2:]))
