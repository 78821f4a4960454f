//! `--at`: the moment for which memory is shown.

use jiff::tz::TimeZone;

use super::{remembering, run};
use crate::support::memory::*;

async fn asked_at(text: &str, zone: TimeZone) -> (u8, String, Vec<String>) {
    let mut world = remembering(FakeMemory::default());
    world.zone = zone;
    let (came, asked) = run(world, &format!("memory rules --at '{text}'")).await;
    (came.code, came.err, asked)
}

#[tokio::test]
async fn a_moment_is_a_time_a_day_or_a_while_from_now() {
    let moments = [
        ("2026-12-24T18:00:00Z", "2026-12-24T18:00:00.000000Z"),
        ("2026-12-24T18:00:00-02:00", "2026-12-24T20:00:00.000000Z"),
        ("2026-12-24", "2026-12-23T22:00:00.000000Z"),
        ("+60d", "2027-01-22T03:30:00.000000Z"),
        ("+12h", "2026-11-23T15:30:00.000000Z"),
        ("+90m", "2026-11-23T05:00:00.000000Z"),
        ("+2w", "2026-12-07T03:30:00.000000Z"),
        ("+0m", "2026-11-23T03:30:00.000000Z"),
    ];
    for (text, moment) in moments {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        let (code, err, asked) = asked_at(text, east).await;
        assert_eq!((code, asked.first()), (0, Some(&format!("rules {moment}"))), "{text}: {err}");
    }
}

#[tokio::test]
async fn what_is_no_moment_to_look_at_is_a_usage_error_with_a_hint() {
    let mut said = String::new();
    for text in [
        "2026-11-23",
        "2020-01-01T00:00:00Z",
        "-5d",
        "+36526d",
        "9999-12-31",
        "2026-02-30",
        "+5",
        "60d",
        "tomorrow",
        "--json",
    ] {
        let (code, err, asked) = asked_at(text, TimeZone::UTC).await;
        assert_eq!((code, asked.len()), (2, 0), "{text}");
        assert_eq!(err.lines().filter(|line| line.starts_with("hint: ")).count(), 1, "{text}: {err}");
        said.push_str(&format!("$ setpoint memory rules --at '{text}'\n{err}"));
    }
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn every_reading_command_takes_a_future_moment() {
    for command in ["query", "query s", "query s e", "list", "show 4f2a91c1", "rules"] {
        let memory = FakeMemory { records: vec![record(1, "x")], ..FakeMemory::default() };
        let (came, asked) = run(remembering(memory), &format!("memory {command} --at +1d")).await;
        assert_eq!(came.code, 0, "{command}: {}", came.err);
        assert!(asked[0].ends_with(" 2026-11-24T03:30:00.000000Z"), "{command}: {asked:?}");
    }
    for command in ["stats", "dream", "export", "approve", "remember x"] {
        let (came, asked) =
            run(remembering(FakeMemory::default()), &format!("memory {command} --at +1d")).await;
        assert_eq!((came.code, asked.len()), (2, 0), "{command}");
    }
}
