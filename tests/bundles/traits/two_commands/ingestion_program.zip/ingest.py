print("only data and labels, no code of participants")
