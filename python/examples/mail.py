"""A mail filter: standard input to standard output, with absolute links. It also takes a mailbox (mbox).

    pip install ./python
    python examples/mail.py < message.eml > absolute.eml

`//host/…` gets a scheme, `#top` stays in the mail, and messages with a DKIM signature keep their bytes. Standard error has the
number of links by outcome.
"""

import sys

import baselink

if __name__ == "__main__":
    mail = sys.stdin.buffer.read()
    found = baselink.rewrite_report(mail, fragments="auto", assume_scheme="https", dkim="keep")
    sys.stdout.buffer.write(found.output)
    print({outcome: links for outcome, links in found.counts.items() if links}, file=sys.stderr)
