//! Sums from a CSV file with some unreadable rows.

use std::collections::BTreeMap;

use crate::error::TrialError;
use crate::ground::Ground;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "sales-csv",
    state: State::Solvable,
    goal: "sum up the amounts per region in sales.csv and write totals.json, one object from region to total. Rows that do \
           not have exactly the four columns of the head, or whose amount is not a number, are skipped; tell me how many \
           those are.",
    generate,
    check,
};

const FILE: &str = "totals.json";
const ROWS: u64 = 60;
const REGIONS: &[&str] = &["north", "south", "east", "west"];
/// Customers, as in the file.
const CUSTOMERS: &[&str] =
    &["Brook & Co", "\"Vale, Hill and Sons\"", "Marlow", "\"The \"\"Old\"\" Mill\"", "Keel"];
/// Values in place of an amount.
const NO_AMOUNTS: &[&str] = &["n/a", "", "12,50 EUR", "-", "1.2.3"];
/// Less than half a cent: smaller differences come from number formats.
const TOLERANCE: f64 = 0.004;

struct Sales {
    text: String,
    /// In cents.
    totals: BTreeMap<&'static str, u64>,
    skipped: u32,
}

fn sales(seed: u64) -> Sales {
    let mut random = Random::new(seed);
    let mut sales =
        Sales { text: "date,region,customer,amount\n".to_owned(), totals: BTreeMap::new(), skipped: 0 };
    for row in 1..=ROWS {
        let region = random.pick(REGIONS);
        let (customer, cents) = (random.pick(CUSTOMERS), random.between(100, 90_000));
        let amount = format!("{}.{:02}", cents / 100, cents % 100);
        let date = format!("2024-03-{:02}", row % 28 + 1);
        let line = match row % 11 {
            // An unquoted comma in the amount also makes a fifth column.
            3 => format!("{date},{region},{customer},{}", random.pick(NO_AMOUNTS)),
            7 => format!("{date},{region},{amount}"),
            9 => format!("{date},{region},Vale, Hill,{amount}"),
            _ => {
                *sales.totals.entry(region).or_default() += cents;
                sales.text.push_str(&format!("{date},{region},{customer},{amount}\n"));
                continue;
            }
        };
        sales.skipped += 1;
        sales.text.push_str(&line);
        sales.text.push('\n');
    }
    sales
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    ground.file("sales.csv", &sales(seed).text)
}

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    let sales = sales(after.seed);
    checked.expect(after.now.text("sales.csv") == Some(&sales.text), || "sales.csv changed".to_owned());
    let read = after.now.text(FILE).and_then(|text| serde_json::from_str::<BTreeMap<String, f64>>(text).ok());
    let totals = read.unwrap_or_default();
    checked
        .expect(totals.len() == sales.totals.len(), || format!("{FILE} does not have one number per region"));
    for (region, cents) in &sales.totals {
        let wanted = *cents as f64 / 100.0;
        let is_right = totals.get(*region).is_some_and(|total| (total - wanted).abs() < TOLERANCE);
        checked.expect(is_right, || format!("{region} is not {wanted:.2}"));
    }
    let holds = checked.is_solved();
    checked.facts.push(Fact { holds, words: &["total"] });
    after.expect_said(&mut checked, &sales.skipped.to_string());
    Ok(checked)
}
