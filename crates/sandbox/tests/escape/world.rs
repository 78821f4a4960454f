//! What an attempt runs in: folders with things to steal and to break, listeners, and a process to kill.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use setpoint_sandbox::linux::stage;
use setpoint_sandbox::{Access, Folder, Limits, Outer, Policy, Tier};
use tempfile::TempDir;

/// The user and group for what must not run as root.
pub(crate) const NOBODY: u32 = 65_534;
/// The user of the first attempt that must not run as root. Each attempt has its own, since the limit on processes counts
/// all of a user's: those of another test or of an attempt before would keep this one from being tried.
const FIRST_USER: u32 = 20_000;
/// Where programs are looked for.
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// Small enough to be reached at once.
pub(crate) const LIMITS: Limits = Limits {
    processes: 64,
    data_bytes: 256 << 20,
    file_bytes: 8 << 20,
    open_files: 128,
    scratch_bytes: 16 << 20,
};

/// The key under which attempts make something that all processes share, as decimal.
const SHARED_KEY: &str = "6189217";

/// How an attempt runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Without a sandbox: what it tries must work, or it proves nothing.
    Control,
    In(Tier),
    /// In the full tier, beside another sandbox.
    Beside(Outer),
}

/// Whether this process is root's.
pub(crate) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// A temporary world, gone at the end.
pub(crate) struct World {
    root: TempDir,
    mode: Mode,
    /// The user and group that it runs as, if not those of this process.
    user: Option<u32>,
    /// Held only by files outside and by another process.
    pub(crate) secret: String,
    listeners: Listeners,
    victim: Victim,
    /// Left open in programs that are started: a folder and a file outside.
    inherited: [OwnedFd; 2],
}

impl World {
    pub(crate) fn new(mode: Mode, number: usize) -> Self {
        let root = tempfile::Builder::new().prefix("escape").tempdir().unwrap();
        let at = root.path();
        fs::set_permissions(at, PermissionsExt::from_mode(0o755)).unwrap();
        let secret = format!("secret-{}-{number}-{}", std::process::id(), at.file_name().unwrap().display());
        for (file, text) in [
            ("work/kept.txt", "kept"),
            ("work/hidden/secret.txt", &secret),
            ("work/conf/.env", &secret),
            ("work/repo/hooks/run", "kept"),
            ("outside/target.txt", "kept"),
            ("outside/secret.txt", &secret),
            ("outside/dir/inner.txt", "kept"),
            ("home/.ssh/id_ed25519", &secret),
            ("home/.bashrc", "kept"),
            ("read/kept.txt", "kept"),
            ("read/dir/inner.txt", "kept"),
            ("keep/kept.txt", "kept"),
            ("keep/dir/inner.txt", "kept"),
            ("keep/hidden.txt", &secret),
            ("discard/kept.txt", "kept"),
            ("discard/dir/inner.txt", "kept"),
            ("layer/.kept", ""),
        ] {
            let path = at.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::remove_file(at.join("layer/.kept")).unwrap();
        let listeners = Listeners::new(at);
        let user = is_for_another_user(mode).then(|| FIRST_USER + u32::try_from(number).unwrap());
        if let Some(user) = user {
            give_away(at, user);
        }
        let victim = Victim::new(user, &secret);
        let open = |path: &str| {
            let file = File::options().read(true).write(!path.ends_with("dir")).open(at.join(path)).unwrap();
            let file = OwnedFd::from(file);
            rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
            file
        };
        let inherited = [open("outside/dir"), open("outside/target.txt")];
        World { mode, user, secret, listeners, victim, inherited, root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn policy(&self, tier: Tier) -> Policy {
        let folder = |name: &str, access| Folder { path: self.path(name), access };
        let mut folders = vec![folder("work", Access::Write), folder("read", Access::Read)];
        let mut hidden = Vec::new();
        if tier == Tier::Full {
            folders.push(folder("keep", Access::Keep { layer: self.path("layer") }));
            folders.push(folder("discard", Access::Discard));
            folders.push(folder("work/repo/hooks", Access::Read));
            hidden = ["work/hidden", "work/conf/.env", "keep/hidden.txt"].map(|name| self.path(name)).into();
        }
        Policy {
            folders,
            hidden,
            home: self.path("home"),
            cwd: self.path("work"),
            limits: LIMITS,
            beside: None,
        }
    }

    fn confined(&self, stage: &Path, tier: Tier, beside: Option<Outer>, program: &str) -> Command {
        let policy = Policy { beside, ..self.policy(tier) };
        let mut command = stage::command(stage, tier, &policy, "timeout".as_ref()).unwrap();
        command.args(["20", program]);
        command
    }

    /// Runs a program and returns what it printed. `stage` is this executable at a place that everybody can read.
    pub(crate) fn run(&self, stage: &Path, program: &str, args: &[String], mark: &str) -> String {
        let mut command = match self.mode {
            // Mounts that it makes are gone with it.
            Mode::Control if is_root() => {
                let mut command = Command::new("unshare");
                command.args(["--mount", "timeout", "20", program]);
                command
            }
            Mode::Control => {
                let mut command = Command::new("timeout");
                command.args(["20", program]);
                command
            }
            Mode::In(tier) => self.confined(stage, tier, None, program),
            Mode::Beside(other) => self.confined(stage, Tier::Full, Some(other), program),
        };
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        // A file, since a process that is left would keep a pipe open.
        let out = tempfile::tempfile().unwrap();
        let [folder, file] = &self.inherited;
        command
            .args(args)
            .env_clear()
            .env("PATH", PATH)
            .env("LANG", "C.UTF-8")
            .env("MARK", mark)
            .env("VICTIM", self.victim.child.id().to_string())
            .env("TCP", self.listeners.tcp.local_addr().unwrap().port().to_string())
            .env("UDP", self.listeners.udp.local_addr().unwrap().port().to_string())
            .env("ABSTRACT", self.listeners.name())
            .env("FOLDER_FD", folder.as_raw_fd().to_string())
            .env("FILE_FD", file.as_raw_fd().to_string());
        for (name, place) in [
            ("ROOT", ""),
            ("WORK", "work"),
            ("OUT", "outside"),
            ("HOME", "home"),
            ("READ", "read"),
            ("KEEP", "keep"),
            ("DISCARD", "discard"),
            ("LAYER", "layer"),
        ] {
            command.env(name, self.path(place));
        }
        command
            .current_dir(self.path("work"))
            .stdin(Stdio::null())
            .stdout(out.try_clone().unwrap())
            .stderr(out.try_clone().unwrap())
            .status()
            .unwrap();
        let mut out = out;
        std::io::Seek::rewind(&mut out).unwrap();
        let mut text = Vec::new();
        std::io::Read::read_to_end(&mut out, &mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Returns all that the policy does not let a program change: of each file its mode, owner, links, time, attribute
    /// and content.
    pub(crate) fn picture(&self) -> BTreeMap<PathBuf, String> {
        let mut picture = BTreeMap::new();
        for name in ["outside", "home", "read", "keep", "discard"] {
            add_to_picture(&self.path(name), &mut picture);
        }
        for kind in ["msg", "shm", "sem"] {
            let place = PathBuf::from(format!("/proc/sysvipc/{kind}"));
            let list = fs::read_to_string(&place).unwrap_or_default();
            let is_there = list.lines().any(|line| line.split_whitespace().next() == Some(SHARED_KEY));
            picture.insert(place, is_there.to_string());
        }
        // The partial tier offers no protection within a folder that may be changed.
        if self.mode != Mode::In(Tier::Partial) {
            for name in ["work/hidden", "work/conf/.env", "work/repo/hooks"] {
                add_to_picture(&self.path(name), &mut picture);
            }
        }
        picture
    }

    pub(crate) fn is_hit(&self) -> bool {
        self.listeners.are_hit()
    }

    pub(crate) fn is_victim_unharmed(&mut self) -> bool {
        self.victim.is_unharmed()
    }

    /// Whether a file in the working folder lends rights.
    pub(crate) fn has_set_id(&self) -> bool {
        let mut files = BTreeMap::new();
        add_to_picture(&self.path("work"), &mut files);
        files.keys().any(|path| {
            path.symlink_metadata().is_ok_and(|found| found.mode() & 0o6000 != 0 && found.is_file())
        })
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Else it could not be removed.
        let _ = fs::set_permissions(self.path("outside/dir"), PermissionsExt::from_mode(0o755));
        let lists = ["msg", "shm", "sem"].map(|kind| fs::read_to_string(format!("/proc/sysvipc/{kind}")));
        if lists.iter().flatten().any(|list| list.contains(SHARED_KEY)) {
            let key = ["-Q", "-M", "-S"].map(|flag| [flag, SHARED_KEY]).concat();
            let _ = Command::new("ipcrm").args(key).stderr(Stdio::null()).status();
        }
    }
}

/// Whether a run in this mode needs another user than this process has.
fn is_for_another_user(mode: Mode) -> bool {
    mode == Mode::In(Tier::Partial) && is_root()
}

fn give_away(path: &Path, user: u32) {
    lchown(path, Some(user), Some(user)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path(), user);
        }
    }
}

fn add_to_picture(path: &Path, picture: &mut BTreeMap<PathBuf, String>) {
    let Ok(found) = path.symlink_metadata() else { return };
    let content = if found.is_file() { fs::read(path).unwrap_or_default() } else { Vec::new() };
    let mut value = [0; 64];
    let attribute = rustix::fs::lgetxattr(path, "user.mark", &mut value).unwrap_or_default();
    let line = format!(
        "mode {:o} owner {}:{} links {} time {}.{} attribute {attribute} content {:?}",
        found.mode(),
        found.uid(),
        found.gid(),
        found.nlink(),
        found.mtime(),
        found.mtime_nsec(),
        String::from_utf8_lossy(&content),
    );
    picture.insert(path.to_path_buf(), line);
    // An attempt may have made a folder unreadable, which its own line tells.
    if let Ok(entries) = fs::read_dir(path) {
        for entry in entries {
            add_to_picture(&entry.unwrap().path(), picture);
        }
    }
}

/// Everything outside that a program could talk to.
struct Listeners {
    tcp: TcpListener,
    udp: UdpSocket,
    streams: Vec<UnixListener>,
    datagrams: UnixDatagram,
}

impl Listeners {
    fn new(at: &Path) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        let name = format!("setpoint-escape-{}", tcp.local_addr().unwrap().port());
        let hidden = SocketAddr::from_abstract_name(name).unwrap();
        let streams = vec![
            UnixListener::bind(at.join("outside/server")).unwrap(),
            UnixListener::bind(at.join("read/server")).unwrap(),
            UnixListener::bind(at.join("keep/server")).unwrap(),
            UnixListener::bind_addr(&hidden).unwrap(),
        ];
        let datagrams = UnixDatagram::bind(at.join("outside/datagrams")).unwrap();
        for stream in &streams {
            stream.set_nonblocking(true).unwrap();
        }
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        datagrams.set_nonblocking(true).unwrap();
        Listeners { tcp, udp, streams, datagrams }
    }

    fn name(&self) -> String {
        format!("setpoint-escape-{}", self.tcp.local_addr().unwrap().port())
    }

    /// On this machine a connection or a message has arrived when the call that sends it returns.
    fn are_hit(&self) -> bool {
        let mut room = [0; 16];
        self.tcp.accept().is_ok()
            || self.udp.recv(&mut room).is_ok()
            || self.datagrams.recv(&mut room).is_ok()
            || self.streams.iter().any(|stream| stream.accept().is_ok())
    }
}

/// A process outside, of the same user as the program in the sandbox. It gives back every line.
struct Victim {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    conditions: String,
}

impl Victim {
    fn new(user: Option<u32>, secret: &str) -> Self {
        let mut command = Command::new("cat");
        command.env("SECRET", secret).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let conditions = conditions(child.id());
        Victim { child, to, from, conditions }
    }

    /// A line that comes back shows that no signal is on its way to it.
    fn is_unharmed(&mut self) -> bool {
        let mut line = String::new();
        let is_alive = self.to.write_all(b"still there\n").is_ok()
            && self.from.read_line(&mut line).is_ok()
            && line == "still there\n";
        is_alive && conditions(self.child.id()) == self.conditions
    }
}

/// Returns the limits of a process and how it is scheduled.
fn conditions(pid: u32) -> String {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let nice = read("stat").rsplit_once(')').and_then(|(_, rest)| rest.split(' ').nth(17).map(str::to_owned));
    let allowed = read("status").lines().find(|line| line.starts_with("Cpus_allowed:")).map(str::to_owned);
    format!("{}{nice:?}{allowed:?}{}", read("limits"), read("oom_score_adj"))
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
