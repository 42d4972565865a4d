"""Saves the site in tests/mirrors/site with every installed program, for `BASELINK_SAVES=FOLDER cargo test --test mirrors saved`.

    python3 tests/mirrors/save.py FOLDER

Chromium saves through its dialog, which requires Xvfb, openbox and xdotool. Firefox saves through Marionette, with the
function that its dialog calls. SingleFile is `single-file` on the path. All requests go to the loopback interface.
"""

import functools
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
HOST = "www.example.net"
PAGES = ["letters/page.html", "guide/based.html", "guide/absolute.html"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Site(http.server.SimpleHTTPRequestHandler):
    """Serves the site, both as its server and as a proxy."""

    def send_head(self):
        url = urllib.parse.urlsplit(self.path)
        if (url.netloc or self.headers.get("Host", "")).split(":")[0] != HOST:
            self.send_error(404)
            return None
        self.path = url.path
        return super().send_head()

    def guess_type(self, path):
        return super().guess_type(path) if "." in os.path.basename(path) else "text/html"

    def log_message(self, *_):
        pass


def chromium(folder, port):
    """Types Ctrl+S and a name, and clicks "Save" in the dialog, which fills the screen."""
    display = ":93"
    screen = subprocess.Popen(["Xvfb", display, "-screen", "0", "1280x900x24"], **QUIET)
    env = dict(os.environ, DISPLAY=display)
    time.sleep(1)
    manager = subprocess.Popen(["openbox"], env=env, **QUIET)

    def press(*words):
        subprocess.run(["xdotool", *words], env=env, check=True)
        time.sleep(1)

    with tempfile.TemporaryDirectory() as profile:
        os.mkdir(os.path.join(profile, "Default"))
        with open(os.path.join(profile, "Default", "Preferences"), "w") as preferences:
            json.dump({"savefile": {"type": 1, "default_directory": folder}}, preferences)
        program = subprocess.Popen(
            ["chromium", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--password-store=basic", "--lang=en-US",
             "--window-size=1200,850", f"--user-data-dir={profile}",
             f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{port}, MAP * ~NOTFOUND", "about:blank"],
            env=env, **QUIET)
        time.sleep(8)
        for page in PAGES:
            press("key", "ctrl+l")
            press("type", "--delay", "15", f"http://{HOST}/{page}")
            press("key", "Return")
            time.sleep(4)
            press("key", "ctrl+s")
            time.sleep(2)
            press("key", "ctrl+a")
            press("type", "--delay", "30", os.path.basename(page))
            press("mousemove", "1122", "829", "click", "1")
            time.sleep(4)
        program.terminate()
        program.wait()
    for child in (manager, screen):
        child.terminate()
        child.wait()


# The steps of saveBrowser in toolkit/content/contentAreaUtils.js after a file is chosen.
INTERNAL_SAVE = """
const [path, done] = arguments;
const file = Components.classes["@mozilla.org/file/local;1"].createInstance(Components.interfaces.nsIFile);
file.initWithPath(path);
const browser = gBrowser.selectedBrowser;
browser.frameLoader.startPersistence(null, {
  onDocumentReady(page) {
    internalSave(page.documentURI, null, page, null, page.contentDisposition, page.contentType, false, null,
      {file, uri: browser.currentURI}, page.referrerInfo, page.cookieJarSettings, page, true, page.cacheKey,
      undefined, undefined, () => done("saved"));
  },
  onError(why) { done("error " + why); },
});
"""


def firefox(folder, port):
    """Saves through Marionette, whose messages are `LENGTH:[0, number, command, arguments]` over TCP."""
    marionette = 12893
    preferences = {"network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": port,
                   "marionette.port": marionette, "remote.prefs.recommended": True}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with open(os.path.join(profile, "user.js"), "w") as lines:
            lines.writelines(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in preferences.items())
        program = subprocess.Popen(
            ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile],
            **QUIET)
        for _ in range(60):
            try:
                stream = socket.create_connection(("127.0.0.1", marionette)).makefile("rwb")
                break
            except OSError:
                time.sleep(1)

        def answer():
            length = b""
            while not length.endswith(b":"):
                length += stream.read(1)
            return json.loads(stream.read(int(length[:-1])))

        def ask(command, **arguments):
            message = json.dumps([0, 1, command, arguments]).encode()
            stream.write(b"%d:%s" % (len(message), message))
            stream.flush()
            _, _, error, result = answer()
            assert error is None, error
            return result

        answer()
        ask("WebDriver:NewSession")
        for page in PAGES:
            ask("Marionette:SetContext", value="content")
            ask("WebDriver:Navigate", url=f"http://{HOST}/{page}")
            ask("Marionette:SetContext", value="chrome")
            path = os.path.join(folder, os.path.basename(page))
            ask("WebDriver:ExecuteAsyncScript", script=INTERNAL_SAVE, args=[path])
        program.terminate()
        program.wait()


def singlefile(folder, port):
    rules = f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{port}"
    for page in PAGES:
        subprocess.run(
            ["single-file", "--browser-executable-path=" + shutil.which("chromium"),
             "--browser-args=" + json.dumps(["--no-sandbox", "--disable-gpu", rules]),
             f"http://{HOST}/{page}", os.path.basename(page)], cwd=folder, check=True)


def wget(words, pages, folder, port):
    env = dict(os.environ, http_proxy=f"http://127.0.0.1:{port}", no_proxy="")
    for page in pages:
        # Status 8 means that the server lacked some files, which is expected.
        subprocess.run(["wget", "-q", *words, f"http://{HOST}/{page}"], cwd=folder, env=env)


def httrack(folder, port):
    subprocess.run(["httrack", f"http://{HOST}/", "-P", f"127.0.0.1:{port}", "-q", "-O", "."], cwd=folder, **QUIET)


PRODUCERS = {
    "chromium": chromium,
    "firefox": firefox,
    "singlefile": singlefile,
    "wget": functools.partial(wget, ["-E", "-k", "-p"], PAGES),
    "wget-kp": functools.partial(wget, ["-k", "-p"], PAGES),
    "wget-r": functools.partial(wget, ["-r", "-l3", "-k", "-E"], [""]),
    "httrack": httrack,
}


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Site, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, save in PRODUCERS.items():
        folder = os.path.join(os.path.abspath(sys.argv[1]), name)
        os.makedirs(folder, exist_ok=True)
        try:
            save(folder, server.server_port)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"{name}: {error}")
        print(f"{name}: {sum(len(files) for _, _, files in os.walk(folder))} files")


main()
