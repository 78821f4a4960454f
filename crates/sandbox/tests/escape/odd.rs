//! Policies, paths, links and descriptors that are not as usual.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use setpoint_sandbox::linux::stage::{self, EXIT_NOT_FOUND, EXIT_NOT_MADE, EXIT_NOT_STARTED};
use setpoint_sandbox::{Access, Folder, Limits, Policy, Tier};
use tempfile::TempDir;

use crate::corpus::{Stage, as_nobody, missing, skip};

/// A temporary place with a folder `work`.
pub(crate) struct Room(TempDir);

impl Room {
    pub(crate) fn new() -> Self {
        let room = Room(tempfile::Builder::new().prefix("room").tempdir().unwrap());
        fs::set_permissions(room.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        for file in ["work/kept.txt", "outside/kept.txt", "layer/.kept"] {
            fs::create_dir_all(room.path(file).parent().unwrap()).unwrap();
            fs::write(room.path(file), "kept").unwrap();
        }
        fs::remove_file(room.path("layer/.kept")).unwrap();
        room
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns what the environment of a run in this place holds.
    pub(crate) fn mark(&self) -> String {
        format!("mark-{}", self.0.path().display())
    }

    /// Returns a policy for folders in this place; programs start in the first.
    pub(crate) fn policy(&self, folders: Vec<(&str, Access)>) -> Policy {
        Self::policy_at(self.0.path(), folders)
    }

    pub(crate) fn policy_at(at: &Path, folders: Vec<(&str, Access)>) -> Policy {
        let folder = |(name, access): (&str, Access)| Folder { path: at.join(name), access };
        let folders: Vec<Folder> = folders.into_iter().map(folder).collect();
        let cwd = folders.first().map(|one| one.path.clone()).unwrap_or_default();
        Policy {
            folders,
            hidden: Vec::new(),
            home: at.join("home"),
            cwd,
            limits: Limits::default(),
            beside: None,
        }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| error.to_string())
    }
}

/// A check with a fresh place; it returns what went wrong.
type Check = fn(&Path, &Room) -> Result<(), String>;

pub(crate) fn run() -> Vec<String> {
    let stage = Stage::new();
    let mut wrong = Vec::new();
    let full: &[(&str, Check)] = &[
        ("odd names", odd_names),
        ("a name that is not Unicode", not_unicode),
        ("a folder that is a link", folder_that_is_a_link),
        ("folders of the system", system_folders),
        ("a folder that is missing", missing_folder),
        ("a layer that cannot be used", bad_layer),
        ("a layer that is removed", layer_is_removable),
        ("programs that do not start", not_started),
        ("closed streams", closed_streams),
        ("many descriptors", many_descriptors),
        ("a hidden place that is a link", hidden_link),
        ("a parent that is a link", linked_parent),
        ("a folder that is a link to outside", linked_inner_folder),
        ("standard input from outside", input_from_outside),
        ("a home in a folder", home_in_folder),
        ("a caller that has ended", ended_caller),
    ];
    match missing(Tier::Full, &stage.path()) {
        Some(why) => skip(Tier::Full, &why),
        None => wrong.extend(failures(full, &stage)),
    }
    match missing(Tier::Partial, &stage.path()) {
        Some(why) => skip(Tier::Partial, &why),
        None => wrong.extend(failures(&[("what the partial tier refuses", partial_refuses)], &stage)),
    }
    wrong
}

fn failures(checks: &[(&str, Check)], stage: &Stage) -> Vec<String> {
    let one = |(name, check): &(&str, Check)| {
        Some(format!("{name}: {}", check(&stage.path(), &Room::new()).err()?))
    };
    checks.iter().filter_map(one).collect()
}

fn output(stage: &Path, policy: &Policy, script: &str) -> Output {
    let mut command = stage::command(stage, Tier::Full, policy, "bash".as_ref()).unwrap();
    command.args(["-c", script]).stdin(Stdio::null()).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn ensure(is_right: bool, what: impl std::fmt::Display) -> Result<(), String> {
    if is_right { Ok(()) } else { Err(what.to_string()) }
}

fn odd_names(stage: &Path, room: &Room) -> Result<(), String> {
    let names = ["new\nline", "a:b", "a,b", "back\\slash", "sp ace", "ä", "*", "a\\:b,c=d", "'\"$x`", "-rf"];
    for (n, name) in names.into_iter().enumerate() {
        let (layer, changes) = (format!("{name} layer"), format!("{name} layer/changes/kept.txt"));
        for access in
            [Access::Keep { layer: room.path(&layer) }, Access::Discard, Access::Read, Access::Write]
        {
            let file = format!("{name}/kept.txt");
            for folder in [name, &layer] {
                fs::create_dir_all(room.path(folder)).unwrap();
            }
            fs::write(room.path(&file), "kept").unwrap();
            let policy = room.policy(vec![(name, access.clone())]);
            let said = text(&output(stage, &policy, "cat kept.txt && echo new > kept.txt; cat kept.txt"));
            let is_seen = access == Access::Read || said == "keptnew\n";
            let original = if access == Access::Write { "new\n" } else { "kept" };
            let is_right = said.starts_with("kept") && is_seen && room.read(&file) == original;
            ensure(is_right, format!("{n} {name:?} {access:?}: {said}"))?;
            if let Access::Keep { .. } = access {
                ensure(room.read(&changes) == "new\n", format!("{name:?}: {}", room.read(&changes)))?;
            }
        }
    }
    Ok(())
}

fn not_unicode(stage: &Path, room: &Room) -> Result<(), String> {
    let mut policy = room.policy(vec![("work", Access::Read)]);
    policy.hidden = vec![room.path("work").join(OsStr::from_bytes(b"\xff"))];
    ensure(stage::command(stage, Tier::Full, &policy, "true".as_ref()).is_err(), "it is accepted")
}

fn folder_that_is_a_link(stage: &Path, room: &Room) -> Result<(), String> {
    symlink(room.path("work"), room.path("link")).unwrap();
    symlink(room.path(""), room.path("up")).unwrap();
    for (name, access) in [
        ("link", Access::Read),
        ("link", Access::Keep { layer: room.path("layer") }),
        ("up/work", Access::Discard),
        ("up/link", Access::Write),
    ] {
        let said = text(&output(
            stage,
            &room.policy(vec![(name, access.clone())]),
            "cat kept.txt && pwd && echo new > new.txt",
        ));
        let place = room.path(name);
        ensure(
            said.starts_with(&format!("kept{}\n", place.display())),
            format!("{name} {access:?}: {said}"),
        )?;
    }
    ensure(room.read("work/new.txt") == "new\n", "a change in a folder to be changed is lost")
}

fn system_folders(stage: &Path, room: &Room) -> Result<(), String> {
    // `/dev/shm` and often `/home` are mounts themselves; in the first, temporary files would else lie.
    for name in ["/dev/shm", "/etc/ssl", "/home", "/usr/share", "/var", "/tmp"] {
        let Ok(mut there) = fs::read_dir(name) else { continue };
        let there = there.next().is_some();
        for access in [Access::Read, Access::Discard] {
            // The place lies below the folder for temporary files, so the folder's own name is not free.
            let mut policy = room.policy(vec![(name, access.clone())]);
            policy.home = "/home/ada/none/at/all".into();
            let test = if there { "ls -A | grep -q ." } else { "true" };
            let output = output(stage, &policy, &format!("{test} && pwd"));
            let said = text(&output);
            // A folder that holds other mounts cannot be shown as it is; that must be said.
            let is_refused = said.starts_with(stage::NOT_MADE) && said.contains("folder of the policy");
            ensure(said == format!("{name}\n") || is_refused, format!("{access:?} {said}"))?;
        }
    }
    Ok(())
}

fn is_not_made(output: &Output, why: &str) -> Result<(), String> {
    let said = text(output);
    let code = output.status.code();
    let is_right =
        code == Some(EXIT_NOT_MADE.into()) && said.starts_with(stage::NOT_MADE) && said.contains(why);
    ensure(is_right, format!("{code:?} {said}"))
}

fn missing_folder(stage: &Path, room: &Room) -> Result<(), String> {
    for access in [Access::Read, Access::Write, Access::Discard, Access::Keep { layer: room.path("layer") }] {
        is_not_made(&output(stage, &room.policy(vec![("none", access)]), "true"), "No such file")?;
    }
    let file = room.policy(vec![("work/kept.txt", Access::Read)]);
    is_not_made(&output(stage, &file, "true"), "Not a directory")?;
    let mut policy = room.policy(vec![("work", Access::Read)]);
    policy.cwd = room.path("work/none");
    is_not_made(&output(stage, &policy, "true"), "enter its working directory")
}

fn bad_layer(stage: &Path, room: &Room) -> Result<(), String> {
    for layer in [room.path("none"), room.path("outside/kept.txt"), "/proc".into(), "/sys".into()] {
        let policy = room.policy(vec![("work", Access::Keep { layer })]);
        is_not_made(&output(stage, &policy, "true"), "show it a folder of the policy")?;
    }
    let policy = room.policy(vec![("work", Access::Keep { layer: room.path("work/kept") })]);
    is_not_made(&output(stage, &policy, "true"), "lies in a folder of the sandbox")
}

fn layer_is_removable(stage: &Path, room: &Room) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let policy = room.policy(vec![("work", Access::Keep { layer: room.path("layer") })]);
    let said = text(&output(stage, &policy, "rm kept.txt; mkdir -p a/b; mv a c; ls"));
    ensure(said == "c\n", said)?;
    // Root can remove what its mode does not let its owner remove.
    let mode = fs::metadata(room.path("layer/work/work")).unwrap().mode() & 0o777;
    ensure(mode == 0o700, format!("mode {mode:o}"))?;
    fs::remove_dir_all(room.path("layer")).map_err(|error| error.to_string())
}

fn not_started(stage: &Path, room: &Room) -> Result<(), String> {
    fs::write(room.path("work/text"), "text").unwrap();
    let policy = room.policy(vec![("work", Access::Read)]);
    for (program, code) in [
        ("none-such", EXIT_NOT_FOUND),
        ("/none/such", EXIT_NOT_FOUND),
        ("./text", EXIT_NOT_STARTED),
        ("/usr", EXIT_NOT_STARTED),
    ] {
        let output = stage::command(stage, Tier::Full, &policy, program.as_ref()).unwrap().output().unwrap();
        let said = text(&output);
        let is_right = output.status.code() == Some(code.into()) && !said.starts_with(stage::NOT_MADE);
        ensure(is_right, format!("{program}: {} {said}", output.status))?;
    }
    Ok(())
}

/// Returns the command, started by a shell that first does something with its streams.
fn after(first: &str, command: &Command) -> Command {
    let mut shell = Command::new("bash");
    shell
        .args(["-c", &format!("{first}; exec \"$@\""), "bash"])
        .arg(command.get_program())
        .args(command.get_args());
    shell
}

fn closed_streams(stage: &Path, room: &Room) -> Result<(), String> {
    let policy = room.policy(vec![("work", Access::Write)]);
    for closed in ["exec <&-", "exec >&-", "exec 2>&-", "exec <&- >&- 2>&-"] {
        let mut command = stage::command(stage, Tier::Full, &policy, "bash".as_ref()).unwrap();
        command.args(["-c", "ls /proc/self/fd | wc -l > count; exit 5"]);
        let status = after(closed, &command).status().unwrap();
        // The fourth is what `ls` reads.
        let count = room.read("work/count");
        ensure(status.code() == Some(5) && count == "4\n", format!("{closed}: {status} {count}"))?;
    }
    Ok(())
}

fn many_descriptors(stage: &Path, room: &Room) -> Result<(), String> {
    let open = |_| {
        let file = OwnedFd::from(File::open(room.path("outside")).unwrap());
        rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
        file
    };
    let held: Vec<OwnedFd> = (0..64).map(open).collect();
    let said = text(&output(stage, &room.policy(vec![("work", Access::Read)]), "ls /proc/self/fd | wc -l"));
    drop(held);
    ensure(said == "4\n", said)
}

fn hidden_link(stage: &Path, room: &Room) -> Result<(), String> {
    fs::write(room.path("work/secret"), "secret").unwrap();
    for (name, target) in [
        ("a", room.path("outside/kept.txt")),
        ("b", room.path("outside/new.txt")),
        ("c", "secret".into()),
        ("d", "d".into()),
    ] {
        symlink(target, room.path("work").join(name)).unwrap();
    }
    for access in [Access::Write, Access::Read, Access::Discard] {
        let mut policy = room.policy(vec![("work", access)]);
        policy.hidden = ["a", "b", "c"].map(|name| room.path("work").join(name)).into();
        let said = text(&output(stage, &policy, "cat c secret; cat kept.txt"));
        let is_untouched = room.read("outside/kept.txt") == "kept" && !room.path("outside/new.txt").exists();
        ensure(is_untouched, "a file outside was changed")?;
        ensure(said == "kept", said)?;
        policy.hidden = vec![room.path("work/d")];
        is_not_made(&output(stage, &policy, "true"), "hide a place")?;
    }
    Ok(())
}

fn linked_parent(stage: &Path, room: &Room) -> Result<(), String> {
    symlink(room.path("outside"), room.path("work/link")).unwrap();
    let mut policy = room.policy(vec![("work", Access::Write)]);
    policy.hidden = vec![room.path("work/link/a/b"), room.path("work/link/kept.txt")];
    let said = text(&output(stage, &policy, "cat kept.txt"));
    ensure(said == "kept", said)?;
    ensure(fs::read_dir(room.path("outside")).unwrap().count() == 1, "a folder was made outside")?;
    ensure(room.read("outside/kept.txt") == "kept", "a file outside was changed")
}

fn linked_inner_folder(stage: &Path, room: &Room) -> Result<(), String> {
    symlink(room.path("outside"), room.path("work/link")).unwrap();
    fs::create_dir(room.path("outside/dir")).unwrap();
    for name in ["work/link", "work/link/dir"] {
        let policy = room.policy(vec![("work", Access::Write), (name, Access::Read)]);
        is_not_made(&output(stage, &policy, "cat link/*"), "show it a folder of the policy")?;
    }
    Ok(())
}

fn input_from_outside(stage: &Path, room: &Room) -> Result<(), String> {
    let policy = room.policy(vec![("work", Access::Write)]);
    let script = "chmod 777 /dev/stdin; touch -d @1 /dev/stdin; cat ../outside/kept.txt";
    for name in ["outside/kept.txt", "outside"] {
        let place = room.path(name);
        let before = fs::metadata(&place).unwrap();
        let mut command = stage::command(stage, Tier::Full, &policy, "bash".as_ref()).unwrap();
        command.args(["-c", script]).stdin(File::open(&place).unwrap());
        is_not_made(&command.output().unwrap(), "use its standard streams")?;
        let after = fs::metadata(&place).unwrap();
        let is_same = before.permissions() == after.permissions()
            && before.modified().unwrap() == after.modified().unwrap();
        ensure(is_same, format!("{name} was changed"))?;
    }
    Ok(())
}

fn home_in_folder(stage: &Path, room: &Room) -> Result<(), String> {
    let mut policy = room.policy(vec![("work", Access::Write)]);
    policy.home = room.path("work/home");
    let said = text(&output(stage, &policy, "mkdir -p home && echo x > home/a && cat kept.txt"));
    ensure(said == "kept", said)?;
    policy.home = room.path("work");
    let said = text(&output(stage, &policy, "cat kept.txt"));
    ensure(said == "kept", said)
}

fn ended_caller(stage: &Path, room: &Room) -> Result<(), String> {
    let policy = room.policy(vec![("work", Access::Write)]);
    let mut command = stage::command(stage, Tier::Full, &policy, "touch".as_ref()).unwrap();
    command.arg("new");
    // A shell in between is not the caller.
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$@\"; exit", "bash"]).arg(command.get_program()).args(command.get_args());
    is_not_made(&shell.output().unwrap(), "the caller has ended")?;
    ensure(!room.path("work/new").exists(), "the program ran")
}

fn partial_refuses(stage: &Path, room: &Room) -> Result<(), String> {
    fs::create_dir(room.path("work/inner")).unwrap();
    let mut hiding = room.policy(vec![("work", Access::Write)]);
    hiding.hidden = vec![room.path("work/kept.txt")];
    for policy in [
        hiding,
        room.policy(vec![("work", Access::Discard)]),
        room.policy(vec![("work", Access::Keep { layer: room.path("layer") })]),
        room.policy(vec![("work", Access::Write), ("work/inner", Access::Read)]),
    ] {
        let mut command = stage::command(stage, Tier::Partial, &policy, "true".as_ref()).unwrap();
        as_nobody(&mut command);
        is_not_made(&command.output().unwrap(), "that needs namespaces")?;
    }
    let policy = room.policy(vec![("work", Access::Write)]);
    let mut command = stage::command(stage, Tier::Partial, &policy, "none-such".as_ref()).unwrap();
    // A folder of the path that may not be searched would be another reason.
    command.env("PATH", crate::world::PATH);
    as_nobody(&mut command);
    let code = command.output().unwrap().status.code();
    ensure(code == Some(EXIT_NOT_FOUND.into()), format!("a program that does not exist: {code:?}"))
}
