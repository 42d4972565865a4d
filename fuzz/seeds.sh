#!/bin/sh
# Copies the seeds of every target from fixtures/ and tests/findings/ to the folder $1/TARGET.
set -eu
into=$(realpath "${1:?a folder for the corpora}")
cd "$(dirname "$0")/.."
put() { # TARGET FOLDER PATTERN...: copies the files below FOLDER whose names match a pattern
    target=$1 folder=$2
    shift 2
    for pattern; do
        find "$folder" -type f -name "$pattern" | while read -r file; do
            cp "$file" "$into/$target/$(echo "$file" | tr / _)"
        done
    done
}
for target in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$target" .rs)
    mkdir -p "$into/$target"
    if [ -d "tests/findings/$target" ]; then put "$target" "tests/findings/$target" '*'; fi
done
put mbox fixtures '*.mbox'
put url_map fixtures '*.csv'
put warc fixtures '*.warc' '*.warc.gz'
# The documents of the cases.
PYTHONPATH=tests/compare python3 - "$into" <<'END'
import sys
from pathlib import Path
from compare import case_file
TARGETS = {"css": "css", "html": "html", "http": "http", "message": "message transfer", "feed": "xml", "xhtml": "xml", "svg": "xml"}
for folder, targets in TARGETS.items():
    for path in Path("fixtures", folder).glob("*.case"):
        for name, content in case_file(path)[1].items():
            for target in targets.split() if name.startswith("input.") else []:
                Path(sys.argv[1], target, f"{folder}_{path.stem}").write_bytes(content)
END
# The examples in docs/settings.md.
awk -v into="$into/settings/example-" '/^```toml/ { number++; on = 1; next } /^```/ { on = 0 } on { print > (into number) }' docs/settings.md
rows() { grep -v -e '^#' -e '^$' fixtures/resolution/references.tsv; }
rows | cut -f 2 | split -a 3 -l 1 - "$into/grammar/row-"
rows | tr '\t' '\n' | split -a 3 -l 5 - "$into/resolve/row-"
