import sys

print("</script><script>alert(1)</script><img src=x onerror=alert(1)>")
sys.exit("<b onmouseover=alert(2)>bold</b>")
