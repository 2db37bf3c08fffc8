raise MemoryError("the program says so")
