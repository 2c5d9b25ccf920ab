# Verifies the mail on standard input by the one TXT record that DNS has: its name and text are the arguments.
import sys

import dkim

name, text = sys.argv[1:]
record = lambda asked, timeout=5: text.encode() if asked.decode().rstrip('.') == name else None
print(dkim.verify(sys.stdin.buffer.read(), dnsfunc=record))
