//! The server as a program, so that clients in any language can be tried against it. It prints its base URLs and serves
//! until it is stopped.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use setpoint_model_server::{Fault, ModelServer, Script, Seen, Wire, scripts};

#[derive(Parser)]
#[command(about = "A scripted model server for tests, on 127.0.0.1")]
struct Arguments {
    /// The port; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
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

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: failed to serve: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> io::Result<ExitCode> {
    let mut out = io::stdout();
    if arguments.faults {
        for fault in Fault::all() {
            writeln!(out, "{:2} {}", fault.number(), fault.name())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let Some(script) = scripts::by_name(&arguments.script) else {
        eprintln!("error: there is no script `{}`", arguments.script);
        return Ok(ExitCode::from(2));
    };
    let script: Arc<dyn Script> = match arguments.fault.as_deref().map(|name| (name, Fault::by_name(name))) {
        None => script,
        Some((_, Some(fault))) => Arc::new(move |seen: &Seen| script.turn(seen).with(fault.clone())),
        Some((name, None)) => {
            eprintln!("error: there is no fault `{name}`; --faults lists them");
            return Ok(ExitCode::from(2));
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = ModelServer::start_on(arguments.port, script).await?;
        for wire in Wire::ALL {
            writeln!(out, "{wire} {}", server.base(wire))?;
        }
        out.flush()?;
        std::future::pending().await
    })
}
