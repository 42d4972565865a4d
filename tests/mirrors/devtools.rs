//! Control of Chromium by the DevTools protocol (<https://chromedevtools.github.io/devtools-protocol/>): JSON messages
//! over a pipe, each followed by NUL.
//!
//! ```text
//! {"id": 1, "method": "Page.navigate", …}  -->  {"id": 1, "result": {…}}, {"method": "Page.loadEventFired", …}
//! ```
//!
//! Deliberately absent: the network. Every host is unknown, so requests to hosts fail at once and are recorded, unless
//! the test answers them itself ([`Browser::answer`]).

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The maximum time for one answer of Chromium.
const LONGEST: Duration = Duration::from_secs(300);

/// The response of a server to the request for a URL: a media type and a body, or `None` if the resource does not
/// exist.
pub(crate) type Server = fn(&str) -> Option<(&'static str, Vec<u8>)>;

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: String,
    server: Option<Server>,
    _profile: TempDir,
}

/// Observations on a page while it loads.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// The requests, each with the reason if it failed.
    pub(crate) requests: Vec<(String, Option<String>)>,
    /// The URLs that scripts requested, and the URLs requested by documents that scripts requested.
    pub(crate) by_scripts: HashSet<String>,
}

impl Browser {
    /// Starts the browser; `None` if Chromium is absent.
    pub(crate) fn start() -> Option<Self> {
        let program = crate::outside::chromium()?;
        let profile = tempfile::tempdir().unwrap();
        let mut folder = std::ffi::OsString::from("--user-data-dir=");
        folder.push(profile.path());
        // Chromium reads from the descriptor 3 and writes to 4.
        let mut child = Command::new("sh")
            .args([
                "-c",
                r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null"#,
            ])
            .arg(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args([
                "--host-resolver-rules=MAP * ~NOTFOUND",
                "--remote-debugging-pipe",
            ])
            .arg(folder)
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let messages = BufReader::new(child.stdout.take().unwrap()).split(0);
        let (sender, from) = channel();
        thread::spawn(move || {
            for message in messages.map_while(Result::ok) {
                if sender
                    .send(serde_json::from_slice(&message).unwrap())
                    .is_err()
                {
                    break;
                }
            }
        });
        let session = String::new();
        let mut browser = Self {
            child,
            to,
            from,
            last: 0,
            session,
            server: None,
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", &json!({"url": "about:blank"}));
        let target = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", &target);
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page.enable", "Network.enable"] {
            browser.ask(domain, &json!({}));
        }
        Some(browser)
    }

    fn send(&mut self, method: &str, params: &Value) -> u64 {
        let session = self.session.clone();
        self.send_to(&session, method, params)
    }

    fn send_to(&mut self, session: &str, method: &str, params: &Value) -> u64 {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        write!(self.to, "{message}\0").unwrap();
        self.last
    }

    fn next(&mut self) -> Value {
        self.from
            .recv_timeout(LONGEST)
            .expect("Chromium gives no answer")
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        loop {
            let mut message = self.next();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
        }
    }

    /// Opens `url`, and waits until all its resources are loaded or have failed. That includes resources of style
    /// sheets, which may be requested as late as during rendering.
    pub(crate) fn open(&mut self, url: &str) -> Seen {
        self.open_for(url, None)
    }

    /// Opens `url`, and waits at most `longest`, because scripts of real pages may send requests forever.
    pub(crate) fn open_for(&mut self, url: &str, longest: Option<Duration>) -> Seen {
        let started = Instant::now();
        self.ask("Page.navigate", &json!({"url": "about:blank"}));
        let id = self.send("Page.navigate", &json!({"url": url}));
        // The index in `seen.requests` of each request without an answer.
        let (mut seen, mut open) = (Seen::default(), HashMap::new());
        let (mut is_asked, mut is_loaded) = (false, false);
        // The command that draws the page, and the number of requests at that time.
        let mut drawn: Option<(u64, usize)> = None;
        loop {
            if is_loaded && open.is_empty() && drawn.is_none() {
                // A screenshot makes the browser draw the page without a script.
                let picture = json!({"format": "jpeg", "quality": 1});
                drawn = Some((
                    self.send("Page.captureScreenshot", &picture),
                    seen.requests.len(),
                ));
            }
            let message = match longest {
                None => self.next(),
                Some(longest) => {
                    let remaining = longest.saturating_sub(started.elapsed());
                    let Ok(message) = self.from.recv_timeout(remaining) else {
                        break;
                    };
                    message
                }
            };
            is_asked |= message["id"] == id;
            if let Some((_, count)) = drawn.filter(|(id, _)| message["id"] == *id) {
                if open.is_empty() && count == seen.requests.len() {
                    break;
                }
                drawn = None;
            }
            let params = &message["params"];
            let key = params["requestId"].as_str().unwrap_or_default().to_owned();
            match message["method"].as_str().unwrap_or_default() {
                "Page.loadEventFired" => is_loaded = is_asked,
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap().to_owned();
                    if url.starts_with("data:") || url == "about:blank" {
                        continue;
                    }
                    open.insert(key, seen.requests.len());
                    let document = params["documentURL"].as_str().unwrap_or_default();
                    if params["initiator"]["type"] == "script" || seen.by_scripts.contains(document)
                    {
                        seen.by_scripts.insert(url.clone());
                    }
                    seen.requests.push((url, None));
                }
                "Network.responseReceived" => {
                    let response = &params["response"];
                    let is_page = response["mimeType"] == "text/html";
                    let failure = match response["status"].as_u64() {
                        Some(status @ 400..) => Some(status.to_string()),
                        // For a missing picture, crawlers save the error page.
                        _ if is_page && params["type"] == "Image" => Some("not a picture".into()),
                        _ => None,
                    };
                    if let Some(number) = open.get(&key) {
                        seen.requests[*number].1 = failure;
                    }
                }
                "Fetch.requestPaused" => {
                    self.fulfill(message["sessionId"].as_str().unwrap(), &key, params);
                }
                "Target.attachedToTarget" => self.watch(params["sessionId"].as_str().unwrap()),
                "Network.loadingFinished" => drop(open.remove(&key)),
                "Network.loadingFailed" => {
                    if let Some(number) = open.remove(&key) {
                        seen.requests[number].1 = Some(params["errorText"].to_string());
                    }
                }
                _ => {}
            }
        }
        seen
    }

    /// Lets `server` answer network requests from now on.
    pub(crate) fn answer(&mut self, server: Server) {
        self.server = Some(server);
        self.ask(
            "Fetch.enable",
            &json!({"patterns": [{"urlPattern": "http*"}]}),
        );
        // In a page on disk, a frame from the network has a session of its own.
        let params = json!({"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true});
        self.ask("Target.setAutoAttach", &params);
    }

    /// Observes the requests of the frame with this session, and lets it continue.
    fn watch(&mut self, session: &str) {
        self.send_to(session, "Network.enable", &json!({}));
        let patterns = json!({"patterns": [{"urlPattern": "http*"}]});
        self.send_to(session, "Fetch.enable", &patterns);
        self.send_to(session, "Runtime.runIfWaitingForDebugger", &json!({}));
    }

    /// Answers a paused request with the response of the server, or with 404.
    fn fulfill(&mut self, session: &str, key: &str, params: &Value) {
        let url = params["request"]["url"].as_str().unwrap();
        let answer = self.server.and_then(|server| server(url));
        let status = if answer.is_some() { 200 } else { 404 };
        let (media_type, body) = answer.unwrap_or(("text/plain", Vec::new()));
        let answer = json!({
            "requestId": key,
            "responseCode": status,
            "responseHeaders": [
                {"name": "Content-Type", "value": media_type},
                // A page on disk has its own origin, and Chromium loads fonts from other origins only with this field.
                {"name": "Access-Control-Allow-Origin", "value": "*"},
            ],
            "body": STANDARD.encode(body),
        });
        self.send_to(session, "Fetch.fulfillRequest", &answer);
    }

    /// Sets the width and the color scheme (light or dark) of pages.
    pub(crate) fn screen(&mut self, width: u32, scheme: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.ask("Emulation.setEmulatedMedia", &json!({"features": features}));
    }

    /// A screenshot of the page as PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let picture = self.ask("Page.captureScreenshot", &json!({"format": "png"}));
        STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// Disables scripts in pages.
    pub(crate) fn without_scripts(&mut self) {
        self.ask(
            "Emulation.setScriptExecutionDisabled",
            &json!({"value": true}),
        );
    }

    /// The value of a JavaScript expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let mut answer = self.ask("Runtime.evaluate", &params);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].take()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The `file` URL of `path`, which is absolute (RFC 8089).
pub(crate) fn file_url(path: &Path) -> String {
    url::Url::from_file_path(path).unwrap().into()
}

/// The path that a `file` URL means.
pub(crate) fn file_of(url: &str) -> PathBuf {
    url::Url::parse(url).unwrap().to_file_path().unwrap()
}
