import ctypes
import resource

from inside import must_be

must_be("no core file", resource.getrlimit(resource.RLIMIT_CORE) == (0, 0))
ctypes.string_at(1)
