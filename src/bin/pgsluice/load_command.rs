//! `pgsluice load`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use pgsluice::load::{Create, Format, Load, LoadOptions, Outcome, Summary};
use pgsluice::options::split_pair;
use pgsluice::{Error, ErrorKind, Result};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{FormatArg, LoadArgs, SummaryArg};
use crate::exit::Exit;
use crate::report::{self, Report};

pub(crate) fn run(args: LoadArgs) -> Exit {
    let (progress, summary, table) = (args.progress, args.summary, args.table.clone());
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report::line(&format!("pgsluice: start: {error}"));
            return Exit::LocalIo;
        }
    };
    let signal = Arc::new(AtomicU8::new(0));
    let mut report = Report::new(progress);
    let result = runtime.block_on(load(args, &mut report, Arc::clone(&signal)));
    report.finish();
    // A connection that does not answer must not keep the process.
    runtime.shutdown_background();
    let signal = Some(signal.load(Ordering::Relaxed)).filter(|&number| number != 0);
    match result {
        Ok(outcome) => {
            let exit = Exit::of_outcome(&outcome, signal);
            let told = match summary {
                SummaryArg::Text => {
                    report::text_summary(&outcome, &report);
                    Exit::Success
                }
                SummaryArg::Json => {
                    report::text_error(&outcome);
                    crate::print(&report::json_summary(&outcome.summary, exit))
                }
            };
            if exit == Exit::Success { told } else { exit }
        }
        Err(error) => {
            let exit = Exit::of_error(&error);
            report::error(&error);
            if summary == SummaryArg::Json {
                let mut nothing = Summary::default();
                nothing.table = table;
                nothing.stopped = true;
                nothing.error = Some(error.to_string());
                crate::print(&report::json_summary(&nothing, exit));
            }
            exit
        }
    }
}

async fn load(args: LoadArgs, report: &mut Report, number: Arc<AtomicU8>) -> Result<Outcome> {
    let options = options(args)?;
    let stop = stop(number)?;
    Load::new(options).run(&mut |event| report.event(event), stop).await
}

/// Ends at the first SIGINT or SIGTERM and keeps its number; a second one ends the process at once.
fn stop(number: Arc<AtomicU8>) -> Result<impl Future<Output = ()>> {
    let listen = |kind| {
        signal(kind).map_err(|error| Error::new(ErrorKind::Io, "listen for signals", error.to_string()))
    };
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        let first = either(&mut interrupt, &mut terminate).await;
        number.store(first, Ordering::Relaxed);
        report::line("pgsluice: stopping; batches under way are waited for, a second signal ends at once");
        tokio::spawn(async move {
            let second = either(&mut interrupt, &mut terminate).await;
            std::process::exit(Exit::Signal(second).code().into());
        });
    })
}

async fn either(
    interrupt: &mut tokio::signal::unix::Signal,
    terminate: &mut tokio::signal::unix::Signal,
) -> u8 {
    const SIGINT: u8 = 2;
    const SIGTERM: u8 = 15;
    tokio::select! {
        _ = interrupt.recv() => SIGINT,
        _ = terminate.recv() => SIGTERM,
    }
}

fn options(args: LoadArgs) -> Result<LoadOptions> {
    if let Some(flag) = args.later.given() {
        return Err(Error::new(
            ErrorKind::Unsupported,
            "read arguments",
            format!("{flag} is not available yet"),
        ));
    }
    let mut options = LoadOptions::new(args.inputs, args.table);
    options.dsn = args.dsn;
    options.format = args.format.map(|format| match format {
        FormatArg::Csv => Format::Csv,
        FormatArg::Tsv => Format::Tsv,
        FormatArg::Ndjson => Format::Ndjson,
    });
    options.delimiter = args.delimiter;
    options.quote = args.quote;
    options.escape = args.escape;
    options.header = !args.no_header;
    options.columns = args.columns;
    options.null = args.null;
    options.encoding = args.encoding;
    options.force_null = args.force_null;
    options.force_not_null = args.force_not_null;
    options.ignore_unknown = args.ignore_unknown;
    options.key = args.key;
    options.time_zone = args.time_zone;
    options.op_column = args.op_column;
    options.create =
        args.create.map(|columns| if columns.is_empty() { Create::Infer } else { Create::Columns(columns) });
    options.atomic = args.atomic;
    options.dry_run = args.dry_run;
    options.max_errors = args.max_errors;
    options.rejects = args.rejects;
    options.options_file = args.options_file;
    options.settings = args.settings.iter().map(|pair| split_pair(pair)).collect::<Result<_>>()?;
    Ok(options)
}
