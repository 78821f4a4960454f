//! The committed vectors equal the published ones, if those are beside the repository.

use std::path::Path;

#[test]
fn committed_vectors_equal_the_published_ones() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read(package.join("tests/fixtures/conformance.json")).unwrap();
    assert!(!committed.is_empty());
    let beside = package.ancestors().nth(3).map(|parent| parent.join("shared/conformance/vectors.json"));
    let Some(published) = beside.filter(|path| path.exists()) else { return };
    assert!(
        committed == std::fs::read(&published).unwrap(),
        "{} differs from the committed fixture",
        published.display()
    );
}
