"""A mail filter: makes the links of a message or a mailbox (mbox) absolute.

    pip install ./python
    python python/examples/mail.py < message.eml > absolute.eml

`//host/…` gets a scheme, `#top` stays, and messages with a DKIM signature keep their bytes. The number of links by
outcome is printed to standard error.
"""

import sys

import baselink

if __name__ == "__main__":
    mail = sys.stdin.buffer.read()
    found = baselink.rewrite_report(mail, fragments="auto", assume_scheme="https", dkim="keep")
    sys.stdout.buffer.write(found.output)
    print({outcome: links for outcome, links in found.counts.items() if links}, file=sys.stderr)
