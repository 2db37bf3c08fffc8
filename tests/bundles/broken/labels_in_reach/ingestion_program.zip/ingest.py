print("plays against the labels")
