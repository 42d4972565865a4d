"""Prints the entries of a feed with absolute links: feedparser reads the output of baselink.

    pip install ./python feedparser
    python python/examples/feed.py URL FILE.xml

feedparser then needs no URL, and resolves nothing itself. Each line has the link and the title of an entry. The HTML in
`entry.summary` and `entry.content` has absolute links, too.
"""

import sys
from pathlib import Path

import feedparser

import baselink

url, path = sys.argv[1:]
# Links are resolved as in browsers. A feed that begins with a comment looks like HTML, so its format is named.
feed = baselink.rewrite(Path(path).read_bytes(), url, format="xml", resolver="whatwg")
for entry in feedparser.parse(feed, resolve_relative_uris=False).entries:
    print(entry.get("link"), entry.get("title"), sep="\t")
