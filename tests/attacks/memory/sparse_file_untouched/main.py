import mmap

from inside import must_fail, predict

with open("/tmp/sparse", "wb") as file:
    file.truncate(64 * 2**20)
with open("/tmp/sparse", "r+b") as file:
    mapped = mmap.mmap(file.fileno(), 0)
    assert mapped[12345] == 0
must_fail("10 TB", open("/tmp/more", "wb").truncate, 10 * 2**40)
predict()
