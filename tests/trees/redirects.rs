//! The lists of `move --redirects`, served by nginx, Apache and Caddy, old URL by old URL.
//!
//! Deliberately absent: `_redirects`, for which no server can be installed.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command},
    thread,
    time::Duration,
};

use crate::outside;

/// A move, and for old paths their new URLs; `-` for none. The expectations follow from the promise of the lists: a renamed file leads
/// to its new URL, every other old path to the same path below the new root, queries survive, and no rule leads to itself.
const MOVES: [(&str, &[(&str, &str)]); 4] = [
    (
        "--url https://a.example/old/ --to https://b.example/new/ --rename d.html=e.html --rename s.html=ü$1;x.html",
        &[
            ("/old/d.html", "https://b.example/new/e.html"),
            (
                "/old/d.html?q=1&r=%20",
                "https://b.example/new/e.html?q=1&r=%20",
            ),
            (
                "/old/s.html?q",
                "https://b.example/new/%C3%BC%241%3Bx.html?q",
            ),
            ("/old/x/y.html?q", "https://b.example/new/x/y.html?q"),
            ("/old/", "https://b.example/new/"),
            ("/other.html", "-"),
            ("/old", "-"),
        ],
    ),
    (
        "--url https://a.example/ --to https://a.example/sub/ --rename d.html=e.html",
        &[
            ("/d.html", "/sub/e.html"),
            ("/", "/sub/"),
            ("/?q", "/sub/?q"),
            ("/x/y?q=/sub/", "/sub/x/y?q=/sub/"),
            ("/subway", "/sub/subway"),
            ("/sub/", "-"),
            ("/sub", "-"),
            ("/sub?q", "-"),
            ("/sub/e.html?q", "-"),
            ("/sub/d.html", "-"),
        ],
    ),
    // Apache matches the decoded path, so a rule that excluded the encoded one redirected without end (bug 715).
    (
        "--url https://a.example/ --to https://a.example/s%C3%BC(1)/",
        &[
            ("/d.html", "/s%C3%BC(1)/d.html"),
            ("/s%C3%BC(1)/d.html", "-"),
        ],
    ),
    (
        "--rename d.html=e.html",
        &[
            ("/d.html?q", "/e.html?q"),
            ("/e.html", "-"),
            ("/s.html", "-"),
        ],
    ),
];

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// A port of this machine that is free.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a server in `folder`, with these arguments.
fn start(program: &str, arguments: &[&str], folder: &Path, port: u16) -> Server {
    let server = Server(
        Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .spawn()
            .unwrap(),
    );
    for _ in 0..200 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return server;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("{program} does not answer");
}

/// The `Location` of the answer to a request of `path`, without the origin of the server.
fn location(port: u16, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    let is_redirect = answer.lines().next().unwrap().contains(" 301 ");
    let own = format!("http://127.0.0.1:{port}");
    let found = answer
        .lines()
        .find_map(|line| line.strip_prefix("Location: "))
        .map_or("-", |url| url.strip_prefix(&own).unwrap_or(url));
    assert_eq!(is_redirect, found != "-", "{path}: {answer}");
    found.to_owned()
}

/// Writes the list called `name` for each move, lets `serve` start a server with it, and asks for each old path.
fn check(name: &str, serve: impl Fn(&Path, u16) -> Server) {
    for (arguments, expected) in MOVES {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path();
        fs::create_dir(here.join("w")).unwrap();
        for file in ["index.html", "d.html", "s.html"] {
            fs::write(here.join("w").join(file), "<p>").unwrap();
        }
        let line = format!("move -q {arguments} --redirects {name} -o o w");
        let mut baselink = Command::new(env!("CARGO_BIN_EXE_baselink"));
        let status = baselink.args(line.split(' ')).current_dir(here).status();
        assert!(status.unwrap().success(), "{line}");
        let port = free_port();
        let _server = serve(here, port);
        for (old, new) in expected {
            // Apache escapes the new path itself, in lower case.
            let found = location(port, old)
                .replace("%c3%bc", "%C3%BC")
                .replace("$1;x", "%241%3Bx");
            assert_eq!(found, *new, "{name}: {arguments}: {old}");
        }
    }
}

/// Starts nginx with these lines before and in its `server`.
fn nginx(here: &Path, port: u16, before: &str, inside: &str) -> Server {
    let text = format!(
        "daemon off; pid nginx.pid; error_log stderr crit;\nevents {{}}\nhttp {{ access_log off; {before}\n\
         server {{ listen 127.0.0.1:{port}; root {}/none; {inside} }} }}\n",
        here.display()
    );
    fs::write(here.join("nginx.conf"), text).unwrap();
    let prefix = here.to_str().unwrap();
    start("nginx", &["-p", prefix, "-c", "nginx.conf"], here, port)
}

#[test]
fn nginx_follows_the_rows_of_a_map() {
    if outside::is_server_installed("nginx") {
        check("r.map", |here, port| {
            let before = "map $request_uri $new { default ''; include r.map; }";
            nginx(here, port, before, "if ($new) { return 301 $new; }")
        });
    }
}

#[test]
fn nginx_follows_conditions_in_a_server() {
    if outside::is_server_installed("nginx") {
        check("r.conf", |here, port| {
            nginx(here, port, "", "include r.conf;")
        });
    }
}

#[test]
fn apache_follows_its_list() {
    if !outside::is_server_installed("apache2") {
        return;
    }
    check(".htaccess", |here, port| {
        let text = format!(
            "ServerRoot {0}\nServerName localhost\nPidFile {0}/apache.pid\nErrorLog {0}/error.log\nListen 127.0.0.1:{port}\n\
             LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so\n\
             LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\n\
             LoadModule alias_module /usr/lib/apache2/modules/mod_alias.so\n\
             DefaultRuntimeDir {0}\nUser nobody\nDocumentRoot {0}/o\nInclude {0}/.htaccess\n",
            here.display()
        );
        fs::write(here.join("apache.conf"), text).unwrap();
        let config = here.join("apache.conf");
        start(
            "apache2",
            &["-D", "FOREGROUND", "-f", config.to_str().unwrap()],
            here,
            port,
        )
    });
}

#[test]
fn caddy_follows_its_list() {
    if !outside::is_server_installed("caddy") {
        return;
    }
    check("moved.caddy", |here, port| {
        let text = format!(
            "{{\nadmin off\nauto_https off\nlog {{\noutput discard\n}}\n}}\nhttp://127.0.0.1:{port} {{\nimport moved.caddy\nrespond ok\n}}\n"
        );
        fs::write(here.join("C"), text).unwrap();
        let arguments = ["run", "--config", "C", "--adapter", "caddyfile"];
        start("caddy", &arguments, here, port)
    });
}
