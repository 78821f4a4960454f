//! A small process that outlives this one by a moment: when this program dies, however it dies, it ends the programs that
//! calls were running.
//!
//! It is a shell that reads a pipe whose other end only this process holds. It is told when a call begins and ends; the
//! pipe's end tells it that nobody is left to end the calls. That needs no unsafe code and works where there is neither
//! a parent death signal nor a PID namespace.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::MARK;

/// What the warden does. `add` and `end` lines come in; at the end of the input, what was added and not ended is ended:
/// groups first by TERM and then by KILL, then whatever still carries a call's mark.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM PIPE
live=
while IFS=' ' read -r word call group; do
  others=
  for one in $live; do
    case $one in "$call":*) ;; *) others="$others $one" ;; esac
  done
  live=$others
  case $word in add) live="$live $call:$group" ;; esac
done
signal() {
  for one in $live; do
    case ${one##*:} in 0|1) ;; *) kill -s "$1" -- "-${one##*:}" 2>/dev/null ;; esac
  done
}
[ -n "$live" ] || exit 0
signal TERM
sleep 0.3
round=0
while [ "$round" -lt 20 ]; do
  signal KILL
  found=
  for one in $live; do
    for file in $(grep -lF -e "$MARK=${one%%:*}" /proc/[0-9]*/environ 2>/dev/null); do
      pid=${file#/proc/}
      kill -s KILL "${pid%%/*}" 2>/dev/null && found=1
    done
  done
  [ -n "$found" ] || exit 0
  sleep 0.05
  round=$((round + 1))
done
"#;

/// Keeps the warden process and tells it what runs. Started with the first call; replaced when somebody killed it.
#[derive(Debug, Default)]
pub(crate) struct Warden {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<(Child, ChildStdin)>,
    live: BTreeMap<String, i32>,
}

/// A call that the warden knows of; dropping this tells it that the call is over.
#[derive(Debug)]
pub(super) struct Guarded {
    warden: Arc<Warden>,
    call: String,
}

impl Warden {
    /// Announces a call, before its process is started.
    pub(super) fn announce(self: &Arc<Self>, call: &str) -> Guarded {
        self.add(call, 0);
        Guarded { warden: Arc::clone(self), call: call.to_owned() }
    }

    fn add(&self, call: &str, group: i32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.live.insert(call.to_owned(), group);
        state.tell(&format!("add {call} {group}\n"));
    }
}

impl Guarded {
    /// Says which group the call runs in.
    pub(super) fn runs_in(&self, group: i32) {
        self.warden.add(&self.call, group);
    }
}

impl State {
    /// Tells the warden, starting it when there is none. Without a warden calls still run: it is the last of three nets.
    fn tell(&mut self, line: &str) {
        if let Some((_, input)) = &mut self.process
            && input.write_all(line.as_bytes()).is_ok()
        {
            return;
        }
        if let Some((mut child, _)) = self.process.take() {
            drop(child.wait());
        }
        let Ok((child, mut input)) = start() else { return };
        for (call, group) in &self.live {
            drop(input.write_all(format!("add {call} {group}\n").as_bytes()));
        }
        self.process = Some((child, input));
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let mut state = self.warden.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.live.remove(&self.call).is_some() {
            let line = format!("end {} 0\n", self.call);
            state.tell(&line);
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some((mut child, input)) = self.process.take() {
            drop(input);
            // With nothing left to guard it ends at once; otherwise it has work to do and is not waited for.
            if self.live.is_empty() {
                drop(child.wait());
            }
        }
    }
}

fn start() -> std::io::Result<(Child, ChildStdin)> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "setpoint-warden"])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("MARK", MARK)
        .current_dir(Path::new("/"))
        // Out of the terminal's group, so that a Ctrl-C for this program does not end the one that tidies up after it.
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    match child.stdin.take() {
        Some(input) => Ok((child, input)),
        None => Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe)),
    }
}
