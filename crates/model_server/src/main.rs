//! The server as a program, so that clients in any language can be tried against it: it answers as [`ByModel`] does. It
//! prints its base URLs and serves until it is stopped.

use std::io::{self, Write as _};
use std::sync::Arc;

use clap::Parser;
use setpoint_model_server::scripts::ByModel;
use setpoint_model_server::{Fault, ModelServer, Wire};

#[derive(Parser)]
#[command(
    about = "A model server for tests, on a free port of 127.0.0.1; the name of the model says what it answers"
)]
struct Arguments {
    /// Print the names of the faults, with their numbers in the list, and end
    #[arg(long)]
    faults: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut out = io::stdout();
    if Arguments::parse().faults {
        return Fault::all()
            .iter()
            .try_for_each(|fault| writeln!(out, "{:2} {}", fault.number(), fault.name()));
    }
    let server = ModelServer::start(Arc::new(ByModel)).await?;
    for wire in Wire::ALL {
        writeln!(out, "{wire} {}", server.base(wire))?;
    }
    out.flush()?;
    std::future::pending().await
}
