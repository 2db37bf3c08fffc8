import mmap

reserved = mmap.mmap(-1, 2**40, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)  # MAP_NORESERVE
for place in range(0, 2**40, 4096):
    reserved[place] = 1
