//! The `pgsluice` command: arguments to the engine, its events to the screen, its outcome to an exit code.

mod args;
mod check_command;
mod exit;
mod load_command;
mod report;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use self::args::{Cli, Command, OptionsFormat};
use self::exit::Exit;

fn main() -> ExitCode {
    // clap ends a wrong command line with the code 2, which is Exit::Usage.
    let cli = Cli::parse();
    let filter = tracing_subscriber::EnvFilter::try_from_env("PGSLUICE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let exit = match cli.command {
        Command::Load(args) => load_command::run(*args),
        Command::Check(args) => check_command::run(args),
        Command::Options { format } => print(&match format {
            OptionsFormat::Text => pgsluice::options::render::render_text(),
            OptionsFormat::Markdown => pgsluice::options::render::render_markdown(),
            OptionsFormat::Json => pgsluice::options::render::render_json(),
        }),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pgsluice", &mut script);
            print(&String::from_utf8_lossy(&script))
        }
    };
    exit.into()
}

/// Writes to standard output. A reader that has gone (`| head -1`) is no failure.
fn print(text: &str) -> Exit {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            report::line(&format!("pgsluice: standard output: {error}"));
            Exit::LocalIo
        }
        _ => Exit::Success,
    }
}
