//! Plots, as a reader sees them.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn label(value: f64) -> String {
    if value.abs() < 1e6 { format!("{value:+.2}") } else { format!("{value:.1e}") }
}

fn drawn(points: &[(f64, f64)], marks: &[f64], columns: usize, is_ascii: bool) -> Vec<Line> {
    let tone = |value: f64| if value > 0.0 { Tone::Good } else { Tone::Bad };
    Plot { points, marks, label, tone, columns, rows: 6, is_ascii }.lines()
}

fn check(points: &[(f64, f64)], marks: &[f64], columns: usize, expected: &Expect) {
    let text = |is_ascii| -> String {
        drawn(points, marks, columns, is_ascii).iter().map(|line| line.to_text() + "\n").collect()
    };
    let ascii = text(true);
    assert!(ascii.is_ascii(), "{ascii}");
    expected.assert_eq(&(text(false) + &ascii));
}

/// Returns values that fade from `start` at the rate `k` per day.
fn fading(start: f64, k: f64, days: u32) -> Vec<(f64, f64)> {
    (0..=days).map(|day| (f64::from(day), start * (-k * f64::from(day)).exp())).collect()
}

#[test]
fn a_fading_curve_crosses_its_mark() {
    check(
        &fading(3.42, 0.1, 60),
        &[0.5],
        50,
        &expect![[r#"
            +3.42┤⠱⡀
                 │ ⠈⢆
                 │   ⠑⢄⡀
                 │     ⠈⠢⢄⡀
                 │        ⠈⠑⠢⠤⣀⣀
            +0.50┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄⠉⠉⠑⠒⠒⠒⠤⠤⠤⠤⠤⠤⠤⠤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                 └┬─────────────┬──────────────┬─────────────┬
                  0            20 d           40 d        60 d
            +3.42+'.
                 |  :
                 |   '.
                 |     ''..
            +0.50+---------''....-----------------------------
            +0.00+               ''''''''.....................
                 ++-------------+--------------+-------------+
                  0            20 d           40 d        60 d
        "#]],
    );
}

#[test]
fn negative_values_are_drawn_below_zero() {
    check(
        &fading(-1.0, 0.2, 30),
        &[0.2, -0.2],
        50,
        &expect![[r#"
            +0.20┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
            +0.00┤            ⢀⣀⡠⠤⠤⠤⠒⠒⠒⠒⠒⠒⠊⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉
            -0.20┤┄┄┄┄┄┄┄⣀⠤⠒⠊⠉⠁┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
                 │    ⡠⠒⠉
                 │ ⢀⠔⠊
            -1.00┤⡠⠊
                 └┬─────────────┬──────────────┬─────────────┬
                  0            10 d           20 d        30 d
            +0.20+--------------------------------------------
            +0.00+             ......'''''''''''''''''''''''''
            -0.20+-------..''''-------------------------------
                 |    .''
                 |  .'
            -1.00+.'
                 ++-------------+--------------+-------------+
                  0            10 d           20 d        30 d
        "#]],
    );
}

#[test]
fn close_marks_share_a_label() {
    check(
        &fading(9.0, 0.05, 90),
        &[0.2, -0.2],
        40,
        &expect![[r#"
            +9.00┤⠑⡄
                 │ ⠈⠢⡀
                 │   ⠈⠢⡀
                 │     ⠈⠑⠤⣀
                 │         ⠉⠒⠢⠤⣀⣀⡀
            ±0.20┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄⠈⠉⠉⠑⠒⠒⠒⠒⠢⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤
                 └┬─────────────────┬───────────────
                  0                50 d
             +9.00+'.
                  |  :
                  |   '..
                  |      '..
                  |         '''....
            +-0.20+----------------'''''''''''......
                  ++-----------------+--------------
                   0                50 d
        "#]],
    );
}

#[test]
fn no_point_draws_nothing_and_one_point_is_drawn() {
    check(&[], &[0.5], 40, &expect![[""]]);
    check(&[(0.0, f64::NAN), (1.0, f64::INFINITY)], &[0.5], 40, &expect![[""]]);
    check(
        &[(0.0, 0.3)],
        &[0.5],
        30,
        &expect![[r#"
            +0.50┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
                 │
                 │⠂
                 │
                 │
            +0.00┤
                 └┬───────────────────────
                  0
            +0.50+------------------------
                 |
                 |'
                 |
                 |
            +0.00+
                 ++-----------------------
                  0
        "#]],
    );
}

#[test]
fn all_zero_is_the_floor() {
    check(
        &fading(0.0, 0.1, 10),
        &[0.5],
        30,
        &expect![[r#"
            +0.50┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
                 │
                 │
                 │
                 │
            +0.00┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                 └┬───────────┬──────────┬
                  0          5 d      10 d
            +0.50+------------------------
                 |
                 |
                 |
                 |
            +0.00+........................
                 ++-----------+----------+
                  0          5 d      10 d
        "#]],
    );
    check(
        &fading(0.0, 0.1, 10),
        &[],
        30,
        &expect![[r#"
            +1.00┤
                 │
                 │
                 │
                 │
            +0.00┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                 └┬───────────┬──────────┬
                  0          5 d      10 d
            +1.00+
                 |
                 |
                 |
                 |
            +0.00+........................
                 ++-----------+----------+
                  0          5 d      10 d
        "#]],
    );
}

#[test]
fn huge_numbers_fit() {
    check(
        &[(0.0, f64::MAX), (5e8, -f64::MAX), (1e9, 0.0)],
        &[0.5],
        40,
        &expect![[r#"
             1.8e308┤⠑⠤⡀
                    │  ⠈⠒⢄
                    │     ⠉⠢⣀
               +0.50┤┄┄┄┄┄┄┄┄⠑⠤⡀┄┄┄┄┄┄┄┄┄┄┄┄┄┄⢀⣀⠤⠒⠊⠉
                    │          ⠈⠒⢄       ⣀⡠⠤⠒⠉⠁
            -1.8e308┤             ⠉⠢⣀⠤⠔⠒⠉
                    └┬──────────────┬───────────────
                     0         500000000 d
             1.8e308+'..
                    |   '.
                    |     ''.
               +0.50+--------'..--------------...'''
                    |           '.       ..'''
            -1.8e308+             ''..'''
                    ++--------------+---------------
                     0         500000000 d
        "#]],
    );
}

#[test]
fn a_steep_curve_does_not_fall_apart() {
    check(
        &[(0.0, 1.0), (0.025, 1.0), (0.025_1, 0.0), (0.05, 0.0)],
        &[0.5],
        34,
        &expect![[r#"
            +1.00┤⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⡆
                 │              ⡇
                 │              ⡇
            +0.50┤┄┄┄┄┄┄┄┄┄┄┄┄┄┄⡇┄┄┄┄┄┄┄┄┄┄┄┄┄
                 │              ⡇
            +0.00┤              ⣇⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀
                 └┬──────────┬──────────┬─────
                  0        0.02 d     0.04 d
            +1.00+''''''''''''''.
                 |              :
                 |              :
            +0.50+--------------:-------------
                 |              :
            +0.00+              :.............
                 ++----------+----------+-----
                  0        0.02 d     0.04 d
        "#]],
    );
}

#[test]
fn a_narrow_terminal_gets_a_smaller_plot_or_none() {
    check(
        &fading(3.42, 0.1, 60),
        &[0.5],
        16,
        &expect![[r#"
        +3.42┤⢱
             │⠸⡀
             │ ⡇
             │ ⠸⡀
             │  ⠱⡀
        +0.50┤┄┄┄⠉⠢⠤⢄⣀⣀⣀
             └┬───────┬─
              0     50 d
        +3.42+'.
             | :
             | :
             |  :
        +0.50+--'.------
        +0.00+   ''.....
             ++-------+-
              0     50 d
    "#]],
    );
    check(&fading(3.42, 0.1, 60), &[0.5], 15, &expect![[""]]);
    check(&fading(3.42, 0.1, 60), &[0.5], 0, &expect![[""]]);
}

#[test]
fn tones_say_what_a_value_means() {
    let lines = drawn(&[(0.0, 1.0), (1.0, -1.0)], &[], 20, true);
    let painted: Vec<String> = lines.iter().map(|line| line.paint(true)).collect();
    assert!(painted.iter().any(|line| line.contains("\u{1b}[32m'")), "{painted:?}");
    assert!(painted.iter().any(|line| line.contains("\u{1b}[31m'")), "{painted:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_plot_fits_its_columns(
        points in prop::collection::vec((any::<f64>(), any::<f64>()), 0..9),
        marks in prop::collection::vec(-1e9..1e9, 0..3),
        columns in 0_usize..99,
        is_ascii in any::<bool>(),
    ) {
        for line in drawn(&points, &marks, columns, is_ascii) {
            prop_assert!(line.width() <= columns, "{}", line.to_text());
        }
    }
}
