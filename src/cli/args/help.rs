//! The end of each `--help` (the meaning of the output, examples, exit statuses), and help that differs by command.
//!
//! ```text
//! Examples:
//!   baselink base mail.eml
//!
//! Exit status:
//!   0  done
//! ```
//!
//! Deliberately absent: the options, each of which has its own help.

use clap::{Arg, ArgAction};

pub const PROGRAM_AFTER: &str = "\
Examples:
  baselink rewrite --url http://a.example/docs/page.html page.html -o absolute.html
  baselink links --url http://a.example/docs/page.html page.html
  baselink rewrite --url http://a.example/ inbox.mbox -o absolute.mbox
  baselink rewrite --url http://a.example/docs/ docs -o absolute
  baselink base mail.eml
  baselink resolve http://a/b/c/d ../g
  baselink check --url http://a.example/docs/ docs
  baselink localize --url http://a.example/docs/ docs -o offline-docs
  baselink move --url http://old.example/ --to http://new.example/sub/ site -o moved

`baselink COMMAND --help` has the options of a command.

Exit status:
  0  done
  1  a condition does not hold (check, --strict, --verify, a reference without a target)
  2  a file or an argument could not be used";

pub const REWRITE_AFTER: &str = "\
Examples:
  baselink rewrite --url http://a.example/docs/page.html page.html -o absolute.html
  curl -s http://a.example/ | baselink rewrite --url http://a.example/ > absolute.html
  baselink rewrite --url http://a.example/docs/page.html --diff page.html
  baselink rewrite --dry-run --strict page.html || echo some links would break
  baselink rewrite --format message --url http://a.example/ < mail.eml > absolute.eml
  baselink rewrite --skip-dkim --verify inbox.mbox -o absolute.mbox
  baselink rewrite --url http://a.example/docs/ --index index.html docs -o absolute-docs
  baselink rewrite --layout host:http --in-place --backup .orig crawl
  baselink rewrite --in-place Maildir
  baselink rewrite crawl.warc.gz -o pages

Each document of an archive is resolved against its own URL and becomes a file HOST/PATH. \
For several files, only errors, totals and the first warning of each kind are printed; -v prints all.

Exit status:
  0  done
  1  --strict: a relative link could not be made absolute,
     or a record of an archive caused a warning;
     --verify: something other than URLs would have changed, so nothing was written
  2  a file or an argument could not be used; all other files were processed
  130  stopped by Ctrl-C or a signal; every file is complete";

pub const LOCALIZE_AFTER: &str = "\
A link whose target is among the files becomes a relative reference to that file; every other link becomes \
absolute. Files are found by their retrieval URLs, by the names that wget, HTTrack and browsers give them, and \
as index files.

Results of links: made local, already local, made absolute, already absolute, base URL removed (of a base element or \
xml:base, so that its links lead to files), nowhere, no-base, left, not-editable.

Examples:
  baselink localize crawl.warc.gz -o crawled
  baselink localize --include www.example.org/docs/ crawl-*.warc.gz -o docs-site
  baselink localize --layout host --index index.html crawl -o mirror
  baselink localize --url http://a.example/docs/ docs -o offline-docs
  baselink localize --url http://a.example/docs/ --diff docs
  baselink localize --url http://a.example/docs/ --dry-run --verbose docs
  baselink localize --url http://a.example/docs/ --in-place --backup .orig docs
  baselink localize --layout host --dry-run --missing - crawl | wget -x -P crawl -i -

Exit status:
  0  done
  1  --strict: a relative link could be made neither local nor absolute,
     or a record of an archive caused a warning;
     --verify: something other than URLs would have changed, so nothing was written
  2  a file or an argument could not be used; all other files were processed
  130  stopped by Ctrl-C or a signal; every file is complete";

pub const MOVE_AFTER: &str = "\
Without --url, a folder is the root of its site: `/x` leads to its file x, and absolute URLs lead elsewhere. A link to a URL below \
the old root is moved even if no file has that URL (`/search`); -v lists these URLs.

With --relative, these links do not become relative: canonical URLs, alternates in other languages, og:image and the like, \
JSON-LD, feeds, sitemaps and mail, and all links of 404.html, which servers show at any URL. With --to they get the new URL in \
their present form; otherwise they stay as they are. From disk, browsers refuse module scripts, workers, fetch, web app manifests, SVG `use` of another file, and elements with crossorigin or integrity.

With --in-place, all new contents are written to temporary files first, and then all files are renamed. Move a clean git \
work tree, or use -o: if a run is killed between two renames, the folder must be restored from a copy.

Results of links: moved relative, moved root-relative, moved absolute, made relative, unchanged (still leads to its \
target as written), already absolute (leads elsewhere), no-base, left, not-editable.

Examples:
  baselink move --url http://old.example/ --to http://new.example/sub/ site -o moved
  baselink move --relative site -o anywhere
  baselink move --relative=disk site -o to-open-from-disk
  baselink move --rename docs/a.html=guide/start.html --redirects _redirects site -o moved
  baselink move --rename @renames.csv --dry-run site
  baselink move --rename docs=guide --in-place site
  curl -s \"$page\" | baselink move --url \"$page\" --to http://old.example/=http://new.example/sub/ -

Exit status:
  0  done
  1  --strict: a link could not be moved; --verify: something other than URLs would have changed
  2  a file or an argument could not be used, or a move in place was stopped between two renames
  130  stopped by Ctrl-C or a signal; every file is complete, and with --in-place nothing was moved";

pub const LINKS_AFTER: &str = "\
Each line shows the place (path, line, column in bytes), the outcome, the element with its \
attribute, and the reference as written, with its target or the reason why it is left. For a link in an inner document \
(srcdoc, a part of a message), the number of that document precedes the element.

--json prints an object for each link: path, entity, line, column, start, end, element, attribute, \
reference, base, rule, source, target, role (embedded, navigation or metadata), outcome (rewritten, absolute, no-base, left or not-editable), \
reason, kind (of the target: document, frame, image, script, style, media, object or other), rel (the attribute of the element); and with --grammar also category (absolute, net_path, abs_path, rel_path, fragment or empty), \
conforms, violation (null, or an object with the keys at, character, production and message; at is a byte offset in the \
reference). Every key is always present, and null where it does not apply. For a document in an archive there are also \
record (the id of its record), offset and within (the byte of the file and of the gzip member where the record begins; without \
records, offset is the number of the entry), url and media_type.

Examples:
  baselink links --url http://a.example/docs/page.html page.html
  baselink links --grammar page.html
  baselink links --layout host crawl
  baselink links --enable social,lazy page.html
  baselink links --enable headers,text mail.eml
  baselink links --only-targets --url http://a.example/ page.html
  baselink links --json --url http://a.example/ page.html | jq -r .target
  baselink links --json --output results crawl-1.warc.gz crawl-2.warc.gz

Exit status:
  0  done
  1  --strict: a relative link cannot be made absolute
  2  a file or an argument could not be used";

pub const BASE_AFTER: &str = "\
The levels of RFC 1808, section 3, are shown innermost first. Marks: `>` gives the base, \
`-` was passed over, `!` is declared but cannot be a base (such as `data:`); levels without a mark are not declared. A message is \
shown as the tree of its entities, each with the levels that have a value. For several files, and for an archive, each \
document has one line: its path, its base or none, and the source of the base, separated by tabs.

--json prints an object for each document or entity: path, entity, media_type, base, rule, source, declared, \
chain. If the base is inherited, declared is an object (the entity, rule and source of its origin); otherwise it is \
null. chain is an array of entity, rule, source, value, status, reason; status is taken, passed-over, absent or invalid. \
For a document in an archive there are also record, offset, within and url, as for `links`.

Examples:
  baselink base page.html
  baselink base --url http://a.example/docs/page.html page.html
  baselink base --include '*.html' docs
  baselink base --resolver whatwg --url http://a.example/ page.html
  baselink base --layout host crawl
  baselink base --json page.html | jq -r .base
  baselink base mail.eml

Exit status:
  0  done, even if a document has no base
  2  a file or an argument could not be used";

pub const RESOLVE_AFTER: &str = "\
A reference that cannot be resolved is printed as it is, with a warning on standard error. Put `--` \
before a reference that begins with `-`.

With --pairs, the first tab of a line separates base and reference; without a tab, the first white space does. \
Each input line gives one output line.

--json prints an object for each reference: base (null for a line that is not a pair), reference, target (null if \
there is none), category, conforms, violation (null, or an object with at, character, production, message), resolver.

Examples:
  baselink resolve http://a/b/c/d ../g '?y' '#s'
  baselink resolve --explain 'http://a/b/c/d;p?q' ../g
  baselink resolve --resolver whatwg http://a/b/c/d /../g
  printf '%s\\n' ../g ./g | baselink resolve http://a/b/c/d
  printf '%s\\t%s\\n' http://a/b/ ../g http://c/d ./g | baselink resolve --pairs

Exit status:
  0  done
  1  a reference has no target
  2  a file or an argument could not be used";

pub const CHECK_AFTER: &str = "\
--json prints an object for each link: the keys of `links --json`, and class, cause (null if the class has only \
one), differs (true if the resolvers disagree), moved (where it leads after the move; null without --to), hint (a \
similar name that exists).

Examples:
  baselink check docs
  baselink check --url http://a.example/docs/ docs
  baselink check --url http://a.example/docs/ --to file docs
  baselink check --layout host --to https://mirror.example/ crawl
  baselink check crawl.warc.gz --missing seeds.txt
  baselink check --url http://a.example/docs/ --report docs.html docs
  baselink check --url http://a.example/docs/ --baseline known.jsonl --update-baseline docs
  baselink check --url http://a.example/docs/ --baseline known.jsonl --deny all docs
  baselink check --url http://a.example/docs/ --report docs.sarif docs

Exit status:
  0  done
  1  a link has a denied class, and --baseline does not accept it; --strict: a record of an archive is damaged
  2  a file or an argument could not be used";

pub const COMPLETIONS_AFTER: &str = "\
Examples:
  mkdir -p ~/.local/share/bash-completion/completions
  baselink completions bash > ~/.local/share/bash-completion/completions/baselink
  baselink completions zsh > ~/.zfunc/_baselink
  baselink completions fish > ~/.config/fish/completions/baselink.fish
  baselink completions powershell >> $PROFILE

The folder of the script for zsh must be in `fpath` before `compinit` runs.

Exit status:
  0  done
  2  standard output cannot be written to";

pub const MAN_AFTER: &str = "\
Examples:
  baselink man | man -l -
  baselink man man1
  baselink man ~/.local/share/man/man1

Exit status:
  0  done
  2  a page cannot be written";

/// The arguments in `-h`: those that most people need.
const BRIEF: &str = "paths url layout include exclude output in_place backup diff dry_run verify typed_to relative rename \
    redirects denied ignore_url baseline report missing github grammar only_targets resolver json verbose quiet help \
    base references pairs explain";

/// Omits `arg` from `-h` unless most people need it.
pub fn brief(arg: Arg) -> Arg {
    let is_brief = BRIEF.split(' ').any(|id| arg.get_id() == id);
    arg.hide_short_help(!is_brief)
}

/// The end of the `-h` of `command`, with the first two of the examples in `after`.
pub fn brief_end(after: &str, command: &str) -> String {
    let (_, examples) = after.split_once("Examples:\n").unwrap_or_default();
    let examples: String = examples.split_inclusive('\n').take(2).collect();
    format!("Examples:\n{examples}\n`baselink {command} --help` has all options and examples.")
}

/// Gives `arg` this help, whose first paragraph is the short one.
pub fn with_help(arg: Arg, help: &'static str) -> Arg {
    let short = help.split("\n\n").next().unwrap_or(help);
    arg.help(short).long_help(help)
}

/// The arguments of a command for folders: it requires a path, and resolves as browsers do by default.
pub fn for_folders(arg: Arg, paths: &'static str) -> Arg {
    match arg.get_id().as_str() {
        "paths" => arg
            .help(paths)
            .action(ArgAction::Append)
            .num_args(1..)
            .required(true),
        "resolver" => arg
            .default_value("whatwg")
            .hide_default_value(true)
            .help("The rules of resolution: whatwg (default, as in browsers), rfc1808, rfc3986"),
        _ => arg,
    }
}
