//! The server as a program, so that clients in any language can be tried against it. It prints its base URLs and serves
//! until it is stopped.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use setpoint_model_server::{Fault, ModelServer, Seen, Wire, scripts};

#[derive(Parser)]
#[command(about = "A scripted model server for tests, on a free port of 127.0.0.1")]
struct Arguments {
    /// What it answers
    #[arg(long, default_value = "hello", value_parser = scripts::NAMES)]
    script: String,
    /// A fault in every answer, by its name
    #[arg(long)]
    fault: Option<String>,
    /// Print the names of the faults, with their numbers in the list, and end
    #[arg(long)]
    faults: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut out = io::stdout();
    if arguments.faults {
        for fault in Fault::all() {
            writeln!(out, "{:2} {}", fault.number(), fault.name())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let script = scripts::by_name(&arguments.script);
    let mut script = script.ok_or_else(|| io::Error::other("there is no such script"))?;
    if let Some(name) = arguments.fault {
        let Some(fault) = Fault::by_name(&name) else {
            eprintln!("error: there is no fault `{name}`; --faults lists them");
            return Ok(ExitCode::from(2));
        };
        script = Arc::new(move |seen: &Seen| script.turn(seen).with(fault.clone()));
    }
    let server = ModelServer::start(script).await?;
    for wire in Wire::ALL {
        writeln!(out, "{wire} {}", server.base(wire))?;
    }
    out.flush()?;
    std::future::pending().await
}
