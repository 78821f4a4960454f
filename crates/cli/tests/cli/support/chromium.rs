//! A real browser without a window, controlled by the DevTools protocol over two pipes.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The longest silence of the browser while a message is expected. No test takes a hundredth of it, so only a
/// hanging browser fails.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// Chromium reads commands from its file 3 and writes to its file 4; the script makes those its stdin and
/// stdout.
const PIPES: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;

/// A browser with one empty tab. Dropping it kills it with all that it started.
pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    commands: u64,
    /// All events since [`Browser::open`].
    events: Vec<Value>,
    session: Option<String>,
    _profile: TempDir,
}

/// The screen and preferences with which a page is viewed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// `light` or `dark`.
    pub(crate) scheme: &'static str,
}

impl Browser {
    /// Starts a browser.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        let folder = format!("--user-data-dir={}", profile.path().display());
        // Root in a container may not create the sandbox; the page is one that this test wrote.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        let quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update"];
        let mut child = Command::new("sh")
            .args(["-c", PIPES, "sh", "chromium", "--remote-debugging-pipe", &folder])
            .args(arguments)
            .args(quiet)
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let messages = listen(child.stdout.take().unwrap());
        let mut browser =
            Browser { child, input, messages, commands: 0, events: vec![], session: None, _profile: profile };
        let target = browser.command("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.command("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.command(&format!("{domain}.enable"), json!({}));
        }
        let offline =
            json!({ "offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0 });
        browser.command("Network.emulateNetworkConditions", offline);
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, path: &Path, screen: Screen) {
        let Screen { width, height, scheme } = screen;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.command("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.command("Emulation.setEmulatedMedia", features);
        self.events.clear();
        let came = self.command("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        assert!(came.get("errorText").is_none(), "{came}");
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.hear();
            self.events.push(event);
        }
    }

    /// Returns the value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let came = self.command("Runtime.evaluate", parameters);
        assert!(came.get("exceptionDetails").is_none(), "{came}");
        came["result"]["value"].clone()
    }

    /// Returns the addresses requested since the page was opened.
    pub(crate) fn requests(&self) -> Vec<&str> {
        self.parameters("Network.requestWillBeSent")
            .filter_map(|event| event["request"]["url"].as_str())
            .collect()
    }

    /// Returns errors and warnings of the page or the browser since it was opened.
    pub(crate) fn complaints(&self) -> Vec<&Value> {
        let kinds = [
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Network.loadingFailed",
        ];
        kinds.into_iter().flat_map(|kind| self.parameters(kind)).collect()
    }

    fn parameters<'b>(&'b self, method: &'b str) -> impl Iterator<Item = &'b Value> {
        self.events.iter().filter(move |event| event["method"] == method).map(|event| &event["params"])
    }

    fn command(&mut self, method: &str, parameters: Value) -> Value {
        self.commands += 1;
        let mut command = json!({ "id": self.commands, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = session.as_str().into();
        }
        let mut bytes = serde_json::to_vec(&command).unwrap();
        bytes.push(0);
        self.input
            .write_all(&bytes)
            .and_then(|()| self.input.flush())
            .unwrap_or_else(|error| gone(&error.to_string()));
        loop {
            let mut message = self.hear();
            if message["id"] == self.commands {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn hear(&mut self) -> Value {
        self.messages.recv_timeout(SILENCE_MAX).unwrap_or_else(|error| gone(&error.to_string()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // The process may have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
        drop(self.child.wait());
    }
}

fn gone(error: &str) -> ! {
    panic!("`chromium` does not answer ({error}); `cargo xtask test` installs it, or says what to install")
}

/// Sends the browser's messages as they arrive; each ends with a zero byte.
fn listen(output: ChildStdout) -> Receiver<Value> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for message in BufReader::new(output).split(0) {
            let Ok(bytes) = message else { return };
            let message = serde_json::from_slice(&bytes).unwrap();
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    receiver
}
