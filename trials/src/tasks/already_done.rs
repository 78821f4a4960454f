//! A job that is already done: nothing has to change, and nothing may.

use crate::error::TrialError;
use crate::ground::Ground;
use crate::python;
use crate::random::Random;
use crate::trial::{After, Checked, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "already-done",
    state: State::Solvable,
    goal: "make sure that greet.py has a function greet(name) that returns \"Hello, NAME!\" and that README.md says how to \
           call it; change only what is missing",
    generate,
    check,
};

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    let name = Random::new(seed).pick(&["Ines", "Jonas", "Mira", "Tarek"]);
    ground.file("greet.py", "def greet(name):\n    return f\"Hello, {name}!\"\n")?;
    let readme = format!(
        "# Greetings\n\n```python\nfrom greet import greet\n\nprint(greet(\"{name}\"))  # Hello, {name}!\n```\n"
    );
    ground.file("README.md", &readme)
}

const HIDDEN: &str = r#"
import greet
@test
def it_greets():
    if greet.greet("Ada") != "Hello, Ada!": return greet.greet("Ada")
"#;

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    after.expect_changed_only(&mut checked, &[]);
    python::expect_all(&mut checked, HIDDEN, after.root)?;
    let done = ["accept", "success", crate::trial::PLAIN];
    let claimed = &after.end.claimed;
    checked.expect(done.contains(&claimed.as_str()), || format!("it ended as {claimed}, and all is there"));
    Ok(checked)
}
