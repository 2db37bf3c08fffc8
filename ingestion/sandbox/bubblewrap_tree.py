"""The file tree of a bubblewrap run: an allow-list, nothing of the host by default."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

from ingestion.sandbox.base import Places, SandboxSpec
from ingestion.sandbox.output import tmpfs_options

ENVIRONMENT = "/opt/podium"
BASE = "/opt/python"
PYTHON = f"{ENVIRONMENT}/bin/python3"
SEARCH_PATH = f"{ENVIRONMENT}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TOP_LEVEL = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
FROM_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
# What tells about the machine or its other programs. Docker hides the same.
HIDDEN_IN_PROC = (
    "keys",
    "kallsyms",
    "kcore",
    "kmsg",
    "latency_stats",
    "timer_list",
    "sched_debug",
    "sysrq-trigger",
    "key-users",
    "modules",
    "config.gz",
)
NOBODY = 65_534
_FIRST_USER = 1_800_000_000  # above what systems and containers hand out


def sandbox_user() -> int:
    """The user inside: as root one for each worker process, so that limits by user are not shared; else nobody."""
    return _FIRST_USER + os.getpid() if os.geteuid() == 0 else NOBODY


class Tree:
    """What one run sees. Makes the few files of its own in the run's scratch folder."""

    def __init__(self, spec: SandboxSpec) -> None:
        self._spec = spec
        self._scratch = spec.folders.scratch
        workspaces = (f"workspace{number}" for number, _ in enumerate(spec.shown.workspaces))
        self.mounted = tuple(self._scratch / name for name in ("output", "tmp", "shm", *workspaces))
        for folder in self.mounted:
            folder.mkdir()
        self._write_accounts()
        self._write_environment()
        self.mount_table = self._scratch / "mounts"
        self._write_mount_table()

    @property
    def output_options(self) -> str:
        """Mount options of the output place."""
        return tmpfs_options(self._spec)

    @property
    def temporary_options(self) -> str:
        """Mount options of all other sized places. Programs may be compiled and run there."""
        inodes = self._spec.budget.output_files * 10
        return f"size={self._spec.temporary_bytes},nr_inodes={inodes},mode=1777,nosuid,nodev"

    def _write_mount_table(self) -> None:
        """The sized places in the form of fstab(5), where a blank is written as its number."""
        output, *temporary = (str(path).replace("\\", "\\134").replace(" ", "\\040") for path in self.mounted)
        lines = [f"podium-output {output} tmpfs {self.output_options} 0 0\n"]
        lines += [f"podium-temporary {path} tmpfs {self.temporary_options} 0 0\n" for path in temporary]
        self.mount_table.write_text("".join(lines))

    def arguments(self) -> list[str]:
        """bwrap's arguments that build the tree, in order."""
        _, temporary, shared, *_ = (str(path) for path in self.mounted)
        arguments = ["--ro-bind", "/usr", "/usr", *_top_level(), *_parents()]
        for name in FROM_ETC:
            arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        for name in ("passwd", "group", "nsswitch.conf", "hosts"):
            arguments += ["--ro-bind", str(self._scratch / "etc" / name), f"/etc/{name}"]
        arguments += ["--proc", "/proc"]
        for name in HIDDEN_IN_PROC:
            if (Path("/proc") / name).exists():
                arguments += ["--ro-bind", "/dev/null", f"/proc/{name}"]
        arguments += ["--dev", "/dev", "--bind", shared, "/dev/shm"]  # noqa: S108
        arguments += ["--remount-ro", "/dev"]
        arguments += ["--bind", temporary, Places().temporary, *self._layout_arguments()]
        arguments += self._python_arguments()
        return [*arguments, "--remount-ro", "/"]

    def _layout_arguments(self) -> list[str]:
        """The places of the spec's layout, each after those that hold it."""
        layout = self._spec.shown
        output, _, _, *workspaces = self.mounted
        binds = [(target, "--bind", path) for target, path in zip(layout.workspaces, workspaces, strict=True)]
        binds += [(one.target, "--bind" if one.is_writable else "--ro-bind", one.source) for one in layout.mounts]
        if layout.has_output:
            binds.append((Places().output, "--bind", output))
        arguments: list[str] = []
        for target, how, source in sorted(binds, key=lambda bind: bind[0].count("/")):
            for parent in [*reversed(Path(target).parents)][1:]:
                arguments += ["--dir", str(parent)]
            arguments += [how, str(source), target]
        return arguments

    # Python -------------------------------------------------------------------------------------------------

    def _write_environment(self) -> None:
        """A virtual environment whose packages are ours and whose interpreter is at its place inside."""
        environment = self._scratch / "environment"
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        (environment / "bin").mkdir(parents=True)
        (environment / "lib" / version / "site-packages").mkdir(parents=True)
        if sysconfig.get_path("platlib") != sysconfig.get_path("purelib"):
            (environment / "lib64" / version / "site-packages").mkdir(parents=True)
        for name in ("python", "python3", version):
            (environment / "bin" / name).symlink_to(f"{base_inside()}/bin/{version}")
        settings = f"home = {base_inside()}/bin\ninclude-system-site-packages = false\n"
        (environment / "pyvenv.cfg").write_text(f"{settings}version = {sys.version.split()[0]}\n")
        # The sandbox's user reads it, whatever the umask of this process is.
        for path in (environment, *environment.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() else 0o444)

    def _python_arguments(self) -> list[str]:
        arguments = ["--ro-bind", str(self._scratch / "environment"), ENVIRONMENT]
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        arguments += ["--ro-bind", sysconfig.get_path("purelib"), f"{ENVIRONMENT}/lib/{version}/site-packages"]
        if sysconfig.get_path("platlib") != sysconfig.get_path("purelib"):
            arguments += [
                "--ro-bind",
                sysconfig.get_path("platlib"),
                f"{ENVIRONMENT}/lib64/{version}/site-packages",
            ]
        base = os.path.realpath(sys.base_prefix)
        if not Path(base).is_relative_to("/usr"):
            arguments += ["--ro-bind", base, base_inside()]
        return arguments

    # Accounts -----------------------------------------------------------------------------------------------

    def _write_accounts(self) -> None:
        user = sandbox_user()
        etc = self._scratch / "etc"
        etc.mkdir()
        (etc / "passwd").write_text(f"root:x:0:0::/:/bin/false\npodium:x:{user}:{user}::/tmp:/bin/sh\n")
        (etc / "group").write_text(f"root:x:0:\npodium:x:{user}:\n")
        (etc / "nsswitch.conf").write_text("passwd: files\ngroup: files\nhosts: files\n")
        (etc / "hosts").write_text("127.0.0.1 localhost podium\n::1 localhost\n")
        etc.chmod(0o755)
        for path in etc.iterdir():
            path.chmod(0o444)


def base_inside() -> str:
    """Where the interpreter lies inside the sandbox.

    A home folder's name stays out. An interpreter with a shared library of its own looks for that under the path
    it was built for, and keeps it.
    """
    base = os.path.realpath(sys.base_prefix)
    if Path(base).is_relative_to("/usr") or sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return base
    return BASE


def _parents() -> list[str]:
    """Folders above what is bound; those that bwrap makes by itself are closed to other users than root."""
    above = [parent for parent in reversed(Path(base_inside()).parents) if parent != Path("/")]
    return [word for path in ("/etc", "/app", "/opt", *map(str, above)) for word in ("--dir", path)]


def _top_level() -> list[str]:
    """/bin, /lib and the like: links into /usr on merged systems, folders of their own elsewhere."""
    arguments: list[str] = []
    for name in TOP_LEVEL:
        path = Path("/") / name
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments
