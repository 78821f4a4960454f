//! The binary runs.

use crate::support::Home;

#[test]
fn the_version_is_that_of_the_package() {
    let came = Home::new().run(&["--version"]);
    assert_eq!((came.code, came.out.trim()), (0, concat!("setpoint ", env!("CARGO_PKG_VERSION"))));
}
