//! Whether this machine can hold a sandbox, tried in full.
//!
//! Parts say little: where a first namespace can be made, the second step may be refused, and a rule set may be accepted
//! and hold nothing. So the whole chain runs a real program, which must do one thing and be refused another.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Stdio;

use super::stage;
use crate::policy::{Access, Folder, Limits, Policy};
use crate::tier::{Missing, Probed, Tier};

/// The program that tries what is allowed and what is not. It prints nothing but a word for each that went wrong.
const TRY: &str = r#"
read kept < kept.txt || echo "reading a folder"
echo changed > kept.txt || echo "changing a folder"
(echo x > "$1") 2>/dev/null && echo "a write to $1 that must be refused"
(: < "$2") 2>/dev/null && echo "a read of $2 that must be refused"
# Below /tmp this may work, in the program's own /tmp; what counts is whether the file is there afterwards.
(echo x > "$3") 2>/dev/null
exit 0
"#;

/// Returns the strongest tier that works here. `stage` is an executable whose `main` begins with [`stage::serve`];
/// `folder` is one that may be written to, on the file system where changes will be kept.
///
/// # Errors
/// If the trial itself cannot be set up: the folder cannot be written to.
pub fn probe(stage: &Path, folder: &Path) -> io::Result<Probed> {
    let room = tempfile::Builder::new().prefix("sandbox-").tempdir_in(folder)?;
    let mut missing = Vec::new();
    for tier in [Tier::Full, Tier::Partial] {
        match attempt(stage, tier, room.path())? {
            None => return Ok(Probed { tier: Some(tier), missing }),
            Some(why) => missing.push(Missing { tier, why }),
        }
    }
    Ok(Probed { tier: None, missing })
}

/// Returns why the tier does not hold; `None` if it does.
fn attempt(stage: &Path, tier: Tier, room: &Path) -> io::Result<Option<String>> {
    let room = room.join(tier.name());
    let place = |name: &str| room.join(name);
    let (work, layer, library) = (place("work"), place("layer"), place("library"));
    for folder in [&work, &layer, &library] {
        fs::create_dir_all(folder)?;
    }
    fs::write(work.join("kept.txt"), "kept\n")?;
    fs::write(place("secret.txt"), "secret\n")?;
    let access = match tier {
        Tier::Full => Access::Keep { layer },
        Tier::Partial => Access::Write,
    };
    let policy = Policy {
        folders: vec![
            Folder { path: work.clone(), access },
            Folder { path: library.clone(), access: Access::Read },
        ],
        hidden: Vec::new(),
        home: work.clone(),
        cwd: work.clone(),
        limits: Limits::default(),
        beside: None,
    };
    let output = stage::command(stage, tier, &policy, OsStr::new("/bin/sh"))?
        .args(["-c", TRY, "sh"])
        .args([library.join("new.txt"), place("secret.txt"), place("outside.txt")])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    if let Some(why) = said.lines().find_map(|line| line.strip_prefix(stage::NOT_MADE)) {
        return Ok(Some(why.to_owned()));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    if let Some(wrong) = printed.lines().next() {
        return Ok(Some(format!("it did not hold: {wrong}")));
    }
    if !output.status.success() {
        return Ok(Some(format!("its trial program ended with {}", output.status)));
    }
    // What the program believes is not enough.
    let is_kept = fs::read_to_string(work.join("kept.txt"))? == "kept\n";
    let is_changed = place("outside.txt").exists() || library.join("new.txt").exists();
    if is_changed || (tier == Tier::Full && !is_kept) {
        return Ok(Some("it did not hold: a change came through".to_owned()));
    }
    Ok(None)
}
