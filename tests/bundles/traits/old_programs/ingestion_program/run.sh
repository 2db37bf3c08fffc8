apt-get install -y libgomp1
pip install lightgbm
python3 ingest.py
