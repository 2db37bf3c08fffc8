"""Compiling seccomp.json into a filter for programs that do not read Docker's format, with libseccomp."""

from __future__ import annotations

import ctypes
import json
import os
from pathlib import Path
from typing import Any

PROFILE = Path(__file__).with_name("seccomp.json")
LIBRARY = "libseccomp.so.2"
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_UNKNOWN_CALL = -1  # __NR_SCMP_ERROR
_COMPARISONS = {
    "SCMP_CMP_NE": 1,
    "SCMP_CMP_LT": 2,
    "SCMP_CMP_LE": 3,
    "SCMP_CMP_EQ": 4,
    "SCMP_CMP_GE": 5,
    "SCMP_CMP_GT": 6,
    "SCMP_CMP_MASKED_EQ": 7,
}


class SeccompError(Exception):
    """The filter could not be made. `mend` holds the line that helps."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.mend = mend


class _Comparison(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def profile_text(*, makes_links: bool = True) -> str:
    """The profile as JSON, as container engines take it; `makes_links` as `Layout` has it."""
    rules = json.loads(PROFILE.read_text())
    if not makes_links:
        rules["syscalls"] += rules["syscallsBesideLabels"]
    return json.dumps(rules)


def compiled_filter(profile: Path = PROFILE, *, has_control_group: bool = True, makes_links: bool = True) -> bytes:
    """The profile as a BPF program for the machine's own instruction set. Raises SeccompError.

    has_control_group: whether the kernel counts all memory of the run; else what nobody counts is refused too.
    makes_links: as `Layout` has it.
    """
    library = _load()
    rules = json.loads(profile.read_text())
    if rules["defaultAction"] != "SCMP_ACT_ALLOW":
        raise SeccompError(f"{profile.name} must allow by default")
    context = library.seccomp_init(ctypes.c_uint32(_ALLOW))
    if not context:
        raise SeccompError("libseccomp could not start a filter")
    try:
        more = [] if has_control_group else rules["syscallsWithoutControlGroup"]
        links = [] if makes_links else rules["syscallsBesideLabels"]
        for rule in (*rules["syscalls"], *more, *links):
            _add(library, context, rule)
        return _exported(library, context)
    finally:
        library.seccomp_release(context)


def _load() -> Any:
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise SeccompError(f"{LIBRARY} is not installed", "apt-get install libseccomp2") from error
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    library.seccomp_release.restype = None
    library.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.POINTER(_Comparison),
    ]
    library.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    return library


def _add(library: Any, context: int, rule: dict[str, Any]) -> None:
    if rule["action"] != "SCMP_ACT_ERRNO":
        raise SeccompError(f"the action {rule['action']} is not known here")
    action = _ERRNO | (int(rule.get("errnoRet", 1)) & 0xFFFF)
    comparisons = [
        _Comparison(one["index"], _COMPARISONS[one["op"]], one["value"], one.get("valueTwo", 0))
        for one in rule.get("args", [])
    ]
    array = (_Comparison * len(comparisons))(*comparisons)
    for name in rule["names"]:
        number = library.seccomp_syscall_resolve_name(name.encode())
        if number == _UNKNOWN_CALL:
            continue  # newer than the library, or of another machine
        failed = library.seccomp_rule_add_array(context, action, number, len(comparisons), array)
        if failed:
            raise SeccompError(f"the rule for {name} was refused: {os.strerror(-failed)}")


def _exported(library: Any, context: int) -> bytes:
    reading, writing = os.pipe()
    try:
        # A filter is a few kilobytes, less than a pipe holds.
        failed = library.seccomp_export_bpf(context, writing)
        os.close(writing)
        writing = -1
        if failed:
            raise SeccompError(f"the filter could not be written: {os.strerror(-failed)}")
        with os.fdopen(os.dup(reading), "rb") as file:
            return file.read()
    finally:
        os.close(reading)
        if writing >= 0:
            os.close(writing)
