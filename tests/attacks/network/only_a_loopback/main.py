from inside import must_be, predict

devices = [line.split(":")[0].strip() for line in open("/proc/net/dev").read().splitlines()[2:]]
must_be(f"devices {devices}", devices == ["lo"])
must_be("routes", len(open("/proc/net/route").read().splitlines()) <= 1)
must_be("neighbours", len(open("/proc/net/arp").read().splitlines()) <= 1)
predict()
