from inside import breach, held, must_be, predict


def read(path):
    try:
        return open(path, "rb").read(100_000)
    except OSError as error:
        return b"" if held(f"{path}: {error}") is None else b""


for path in ("/proc/keys", "/proc/kcore", "/proc/kmsg", "/dev/kmsg", "/dev/mem", "/proc/timer_list", "/proc/sched_debug",
             "/proc/1/environ", "/sys/firmware/dmi/tables/DMI", "/sys/kernel/debug/x", "/proc/sysrq-trigger",
             "/sys/kernel/security/x", "/proc/sys/kernel/core_pattern"):  # fmt: skip
    text = read(path).strip()
    if path.endswith("core_pattern"):
        continue
    (held if not text else breach)(f"{path} gives {text[:80]!r}")
addresses = {line.split()[0].strip(b"0") for line in read("/proc/kallsyms").splitlines()[:1000] if line}
must_be("kernel addresses", addresses <= {b""})
predict()
