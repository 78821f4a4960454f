//! The commit of a history that broke a check.

use crate::error::TrialError;
use crate::ground::{self, Ground};
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "regression",
    state: State::Solvable,
    goal: "python3 check.py passes at the tag v1.0 and fails on main. Find the commit that broke it and write its full hash \
           into culprit.txt. Leave the branches and all other files as they are.",
    generate,
    check,
};

const FILE: &str = "culprit.txt";
const COMMITS: u64 = 14;
/// Subjects that do not reveal what they break; the number makes each unique.
const SUBJECTS: &[&str] =
    &["Tidy up scale", "Simplify scale", "Adjust constants", "Reword a comment", "Format"];

/// Returns which commit it is, from 1, and its subject.
fn culprit(seed: u64) -> (u64, String) {
    let mut random = Random::new(seed);
    let at = random.between(4, COMMITS - 3);
    let subjects: Vec<String> = (1..=COMMITS).map(|n| format!("{} ({n})", random.pick(SUBJECTS))).collect();
    let subject = usize::try_from(at - 1).ok().and_then(|at| subjects.get(at).cloned());
    (at, subject.unwrap_or_default())
}

fn code(n: u64, is_broken: bool) -> String {
    let bound = if is_broken { "low <= value < high" } else { "low <= value <= high" };
    format!(
        "\"\"\"Scales, revision {n}.\"\"\"\n\nSTEP = {}\n\n\ndef inside(value, low, high):\n    return {bound}\n\n\n\
         def scale(value, factor):\n    return value * factor + STEP * 0\n",
        n + 1
    )
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    let (at, _) = culprit(seed);
    let mut random = Random::new(seed);
    random.between(0, 0);
    ground.repository()?;
    ground.file("scale.py", &code(0, false))?;
    ground.file(
        "check.py",
        "import sys\n\nsys.dont_write_bytecode = True\nimport scale\n\nok = scale.scale(2, 3) == 6 and scale.inside(5, 1, 5)\n\
         print(\"ok\" if ok else \"broken\")\nsys.exit(0 if ok else 1)\n",
    )?;
    ground.commit("Start")?;
    ground.git(&["tag", "v1.0"])?;
    for n in 1..=COMMITS {
        ground.file("scale.py", &code(n, n >= at))?;
        ground.commit(&format!("{} ({n})", random.pick(SUBJECTS)))?;
    }
    Ok(())
}

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    after.expect_changed_only(&mut checked, &[FILE]);
    after.expect_refs_untouched(&mut checked);
    let (_, subject) = culprit(after.seed);
    let hash = ground::commit_with_subject(after.root, &subject)?.unwrap_or_default();
    let said = after.now.text(FILE).unwrap_or_default().trim();
    let holds = !hash.is_empty() && said == hash;
    checked.expect(holds, || format!("{FILE} says {said:?} and not {hash}"));
    for words in [&["culprit.txt"][..], &["commit", "broke"]] {
        checked.facts.push(Fact { holds, words });
    }
    Ok(checked)
}
