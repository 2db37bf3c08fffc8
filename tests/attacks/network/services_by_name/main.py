import os
import socket

from inside import breach, held, must_be, must_fail, predict

for name in ("redis", "rabbitmq", "postgres", "minio", "site", "host.docker.internal", "gateway.docker.internal",
             "metadata.google.internal", "example.com", "kubernetes.default"):  # fmt: skip
    must_fail(name, socket.getaddrinfo, name, 80)
for port in (6379, 5672, 5432, 9000, 8000, 2375):
    for host in ("172.17.0.1", "127.0.0.1", "::1"):
        try:
            socket.create_connection((host, port), timeout=2).close()
            breach(f"{host} {port}")
        except OSError as error:
            held(f"{host} {port}: {error}")
told = open("/etc/resolv.conf").read() if os.path.exists("/etc/resolv.conf") else ""
servers = {line.split()[1] for line in told.splitlines() if line.startswith("nameserver")}
must_be(f"name servers {servers}", servers <= {"127.0.0.1"})
predict()
