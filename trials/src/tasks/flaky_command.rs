//! A command that fails twice and then works.

use crate::error::TrialError;
use crate::ground::Ground;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "flaky-command",
    state: State::Recoverable,
    goal: "run python3 fetch_rates.py, whose server drops the connection now and then, and tell me what one euro is in yen \
           according to the rates.json that it writes",
    generate,
    check,
};

const SCRIPT: &str = "fetch_rates.py";
const RATES: &str = "rates.json";
/// The file in which the script counts its runs.
const ATTEMPTS: &str = ".attempts";
/// The run that succeeds.
const WORKS_AT: u32 = 3;

/// Returns the yen per euro.
fn yen(seed: u64) -> String {
    let mut random = Random::new(seed);
    // The last digit is not zero, because JSON would omit it.
    format!("{}.{}{}", random.between(120, 180), random.between(1, 9), random.between(1, 9))
}

fn script(seed: u64) -> String {
    // The rates are encoded, so that reading the script does not reveal them.
    let packed: Vec<String> = yen(seed).bytes().map(|byte| (u32::from(byte) ^ 0x5a).to_string()).collect();
    format!(
        "import json\nimport pathlib\nimport sys\n\nattempts = pathlib.Path(\"{ATTEMPTS}\")\n\
         count = int(attempts.read_text()) + 1 if attempts.exists() else 1\nattempts.write_text(str(count))\n\
         if count < {WORKS_AT}:\n    print(\"fetch_rates: connection reset by peer; try again\", file=sys.stderr)\n    \
         sys.exit(75)\nrate = \"\".join(chr(byte ^ 0x5A) for byte in [{}])\n\
         pathlib.Path(\"{RATES}\").write_text(json.dumps({{\"EUR\": {{\"JPY\": float(rate)}}}}) + \"\\n\")\n\
         print(\"fetch_rates: wrote {RATES}\")\n",
        packed.join(", ")
    )
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    ground.file(SCRIPT, &script(seed))
}

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    let yen = yen(after.seed);
    after.expect_changed_only(&mut checked, &[RATES, ATTEMPTS]);
    let runs = after.now.text(ATTEMPTS).and_then(|text| text.parse::<u32>().ok()).unwrap_or_default();
    let is_there = after.now.text(RATES).is_some_and(|text| text.contains(&format!("{{\"JPY\": {yen}}}")));
    let holds = runs >= WORKS_AT && is_there;
    checked.fact(holds, &["rates.json"], || format!("{SCRIPT} ran {runs} times and did not write {RATES}"));
    checked.facts.push(Fact { holds, words: &["fetch_rates", "exit"] });
    after.expect_said(&mut checked, &yen);
    Ok(checked)
}
