from inside import predict

predict()
while True:
    pass
