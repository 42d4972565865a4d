"""Answers the calls of judge.py by the Python module: JSON Lines in, JSON Lines out."""

import base64
import io
import json
import sys

import baselink


def given(value):
    """An argument: bytes are an object with the key `bytes`."""
    return base64.b64decode(value["bytes"]) if isinstance(value, dict) and "bytes" in value else value


def plain(value):
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def answer(function, arguments, options):
    arguments = [given(one) for one in arguments]
    if function == "version":
        return baselink.__version__
    if function == "messages":
        return list(baselink.messages(io.BytesIO(arguments[0])))
    if function != "rewrite_links":
        return getattr(baselink, function)(*arguments, **options)
    seen = []

    def choose(link):
        seen.append(link)
        return link.target + "#chosen" if link.role == "embedded" else None

    return [baselink.rewrite_links(*arguments, choose, **options), seen]


for line in sys.stdin:
    try:
        print(json.dumps({"value": plain(answer(*json.loads(line)))}))
    except (TypeError, ValueError) as error:
        print(json.dumps({"error": str(error)}))
