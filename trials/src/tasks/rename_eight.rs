//! A rename across eight files, with another name that contains it and a file that keeps the old one.

use crate::error::TrialError;
use crate::ground::Ground;
use crate::python;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "rename-eight",
    state: State::Solvable,
    goal: "rename the function fetch_rows to load_rows in shop/ and README.md, eight files altogether. prefetch_rows is \
           another function and keeps its name, and CHANGELOG.md stays as it is.",
    generate,
    check,
};

/// Returns the files, with `@` for the name of the function.
fn files(seed: u64) -> Vec<(&'static str, String)> {
    let rows = Random::new(seed).between(3, 9);
    let texts = [
        (
            "shop/store.py",
            "def @(table, limit=ROWS):\n    return [f\"{table}-{n}\" for n in range(limit)]\n\n\ndef prefetch_rows(table):\n    \
             return @(table, 1)\n",
        ),
        ("shop/orders.py", "from shop.store import @\n\n\ndef orders():\n    return @(\"order\")\n"),
        ("shop/stock.py", "from shop import store\n\n\ndef stock():\n    return store.@(\"item\", 4)\n"),
        (
            "shop/report.py",
            "from shop.orders import orders\nfrom shop.store import @ as rows, prefetch_rows\n\n\ndef report():\n    \
             return len(orders()) + len(rows(\"day\", 2)) + len(prefetch_rows(\"day\"))\n",
        ),
        ("shop/people.py", "import shop.store\n\n\ndef people():\n    return shop.store.@(\"person\", 5)\n"),
        (
            "shop/export.py",
            "from shop.store import (\n    @,\n    prefetch_rows,\n)\n\nSOURCES = {\"all\": @, \"first\": prefetch_rows}\n",
        ),
        (
            "shop/doc.py",
            "\"\"\"Rows come from :func:`shop.store.@`; `prefetch_rows` only warms the cache.\"\"\"\nNAME = \"@\"\n",
        ),
        ("README.md", "# Shop\n\nCall `@(table)`; do not call `prefetch_rows` yourself.\n"),
    ];
    texts.map(|(name, text)| (name, text.replace("ROWS", &rows.to_string()))).into()
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    for (name, text) in files(seed) {
        ground.file(name, &text.replace('@', "fetch_rows"))?;
    }
    ground.file("shop/__init__.py", "")?;
    ground.file("CHANGELOG.md", "# Changes\n\n- 1.2: fetch_rows takes a limit.\n")
}

const HIDDEN: &str = r#"
@test
def the_new_name_works():
    import shop.store, shop.export, shop.report, shop.people, shop.stock
    shop.people.people(), shop.stock.stock(), shop.report.report()
    if shop.export.SOURCES["all"] is not shop.store.load_rows: return "export has another function"
    if hasattr(shop.store, "fetch_rows"): return "the old name is still there"
    if not hasattr(shop.store, "prefetch_rows"): return "prefetch_rows is gone"
"#;

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let mut checked = Checked::default();
    let files = files(after.seed);
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    after.expect_changed_only(&mut checked, &names);
    for (name, text) in &files {
        let is_right = after.now.text(name) == Some(&text.replace('@', "load_rows"));
        checked.expect(is_right, || format!("{name} is not the old text with the new name"));
    }
    let is_renamed = checked.is_solved();
    checked.facts.push(Fact { holds: is_renamed, words: &["load_rows"] });
    python::expect_all(&mut checked, HIDDEN, after.root)?;
    Ok(checked)
}
