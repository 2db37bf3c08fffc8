print("the first")
