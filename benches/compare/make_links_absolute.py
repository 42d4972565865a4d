"""Makes the links of pages absolute with lxml. The benchmark times the whole process, including the start of Python.

Arguments: URL FROM TO (two files or two folders).
"""

import os
import sys

try:
    import lxml.html
except ImportError:
    sys.exit("this Python has no lxml")


def rewrite(url, source, target):
    with open(source, "rb") as file:
        page = file.read()
    parser = lxml.html.HTMLParser(huge_tree=True)
    tree = lxml.html.document_fromstring(page, parser=parser)
    tree.make_links_absolute(url, resolve_base_href=False, handle_failures="ignore")
    with open(target, "wb") as file:
        file.write(lxml.html.tostring(tree, encoding="utf-8"))


url, source, target = sys.argv[1:]
if os.path.isdir(source):
    for folder, _, names in os.walk(source):
        inner = os.path.join(target, os.path.relpath(folder, source))
        os.makedirs(inner, exist_ok=True)
        for name in names:
            rewrite(url, os.path.join(folder, name), os.path.join(inner, name))
else:
    rewrite(url, source, target)
