//! What a sandbox costs. The figures are printed, never judged: they are the machine's.

use std::process::{Command, Stdio};

use setpoint_sandbox::Tier;
use setpoint_sandbox::linux::stage;

use crate::corpus::{Stage, as_nobody, missing};
use crate::odd::Room;
use setpoint_sandbox::Access;

const RUNS: usize = 30;

pub(crate) fn run() -> Vec<String> {
    let stage = Stage::new();
    let plain = median(|| Command::new("/bin/true"));
    println!("median of {RUNS} runs of /bin/true: plain {plain:.1} ms");
    for (tier, access, target) in [(Tier::Partial, Access::Read, 5), (Tier::Full, Access::Discard, 25)] {
        if missing(tier, &stage.path()).is_some() {
            continue;
        }
        let room = Room::new();
        let policy = room.policy(vec![("work", access)]);
        let time = median(|| {
            let mut command = stage::command(&stage.path(), tier, &policy, "/bin/true".as_ref()).unwrap();
            if tier == Tier::Partial {
                as_nobody(&mut command);
            }
            command
        });
        let above = time - plain;
        println!("    {} tier: {time:.1} ms, {above:.1} ms above plain (target {target} ms)", tier.name());
    }
    Vec::new()
}

#[expect(clippy::disallowed_methods, reason = "the time is what is measured")]
fn median(command: impl Fn() -> Command) -> f64 {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = std::time::Instant::now();
        assert!(command().stdin(Stdio::null()).status().unwrap().success());
        times.push(start.elapsed());
    }
    times.sort();
    times.get(RUNS / 2).map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
}
