import os

descriptors = []
while True:
    descriptors.append(os.memfd_create("hoard"))
    os.write(descriptors[-1], os.urandom(1024) * 4096)
