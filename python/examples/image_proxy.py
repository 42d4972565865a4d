"""A mail filter: every image and style sheet that a mail program would load comes through a proxy.

pip install ./python
python python/examples/image_proxy.py https://proxy.example/ < message.eml > proxied.eml
"""

import sys
from urllib.parse import quote

import baselink

proxy = sys.argv[1]


def through_proxy(link: baselink.Link) -> str | None:
    if link.role == "embedded" and link.target and link.target.startswith(("http:", "https:")):
        return f"{proxy}?url={quote(link.target, safe='')}"
    return None  # The link stays as it is.


mail = sys.stdin.buffer.read()
# Without a scheme for `//host/…`, such links would have no target.
sys.stdout.buffer.write(
    baselink.rewrite_links(mail, through_proxy, format="message", resolver="whatwg", assume_scheme="https")
)
