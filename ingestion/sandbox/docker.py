"""Runs in fresh Docker containers: the sandbox of production."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ingestion.image_names import SANDBOX_IMAGE
from ingestion.sandbox import cgroups, scratch
from ingestion.sandbox.base import (
    Folders,
    KnownImage,
    Looker,
    Measurement,
    Outcome,
    Places,
    Sandbox,
    SandboxError,
    SandboxSpec,
    SandboxStatus,
    Usage,
    watch_over,
)
from ingestion.sandbox.cpus import reserved
from ingestion.sandbox.docker_images import ImageProblem, Images, check_runtime
from ingestion.sandbox.docker_output import OutputPlace, output_place
from ingestion.sandbox.engine import EngineError, connect
from ingestion.sandbox.output import is_any_full, open_folder, use_of
from ingestion.sandbox.podman import adapted, is_podman
from ingestion.sandbox.seccomp import profile_text

DEFAULT_IMAGE = SANDBOX_IMAGE
USER = "65534:65534"
# The engine gives a tmpfs the mode of a folder that the image has at its place, but leaves its owner.
_OWNED = "uid=65534,gid=65534"
OPEN_FILES = 4096
MESSAGE_BYTES = 819_200  # of POSIX message queues, a store outside of every tmpfs
GRACE_WITHOUT_WORKER = 5.0  # seconds after its deadline at which a container ends by itself
# What a program may have closed to others, from the top down; no link is followed.
_OPEN_ALL = """
import os, stat, sys
waiting = [sys.argv[1]]
while waiting:
    for entry in list(os.scandir(waiting.pop())):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            os.chmod(entry.path, mode | 0o777 if stat.S_ISDIR(mode) else mode | 0o666)
        if stat.S_ISDIR(mode):
            waiting.append(entry.path)
"""
_OPEN_ALL_SECONDS = 60
TIME_IS_OVER = 124  # exit code of program/init.py when it ended a container
_KILLED_INSIDE = 222  # that of program/init.py when the program ended with 137
_KILLED = 128 + 9  # exit code after SIGKILL: of the container's first process, which nobody inside can kill
# The engine copies what a program prints at our pace: a flood must not cost the machine a core.
LOG_BYTES_PER_SECOND = 100 * 1024 * 1024


class DockerSandbox(Sandbox):
    """Each run in a container of its own, which is removed whatever happens."""

    name = "docker"

    def __init__(self, image: str | None = None, *, runtime: str | None = None) -> None:
        self.image = image or os.environ.get("PODIUM_SANDBOX_IMAGE") or DEFAULT_IMAGE
        self.default_image = self.image
        self.runtime = runtime or os.environ.get("PODIUM_DOCKER_RUNTIME") or None
        self._client: Any = None
        self._images = Images()

    @property
    def client(self) -> Any:
        """The connection to the engine, made when first needed. Raises SandboxError."""
        if self._client is None:
            try:
                self._client = connect()
            except EngineError as error:
                raise SandboxError(str(error)) from error
        return self._client

    def places(self, folders: Folders) -> Places:
        """The fixed places under /app."""
        return Places()

    def check(self) -> SandboxStatus:
        """Whether the engine answers, has the image and knows the runtime, and runs can start in the image."""
        try:
            client = connect(timeout=10)
        except EngineError as error:
            return SandboxStatus(self.name, False, str(error), error.mend)
        try:
            check_runtime(client, self.runtime)
            self._images.require(client, self.image)
        except SandboxError as error:
            return SandboxStatus(self.name, False, _sentence(error), getattr(error, "mend", ""))
        finally:
            client.close()
        return SandboxStatus(self.name, True, f"Docker runs submissions in {self.image}.{self._notes()}")

    def images(self, names: Iterable[str]) -> tuple[KnownImage, ...]:
        """Those of these images that the engine has."""
        found = []
        for name in dict.fromkeys(names):
            with contextlib.suppress(ImageProblem):
                found.append(self._images.find(self.client, name))
        return tuple(found)

    def _image(self, spec: SandboxSpec) -> str:
        """The id of the image of a run, as it is now: a name may move while the run is being prepared."""
        is_model = any(word.endswith("/ingestion/program/__main__.py") for word in spec.command)
        return self._images.require(self.client, spec.image or self.image, for_model=is_model).id

    def _notes(self) -> str:
        if os.geteuid() != 0:
            return " Output lies in a sized tmpfs volume that a helper container holds, because this is not root."
        return ""

    def run(
        self,
        spec: SandboxSpec,
        *,
        stop: threading.Event,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> Outcome:
        """Run a program in a fresh container. Raises SandboxError when the engine fails."""
        import docker.errors
        import requests

        image = self._image(spec)
        try:
            check_runtime(self.client, self.runtime)
            with (
                reserved(spec.cores, held=spec.cpus) as cpus,
                output_place(self.client, image, spec, labels(spec)) as place,
            ):
                return self._run(spec, image, place, cpus, stop, on_usage)
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise SandboxError(f"the Docker engine failed: {' '.join(str(error).split())[:400]}") from error

    def _run(
        self,
        spec: SandboxSpec,
        image: str,
        place: OutputPlace,
        cpus: str | None,
        stop: threading.Event,
        on_usage: Callable[[Usage], None] | None,
    ) -> Outcome:
        options = container_options(spec, image, place, cpus, self.runtime)
        if is_podman(self.client):
            options = adapted(options)
        with self._container(options) as container, contextlib.ExitStack() as opened:
            reader = _LogReader(container, spec)
            started = time.monotonic()
            container.start()
            looker = Looker(
                spec.watcher, place.descriptor, started, refresh=place.refresh, is_copy=not place.is_mount
            )
            program = opened.enter_context(contextlib.closing(_Container(self.client, container)))
            watched = watch_over(program, spec, started=started, stop=stop, on_usage=on_usage)
            state = _final_state(container)
            if state.get("Error"):
                raise SandboxError(f"the container did not start: {state['Error']}")
            reader.finish()
            code = int(state["ExitCode"])
            if (
                code == TIME_IS_OVER
                and watched.usage.wall_seconds >= spec.budget.wall_seconds + GRACE_WITHOUT_WORKER
            ):
                watched.stopped = "time"  # this process slept through the deadline; the container did not
            memory_killed = bool(state.get("OOMKilled")) or watched.memory_killed
            if code == _KILLED and watched.stopped is None and not memory_killed:
                raise SandboxError("the container was ended from outside, by the engine or by hand")
            code = _KILLED if code == _KILLED_INSIDE else code
            ended_early = watched.stopped is not None or code != 0
            looker.finish(watched.usage.wall_seconds, ended_early=ended_early)
            use = use_of(place.descriptor, spec, bounded_by_mount=place.is_mount)
            return Outcome(
                exit_code=None if watched.stopped else code,
                stopped=watched.stopped,
                usage=watched.usage,
                memory_killed=memory_killed,
                output_full=place.overflowed or use.is_full,
                output_bytes=use.bytes,
                output_files=use.files,
                temporary_full=program.temporary_was_full(),
                processes_full=watched.processes_full,
            )

    def give_back(self, folder: Path, spec: SandboxSpec) -> None:
        """As the containers' user, open everything in the folder to everybody. Root needs no such help."""
        import docker.errors
        import requests
        from docker.types import Mount

        if os.geteuid() == 0:
            return
        options = {
            "image": self._image(spec),
            "entrypoint": ["python3", "-I", "-S", "-c", _OPEN_ALL, "/shared"],
            "command": [],
            "user": USER,
            "network_mode": "none",
            "read_only": True,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "mem_limit": "64m",
            "pids_limit": 8,
            "mounts": [Mount("/shared", str(folder), type="bind", propagation="rprivate")],
            "labels": labels(spec),
        }
        try:
            with self._container(options) as container:
                container.start()
                container.wait(timeout=_OPEN_ALL_SECONDS)
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise SandboxError(
                f"a shared folder could not be opened: {' '.join(str(error).split())[:400]}"
            ) from error

    @contextlib.contextmanager
    def _container(self, options: dict[str, Any]) -> Iterator[Any]:
        container = self.client.containers.create(**options)
        try:
            yield container
        finally:
            _remove(container)

    def clean_stale(self, owner: str | None = None) -> list[str]:
        """Remove containers, volumes and mounts of runs whose worker is dead. Raises SandboxError."""
        import docker.errors
        import requests

        try:
            removed = self._remove_stale(owner)
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise SandboxError(f"the Docker engine failed: {' '.join(str(error).split())[:400]}") from error
        return [*removed, *super().clean_stale(owner)]

    def _remove_stale(self, owner: str | None) -> list[str]:
        wanted = ["podium.run", f"podium.host={socket.gethostname()}"]
        if owner is not None:
            wanted.append(f"podium.owner={owner}")
        removed = []
        for container in self.client.containers.list(all=True, filters={"label": wanted}):
            if not scratch.is_alive(Path(container.labels["podium.run"])):
                _remove(container)
                removed.append(f"Removed the container {container.name} of a run whose worker is gone.")
        for volume in self.client.volumes.list(filters={"label": wanted}):
            if not scratch.is_alive(Path(volume.attrs["Labels"]["podium.run"])):
                volume.remove(force=True)
                removed.append(f"Removed the volume {volume.name} of a run whose worker is gone.")
        return removed


def _sentence(error: SandboxError) -> str:
    text = str(error).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def labels(spec: SandboxSpec) -> dict[str, str]:
    """Labels by which `clean_stale` finds what belongs to a run."""
    return {
        "podium.run": str(spec.folders.scratch),
        "podium.owner": spec.owner,
        "podium.host": socket.gethostname(),
    }


def container_options(
    spec: SandboxSpec, image: str, place: OutputPlace, cpus: str | None, runtime: str | None
) -> dict[str, Any]:
    """Everything that the engine is told about the container of one run."""
    from docker.types import LogConfig, Mount, Ulimit

    layout, places = spec.shown, Places()
    mounts = [
        Mount(one.target, str(one.source), type="bind", read_only=not one.is_writable, propagation="rprivate")
        for one in layout.mounts
    ]
    if layout.has_output:
        mounts.append(place.mount)
    tmpfs = f"rw,nosuid,nodev,exec,mode=1777,size={spec.temporary_bytes},nr_inodes={spec.budget.output_files * 10}"
    file_bytes = max(spec.output_bytes, spec.temporary_bytes)
    options: dict[str, Any] = {
        "image": image,
        "entrypoint": [*first_process(spec, places), *spec.command],
        "command": [],
        "environment": dict(spec.environment),
        "working_dir": layout.working_directory,
        "hostname": "podium",
        "user": USER,
        "init": False,
        "network_mode": "none",
        # Else the file that names the host's own name servers would be copied into the container.
        "dns": ["127.0.0.1"],
        "dns_search": ["."],
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges", f"seccomp={profile_text(makes_links=layout.makes_links)}"],
        "mem_limit": spec.memory_bytes,
        "memswap_limit": spec.memory_bytes,
        "pids_limit": spec.budget.processes,
        "ulimits": [
            Ulimit(name="core", soft=0, hard=0),
            Ulimit(name="nofile", soft=OPEN_FILES, hard=OPEN_FILES),
            Ulimit(name="fsize", soft=file_bytes, hard=file_bytes),
            Ulimit(name="msgqueue", soft=MESSAGE_BYTES, hard=MESSAGE_BYTES),
        ],
        "tmpfs": {places.temporary: tmpfs, **dict.fromkeys(layout.workspaces, f"{tmpfs},{_OWNED}")},
        "ipc_mode": "private",
        "shm_size": spec.temporary_bytes,
        "mounts": mounts,
        # Nothing on the engine's disk: what is printed comes to us over the connection that was attached first.
        "log_config": LogConfig(type="none"),
        "labels": labels(spec),
        "runtime": runtime,
    }
    if cpus is not None:
        options["cpuset_cpus"] = cpus
    else:
        options["nano_cpus"] = spec.cores * 1_000_000_000
    return options


def first_process(spec: SandboxSpec, places: Places) -> tuple[str, ...]:
    """The command line of our own first process, which ends the container though its worker be dead."""
    seconds = spec.budget.wall_seconds + GRACE_WITHOUT_WORKER
    return (places.python, "-I", "-S", f"{spec.shown.ours}/ingestion/program/init.py", repr(seconds))


def _remove(container: Any) -> None:
    import docker.errors

    for _ in range(3):
        try:
            container.remove(force=True, v=True)
            return
        except docker.errors.NotFound:
            return
        except docker.errors.APIError as error:
            # "removal is already in progress" comes from an engine that is slow to let go of a device.
            last = error
            time.sleep(0.3)
    raise SandboxError(f"the container {container.name} could not be removed: {last.explanation}")


def _final_state(container: Any) -> dict[str, Any]:
    """The engine's record of the end. It learns of a process ended for memory a moment after the end itself."""
    for _ in range(4):
        container.reload()
        state: dict[str, Any] = container.attrs["State"]
        if int(state["ExitCode"]) not in (_KILLED, _KILLED_INSIDE) or state.get("OOMKilled"):
            break
        time.sleep(0.1)
    return state


class _LogReader:
    """Takes what the program prints, as fast as the engine may copy it."""

    def __init__(self, container: Any, spec: SandboxSpec) -> None:
        self._log = spec.log
        self._stream = container.attach(stdout=True, stderr=True, stream=True, logs=False)
        self._thread = threading.Thread(target=self._loop, name="podium-log", daemon=True)
        self._thread.start()

    def _loop(self) -> None:
        began, taken = time.monotonic(), 0
        # A broken connection ends the log, not the run.
        with contextlib.suppress(Exception):
            for chunk in self._stream:
                self._log.feed(chunk)
                taken += len(chunk)
                ahead = taken / LOG_BYTES_PER_SECOND - (time.monotonic() - began)
                if ahead > 0.02:
                    time.sleep(ahead)

    def finish(self) -> None:
        """Wait for the rest of the log; what is still in pipes after the end of the container is little."""
        self._thread.join(timeout=5)


class _Container:
    """A started container, as `watch_over` sees it."""

    def __init__(self, client: Any, container: Any) -> None:
        self._client = client
        self._container = container
        self._ended = threading.Event()
        self._error: Exception | None = None
        pid = int(client.api.inspect_container(container.id)["State"].get("Pid") or 0)
        self._group = _group_of(pid, container.id)
        self._temporary = _temporary_places(pid)
        threading.Thread(target=self._wait_for_end, name="podium-wait", daemon=True).start()

    def _wait_for_end(self) -> None:
        try:
            self._client.api.wait(self._container.id, timeout=None)
        except Exception as error:  # told by wait()
            self._error = error
        self._ended.set()

    def wait(self, seconds: float) -> bool:
        ended = self._ended.wait(seconds)
        if self._error is not None:
            raise SandboxError(f"the Docker engine stopped answering: {self._error}") from self._error
        return ended

    def kill(self) -> None:
        import docker.errors

        # Conflict: it has just ended by itself.
        with contextlib.suppress(docker.errors.APIError):
            self._container.kill()

    def measure(self) -> Measurement | None:
        if self._group is not None:
            return self._group.measure()
        return _measure_by_engine(self._client, self._container.id)

    def temporary_was_full(self) -> bool:
        """Whether /tmp or /dev/shm had no room left; False where they cannot be seen."""
        return is_any_full(self._temporary)

    def close(self) -> None:
        """Let go of /tmp and /dev/shm, which vanish with their last descriptor."""
        while self._temporary:
            os.close(self._temporary.pop())


def _temporary_places(pid: int) -> list[int]:
    """Descriptors of a container's /tmp and /dev/shm, where this user may look into it."""
    places = []
    for path in (Places().temporary, "/dev/shm"):  # noqa: S108  # places inside the sandbox
        with contextlib.suppress(OSError):
            places.append(open_folder(f"/proc/{pid}/root{path}"))
    return places


def _group_of(pid: int, container: str) -> cgroups.Group | None:
    """The container's control group, where it can be seen from here (not with an engine elsewhere)."""
    try:
        folders = cgroups.folders_of(pid) if pid else {}
    except OSError:
        return None
    ours = {name: folder for name, folder in folders.items() if container in str(folder)}
    return cgroups.Group(ours) if ours and ("memory" in ours or "" in ours) else None


def _measure_by_engine(client: Any, container: str) -> Measurement | None:
    import docker.errors

    try:
        stats = client.api.stats(container, stream=False, one_shot=True)
    except docker.errors.APIError:
        return None
    memory = stats.get("memory_stats", {})
    details = memory.get("stats", {})
    anonymous = details.get("anon", details.get("total_rss", 0))
    return Measurement(
        cpu_seconds=stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0) / 1e9,
        memory_bytes=anonymous + details.get("shmem", details.get("total_shmem", 0)),
    )
