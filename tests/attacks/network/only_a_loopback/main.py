import socket

from inside import must_be, predict

must_be("interfaces", [name for _, name in socket.if_nameindex()] == ["lo"]) if hasattr(socket, "if_x") else None
devices = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
must_be(f"devices {devices}", devices == ["lo"])
must_be("routes", len(open("/proc/net/route").read().splitlines()) <= 1)
must_be("neighbours", len(open("/proc/net/arp").read().splitlines()) <= 1)
predict()
