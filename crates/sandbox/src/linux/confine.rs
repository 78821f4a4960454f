//! What a process gives up before it starts the program: capabilities, room, paths and system calls.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::root::{DEVICES, OF_ETC, SCRATCH, SYSTEM, TERMINALS};
use super::syscalls::{self, Sockets};
use crate::policy::{Access, Limits, Policy};

/// The paths that a program may use. Any of them may be missing.
pub(super) struct Paths {
    /// What it reads and executes, with everything below.
    readable: Vec<PathBuf>,
    /// Folders below which it may change everything that their mounts let it.
    writable: Vec<PathBuf>,
    /// Devices that it may write to.
    devices: Vec<PathBuf>,
}

/// What programs read of the machine's state where `/proc` is not their own.
const OF_PROC: &[&str] =
    &["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/version", "/proc/filesystems"];

impl Paths {
    /// Within the root folder that was made for the policy, which holds only what may be read.
    pub(super) fn within(policy: &Policy) -> Self {
        let scratch = SCRATCH.iter().map(PathBuf::from).chain([policy.home.clone()]);
        Paths {
            readable: vec!["/".into()],
            writable: folders(policy, |access| *access != Access::Read).chain(scratch).collect(),
            devices: DEVICES.iter().chain(TERMINALS).map(PathBuf::from).collect(),
        }
    }

    /// Within the root folder of this machine.
    pub(super) fn of_host(policy: &Policy) -> Self {
        let etc = OF_ETC.iter().map(|name| Path::new("/etc").join(name));
        let system = SYSTEM.iter().chain(OF_PROC).map(PathBuf::from);
        Paths {
            readable: system.chain(etc).chain(folders(policy, |_| true)).collect(),
            writable: folders(policy, |access| *access == Access::Write).collect(),
            devices: DEVICES.iter().map(PathBuf::from).collect(),
        }
    }
}

fn folders(policy: &Policy, is_wanted: impl Fn(&Access) -> bool) -> impl Iterator<Item = PathBuf> {
    policy.folders.iter().filter(move |one| is_wanted(&one.access)).map(|one| one.path.clone())
}

/// Confines this process permanently, and all that it starts.
///
/// # Errors
/// If any part is refused. The caller must then not start the program.
pub(super) fn confine(
    paths: &Paths,
    limits: &Limits,
    sockets: Sockets,
) -> Result<(), (&'static str, io::Error)> {
    limit(limits).map_err(|error| ("limit what it may use up", error))?;
    drop_capabilities().map_err(|error| ("give up capabilities", error))?;
    rustix::thread::set_no_new_privs(true).map_err(|error| ("rule out new privileges", error.into()))?;
    // The kernel's own list of rules, and each of them enforced: a rule set that was "enforced as far as possible" held
    // nothing on some kernels.
    restrict_paths(paths).map_err(|error| ("restrict it with Landlock", error))?;
    syscalls::restrict(sockets).map_err(|error| ("filter its system calls", error))
}

fn limit(limits: &Limits) -> io::Result<()> {
    let set = |resource, value| {
        let now = rustix::process::getrlimit(resource);
        let value = now.maximum.map_or(value, |maximum| maximum.min(value));
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
    };
    set(Resource::Nproc, limits.processes)?;
    set(Resource::Data, limits.data_bytes)?;
    set(Resource::Fsize, limits.file_bytes)?;
    set(Resource::Nofile, limits.open_files)?;
    set(Resource::Core, 0)?;
    Ok(())
}

fn drop_capabilities() -> io::Result<()> {
    rustix::thread::clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        // The kernel may know fewer; those cannot be had.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    Ok(rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?)
}

/// The first version of Landlock that restricts truncation, without which a file could be emptied.
const LEAST: ABI = ABI::V3;
/// The version that keeps signals and abstract sockets within the sandbox.
const WITH_SCOPES: ABI = ABI::V6;

fn restrict_paths(paths: &Paths) -> io::Result<()> {
    let all = AccessFs::from_all(LEAST);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(all)
        .map_err(io::Error::other)?
        // What a newer kernel adds.
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V5))
        .map_err(io::Error::other)?
        .scope(Scope::from_all(WITH_SCOPES))
        .map_err(io::Error::other)?;
    let mut ruleset = ruleset.create().map_err(io::Error::other)?;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    for (paths, access) in [
        (&paths.readable, AccessFs::from_read(LEAST)),
        (&paths.writable, AccessFs::from_all(ABI::V5)),
        (&paths.devices, device),
    ] {
        for path in paths {
            let Ok(found) = path.metadata() else { continue };
            // A rule for a file may only name what can be done with a file.
            let access = if found.is_dir() { access } else { access & AccessFs::from_file(ABI::V5) };
            let path = PathFd::new(path).map_err(io::Error::other)?;
            ruleset = ruleset.add_rule(PathBeneath::new(path, access)).map_err(io::Error::other)?;
        }
    }
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(io::Error::other("the kernel does not enforce it"));
    }
    Ok(())
}
