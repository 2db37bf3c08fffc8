cp "$1/scores.json" "$2/scores.json"
