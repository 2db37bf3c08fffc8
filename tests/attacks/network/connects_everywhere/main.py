import socket

from inside import breach, held, predict

V4 = ("8.8.8.8", "1.1.1.1", "169.254.169.254", "172.17.0.1", "172.18.0.1", "10.0.0.1", "192.168.0.1", "100.100.100.200",
      "255.255.255.255", "224.0.0.1")  # fmt: skip
V6 = ("2001:4860:4860::8888", "fd00:ec2::254", "fe80::1%1", "ff02::1", "::ffff:8.8.8.8")


def attempt(family, kind, address):
    what = f"{kind.name} {address[0]} port {address[1]}"
    try:
        with socket.socket(family, kind) as tried:
            tried.settimeout(2)
            if family == socket.AF_INET:
                tried.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
            if kind == socket.SOCK_STREAM:
                tried.connect(address)
            else:
                tried.sendto(b"x" * 64, address)
        breach(what)
    except TimeoutError:
        breach(f"{what}: no answer, but a way")
    except OSError as error:
        held(f"{what}: {error}")


for family, addresses in ((socket.AF_INET, V4), (socket.AF_INET6, V6)):
    for address in addresses:
        attempt(family, socket.SOCK_STREAM, (address, 80))
        attempt(family, socket.SOCK_DGRAM, (address, 53))
for kind in (socket.SOCK_RAW, socket.SOCK_DGRAM):
    for family, protocol in ((socket.AF_INET, socket.IPPROTO_ICMP), (socket.AF_INET6, socket.IPPROTO_ICMPV6)):
        try:
            with socket.socket(family, kind, protocol) as ping:
                ping.sendto(b"\x08\0\xf7\xff\0\0\0\0", ("8.8.8.8" if family == socket.AF_INET else "2001:db8::1", 0))
            breach("a ping went out")
        except OSError as error:
            held(f"ping: {error}")
try:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as fast:
        fast.sendto(b"x", 0x20000000, ("8.8.8.8", 80))  # MSG_FASTOPEN
    breach("fast open")
except OSError as error:
    held(f"fast open: {error}")
predict()
