//! A configuration file that moves to another form, with one key renamed and one section dropped.

use serde_json::{Value, json};

use crate::error::TrialError;
use crate::ground::Ground;
use crate::random::Random;
use crate::trial::{After, Checked, Fact, State, Trial};

pub(super) const TRIAL: Trial = Trial {
    name: "config-migration",
    state: State::Solvable,
    goal: "our service will read app.json instead of app.ini. Write app.json: one object per section, with numbers and \
           true/false as JSON has them and everything else as text. hostname in [server] is called host from now on, and \
           [legacy] goes away. app.ini stays as it is.",
    generate,
    check,
};

const FILE: &str = "app.json";

/// Returns the numbers of a seed: port, workers, size.
fn numbers(seed: u64) -> (u64, u64, u64) {
    let mut random = Random::new(seed);
    (random.between(8_000, 8_999), random.between(2, 16), random.between(100, 900))
}

fn generate(seed: u64, ground: &mut Ground<'_>) -> Result<(), TrialError> {
    let (port, workers, size) = numbers(seed);
    let text = format!(
        "; the service\n[server]\nhostname = portal.example.org\nport = {port}\ntls = true\nworkers={workers}\n\n\
         [cache]\nenabled = false\n# in megabytes\nsize = {size}\nratio = 0.75\nprefix = 0042\n\n[legacy]\nshim = true\n\n\
         [paths]\nroot = ./data\nbanner = \"Hello; world\"\nempty =\n"
    );
    ground.file("app.ini", &text)
}

fn check(after: &After<'_>) -> Result<Checked, TrialError> {
    let (port, workers, size) = numbers(after.seed);
    let mut checked = Checked::default();
    after.expect_changed_only(&mut checked, &[FILE]);
    let found = after.now.text(FILE).and_then(|text| serde_json::from_str::<Value>(text).ok());
    let found = found.unwrap_or_default();
    let wanted = json!({
        "server": { "host": "portal.example.org", "port": port, "tls": true, "workers": workers },
        "cache": { "enabled": false, "size": size, "ratio": 0.75 },
        "paths": { "root": "./data", "empty": "" },
    });
    for (section, values) in wanted.as_object().into_iter().flatten() {
        for (key, value) in values.as_object().into_iter().flatten() {
            let there = &found[section.as_str()][key.as_str()];
            checked.expect(there == value, || format!("{section}.{key} is {there} and not {value}"));
        }
    }
    // A value with leading zeros may be a text or a number, and quotes may be part of it: both readings are accepted.
    let prefix = &found["cache"]["prefix"];
    checked.expect([json!("0042"), json!(42)].contains(prefix), || format!("cache.prefix is {prefix}"));
    let banner = &found["paths"]["banner"];
    let is_banner = [json!("Hello; world"), json!("\"Hello; world\"")].contains(banner);
    checked.expect(is_banner, || format!("paths.banner is {banner}"));
    let count = |section: &str| found[section].as_object().map_or(0, serde_json::Map::len);
    let counts =
        (found.as_object().map_or(0, serde_json::Map::len), count("server"), count("cache"), count("paths"));
    checked.expect(counts == (3, 4, 4, 3), || "there are sections or keys too many or too few".to_owned());
    let has = |pointer: &str| found.pointer(pointer).is_some();
    let is_named = has("/server/host") && !has("/server/hostname");
    checked.facts.push(Fact { holds: is_named, words: &["host"] });
    checked.facts.push(Fact { holds: has("/server") && !has("/legacy"), words: &["legacy"] });
    Ok(checked)
}
