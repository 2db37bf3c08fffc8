"""One run through each sandbox, its posture compared with a committed file: what a dropped flag would change."""

from __future__ import annotations

import fnmatch
import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from ingestion.budget import GIB, MIB, Budget
from ingestion.runner import RunRequest, run
from ingestion.sandbox import cgroups
from ingestion.sandbox.bubblewrap import BubblewrapSandbox
from ingestion.sandbox.bubblewrap_tree import base_inside, sandbox_user
from ingestion.sandbox.docker import DockerSandbox
from ingestion.sandbox.seccomp import profile_text
from tests.attacks.cases import HERE, PROGRAM, SANDBOXES
from tests.attacks.ground import write_dataset

KINDS = {"docker": DockerSandbox, "bubblewrap": BubblewrapSandbox}
OWNER = f"posture.{os.getpid()}"
# Each of these numbers is found again in the posture files.
BUDGET = Budget(
    wall_seconds=60,
    cores=1,
    memory_bytes=256 * MIB,
    processes=77,
    output_bytes=16 * MIB,
    output_files=300,
    temporary_bytes=32 * MIB,
    file_bytes=GIB,
)


@pytest.fixture(scope="module", params=[pytest.param(one, marks=getattr(pytest.mark, one)) for one in SANDBOXES])
def seen(request, tmp_path_factory) -> dict[str, Any]:
    """What one run reports from inside, what is seen of it from outside, and the committed posture."""
    if os.geteuid() != 0:
        pytest.skip("the posture files are those of a worker that root runs")
    sandbox = KINDS[request.param]()
    status = sandbox.check()
    if not status.usable:
        pytest.skip(status.sentence)
    folder = tmp_path_factory.mktemp(request.param)
    outside: dict[str, Any] = {}

    def look(_now: object) -> None:
        # Once is enough, and in its last moments a container is no longer in its control group.
        if not outside:
            outside.update(inspected(sandbox) if request.param == "docker" else {"control_group": own_group()})

    result = run(
        RunRequest(
            dataset=write_dataset(folder / "tiny"),
            submission=write_report(folder / "submission"),
            output=folder / "output",
            budget=BUDGET,
            sandbox=sandbox,
            owner=OWNER,
        ),
        progress=look,
    )
    assert result.status == "ok", result
    return {
        "inside": json.loads(result.log_path.read_text()),
        "outside": outside,
        "committed": yaml.safe_load((HERE / "posture" / f"{request.param}.yaml").read_text()),
    }


def write_report(folder: Path) -> Path:
    """The submission that reports its posture."""
    folder.mkdir()
    (folder / "metadata").write_text(PROGRAM)
    for source, name in ((HERE / "inside.py", "inside.py"), (HERE / "posture" / "report.py", "main.py")):
        (folder / name).write_text(source.read_text())
    return folder


def inspected(sandbox: DockerSandbox) -> dict[str, Any]:
    """The engine's own record of the container, and the limits of its control group."""
    containers = sandbox.client.containers.list(filters={"label": f"podium.owner={OWNER}"})
    if len(containers) != 1:
        return {}
    record = sandbox.client.api.inspect_container(containers[0].id)
    folders = cgroups.folders_of(record["State"]["Pid"])
    if not any(record["Id"] in str(folder) for folder in folders.values()):
        return {}
    host = record["HostConfig"]
    security = [
        "seccomp=the profile" if one == f"seccomp={profile_text()}" else one for one in host["SecurityOpt"]
    ]
    return {
        "inspect": {
            **{name: host[name] for name in INSPECTED if name in host},
            "SecurityOpt": security,
            "Ulimits": sorted([one["Name"], one["Soft"], one["Hard"]] for one in host["Ulimits"]),
            "LogConfig": host["LogConfig"]["Type"],
            "Mounts": sorted([one["Destination"], one["Type"], one["RW"]] for one in record["Mounts"]),
            "User": record["Config"]["User"],
            "Labels": sorted(name for name in record["Config"]["Labels"] if name.startswith("podium.")),
            "Networks": sorted(record["NetworkSettings"]["Networks"]),
            "Ports": record["NetworkSettings"]["Ports"],
        },
        "control_group": group_limits(folders),
    }


INSPECTED = (
    "AutoRemove", "CapAdd", "CapDrop", "Devices", "DeviceRequests", "Dns", "DnsSearch", "GroupAdd", "Init",
    "IpcMode", "Memory", "MemorySwap", "NetworkMode", "OomKillDisable", "PidMode", "PidsLimit",
    "PortBindings", "Privileged", "PublishAllPorts", "ReadonlyRootfs", "RestartPolicy", "Runtime",
    "ShmSize", "Tmpfs", "UTSMode", "UsernsMode", "VolumesFrom", "MaskedPaths", "ReadonlyPaths",
    "ExtraHosts",
)  # fmt: skip


def own_group() -> dict[str, Any]:
    """The limits of the bubblewrap run's control group."""
    name = next((path.name for path in cgroups.MOUNT.glob(f"**/podium/podium-run-{OWNER}-*")), None)
    group = cgroups.existing_group(name) if name else None
    return group_limits(group.folders) if group else {}


def group_limits(folders: dict[str, Path]) -> dict[str, int]:
    """Memory and processes that a control group allows, in either version; 0 of swap."""
    if "memory" in folders:
        memory, pids = folders["memory"], folders["pids"]
        limit = int((memory / "memory.limit_in_bytes").read_text())
        with_swap = memory / "memory.memsw.limit_in_bytes"
        swap = int(with_swap.read_text()) - limit if with_swap.is_file() else 0
        return {"memory": limit, "swap": swap, "processes": int((pids / "pids.max").read_text())}
    folder = folders[""]
    read = {name: (folder / name).read_text().strip() for name in ("memory.max", "memory.swap.max", "pids.max")}
    return dict(zip(("memory", "swap", "processes"), map(int, read.values()), strict=True))


def test_it_has_no_rights(seen):
    inside, committed = seen["inside"], seen["committed"]
    for name in ("capabilities", "no_new_privs", "seccomp", "umask"):
        assert inside[name] == committed[name], name
    user = sandbox_user() if committed["user"] == "own" else committed["user"]
    assert inside["user"] == [user] * 4
    assert set(inside["groups"]) <= {user}


def test_its_namespaces_are_its_own(seen):
    for name, whose in seen["committed"]["namespaces"].items():
        link = seen["inside"]["namespaces"].get(name)
        is_hosts = link == os.readlink(f"/proc/self/ns/{name}") if link else None
        assert whose == "either" or is_hosts is (whose == "host"), (name, whose, link)


def test_its_mounts_are_the_committed_ones_with_their_flags(seen):
    wanted = seen["committed"]["mounts"]
    unmatched = [one["place"] for one in wanted if not one.get("optional")]
    for mount in seen["inside"]["mounts"]:
        rule = next((one for one in wanted if fnmatch.fnmatchcase(place_of(mount), one["place"])), None)
        assert rule is not None, f"a mount that is not in the posture file: {mount}"
        assert rule.get("type") in (None, mount["type"]), mount
        assert set(rule["flags"]) <= set(mount["flags"]), (rule, mount)
        if rule["place"] in unmatched:
            unmatched.remove(rule["place"])
    assert unmatched == []


def place_of(mount: dict[str, Any]) -> str:
    """The mount's place, the interpreter's folder called PYTHON: it depends on the machine."""
    place = str(mount["place"])
    return "PYTHON" if place == base_inside() and not place.startswith("/usr") else place


def test_its_limits_environment_and_network_are_the_committed_ones(seen):
    inside, committed = seen["inside"], seen["committed"]
    for name, limits in committed["limits"].items():
        assert inside["limits"][name] == limits, name
    assert set(inside["environment"]) <= set(committed["environment"])
    for name in ("descriptors", "interfaces", "host_name", "folder", "writable", "devices"):
        found = inside[name]
        if name == "descriptors":
            found = {number: target.partition(":")[0] for number, target in found.items()}
        assert found == committed[name], name
    assert inside["processes"] <= committed["processes"]


def test_what_the_outside_says_of_it_is_the_committed(seen):
    assert seen["outside"]["control_group"] == seen["committed"]["control_group"]
    assert seen["outside"].get("inspect") == seen["committed"].get("inspect")
