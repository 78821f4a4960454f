//! Verifies an audit log: whatever its files contain, only what was signed is reported as signed.

use setpoint_audit::log::limits::FINDINGS_MAX;
use setpoint_audit::log::{PublicKey, verify_streams};

/// Separates the log, its checkpoints and the optional export.
const BETWEEN: &[u8] = b"---\n";
/// The key under which [`SIGNED`] was signed. Its secret half is in a test of the log, so nothing relies on it.
const KEY: &str = "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c";
/// Everything that was signed with it in the corpus: three entries, sealed after two and after three.
const SIGNED: &str = r#"1 ed0384b5b226fda6134c705c6bf4e6b3d6e7efa18d42b5fb1e84696b4a68fc9c {"kind":"start"}
2 415cff4b80567b7a954c298b3c654a0312ae9b43292142c33ec3537d9c98b9ce "grüße"
3 b666dc96bdf4121eda9accde11ab39353d9e24f9e35003089a24d9749a1c85d6 [3]
"#;

pub(crate) fn run(input: &[u8]) {
    let (log, rest) = part(input);
    let (checkpoints, export) = rest.map_or((&[][..], None), part);
    let key = PublicKey::parse(KEY);
    for key in [None, key] {
        let seen = verify_streams(log, checkpoints, export, key);
        assert!(seen.is_ok(), "{seen:?}");
        let Ok(seen) = seen else { return };
        assert!(seen.sealed <= seen.entries && seen.sealed_by_export <= seen.sealed, "{seen:?}");
        assert!(
            seen.findings.len() <= FINDINGS_MAX && seen.is_sound() == seen.findings.is_empty(),
            "{seen:?}"
        );
        assert!(!seen.claims().cannot_prove.is_empty());
        for finding in &seen.findings {
            assert!(finding.to_string().chars().count() < 500, "an endless finding");
        }
        if key.is_some() {
            let signed =
                SIGNED.split_inclusive('\n').take(usize::try_from(seen.sealed).unwrap_or(usize::MAX));
            assert!(matches!(seen.sealed, 0 | 2 | 3), "sealed by nobody: {seen:?}");
            assert!(log.starts_with(signed.collect::<String>().as_bytes()), "not what was signed: {seen:?}");
        }
        assert!(seen.is_sound() || !log.is_empty() || !rest.unwrap_or_default().is_empty(), "{seen:?}");
    }
}

/// Returns the bytes before the first separator, and those after it.
fn part(input: &[u8]) -> (&[u8], Option<&[u8]>) {
    let found = input.windows(BETWEEN.len()).position(|window| window == BETWEEN);
    let split = found.and_then(|at| input.split_at_checked(at));
    split.map_or((input, None), |(part, rest)| (part, rest.strip_prefix(BETWEEN)))
}
