"""A mail filter: makes the links of a message absolute.

    pip install ./python
    python python/examples/mail.py < message.eml > absolute.eml

`//host/…` gets a scheme, `#top` stays, and messages with a DKIM signature keep their bytes. The output is always a
complete message. The exit status is 1 if a link could not be made absolute, as with `baselink rewrite --strict`.
"""

import sys

import baselink

mail = sys.stdin.buffer.read()
# A message may begin like another document, so its format is named. Messages with a DKIM signature keep their bytes.
found = baselink.rewrite_report(mail, format="message", assume_scheme="https", fragments="auto", dkim="keep")
sys.stdout.buffer.write(found.output)
failed = [link for link in found.links if not link.is_intended]
for link in failed:
    print(f"line {link.line}: {link.reference}: {link.reason or link.outcome}", file=sys.stderr)
sys.exit(1 if failed else 0)
