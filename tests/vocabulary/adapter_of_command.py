"""Answers the calls of judge.py by the command, whose path is the argument: JSON Lines in, JSON Lines out."""

import base64
import json
import subprocess
import sys

FLAGS = {
    ("dkim", "keep"): ["--skip-dkim"],
    ("local_copies", "rewrite"): ["--trust", "-local-copies"],
    ("content_location", "label"): ["--trust", "-content-location"],
}
DEFAULTS = {("dkim", "rewrite"), ("local_copies", "keep"), ("content_location", "base")}


def arguments_of(options):
    for name, values in options.items():
        for value in values if isinstance(values, list) else [values]:
            if (name, value) in FLAGS:
                yield from FLAGS[name, value]
            elif (name, value) not in DEFAULTS:
                if name in ("dkim", "local_copies", "content_location") or not isinstance(value, str):
                    raise LookupError
                yield f"--{'attribute' if name == 'attributes' else name.replace('_', '-')}={value}"


def answer(function, arguments, options):
    data, given = b"", []
    if function in ("links", "base", "rewrite") and isinstance(arguments[0], dict):
        data, given = base64.b64decode(arguments[0]["bytes"]), ["--config=none"]
        given += ["--json"] if function != "rewrite" else []
    elif function == "resolve":
        given = ["--", *arguments]
    else:
        raise LookupError
    command = [sys.argv[1], function, "--quiet", *arguments_of(options), *given]
    run = subprocess.run(command, input=data, capture_output=True)
    if b"unexpected argument" in run.stderr:
        raise LookupError
    if run.returncode == 2:
        return {"error": run.stderr.decode().removeprefix("error: ").split("\n")[0]}
    if function == "resolve":
        return {"value": run.stdout.decode().rstrip("\n")}
    if function == "rewrite":
        return {"value": {"bytes": base64.b64encode(run.stdout).decode()}}
    rows = [json.loads(line) for line in run.stdout.split(b"\n")[:-1]]
    for row in rows:
        del row["path"]  # Every document comes from standard input.
    return {"value": rows if function == "links" else rows[0]}


for line in sys.stdin:
    try:
        print(json.dumps(answer(*json.loads(line))))
    except LookupError:
        print(json.dumps({"error": "absent"}))
