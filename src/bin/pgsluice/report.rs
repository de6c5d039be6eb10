//! Events and outcomes on the screen.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use pgsluice::Error;
use pgsluice::load::{Ending, Event, Outcome, Progress, Summary};

use crate::args::ProgressArg;
use crate::exit::Exit;

/// Time between two plain lines.
const PLAIN: Duration = Duration::from_secs(5);

/// Time between two JSON lines.
const JSON: Duration = Duration::from_secs(1);

/// Rejected records that are shown; all are counted, and all are in the rejects file.
const SHOWN_REJECTS: u64 = 20;

/// Draws what happens, on standard error.
pub(crate) struct Report {
    style: Style,
    started: Instant,
    last: Instant,
    total_bytes: Option<u64>,
    rejected: u64,
}

enum Style {
    Bar(ProgressBar),
    Plain,
    Json,
    Never,
}

impl Report {
    pub(crate) fn new(progress: ProgressArg) -> Self {
        let style = match progress {
            ProgressArg::Auto if io::stderr().is_terminal() => Style::Bar(ProgressBar::hidden()),
            ProgressArg::Auto | ProgressArg::Plain => Style::Plain,
            ProgressArg::Json => Style::Json,
            ProgressArg::Never => Style::Never,
        };
        let now = Instant::now();
        Self { style, started: now, last: now, total_bytes: None, rejected: 0 }
    }

    pub(crate) fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Notice(words) => self.line(&format!("pgsluice: {words}")),
            Event::Started { total_bytes } => {
                self.total_bytes = total_bytes;
                if let Style::Bar(bar) = &self.style {
                    start(bar, total_bytes);
                }
            }
            Event::Progress(progress) => self.progress(progress),
            Event::Rejected(rejected) => {
                self.rejected += 1;
                if self.rejected <= SHOWN_REJECTS {
                    self.line(&format!("pgsluice: {rejected}"));
                }
                if self.rejected == SHOWN_REJECTS + 1 {
                    self.line("pgsluice: further rejected records are counted and not shown");
                }
            }
            _ => {}
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        if let Style::Bar(bar) = &self.style {
            bar.finish_and_clear();
        }
    }

    fn progress(&mut self, progress: Progress) {
        let wait = match &self.style {
            Style::Bar(bar) => {
                bar.set_position(progress.bytes);
                bar.set_message(counts(progress, self.started.elapsed()));
                return;
            }
            Style::Plain => PLAIN,
            Style::Json => JSON,
            Style::Never => return,
        };
        if self.last.elapsed() < wait {
            return;
        }
        self.last = Instant::now();
        let seconds = self.started.elapsed().as_secs_f64();
        let words = if matches!(self.style, Style::Json) {
            let Progress { read, committed, rejected, bytes, .. } = progress;
            serde_json::json!({
                "read": read, "written": committed, "rejected": rejected, "bytes": bytes,
                "total_bytes": self.total_bytes, "seconds": seconds,
            })
            .to_string()
        } else {
            let share = self.total_bytes.filter(|&total| total > 0).map_or_else(String::new, |total| {
                format!("{} % of the input, ", 100 * progress.bytes.min(total) / total)
            });
            format!("pgsluice: {share}{}", counts(progress, self.started.elapsed()))
        };
        line(&words);
    }

    fn line(&self, words: &str) {
        match &self.style {
            Style::Bar(bar) => bar.suspend(|| line(words)),
            _ => line(words),
        }
    }
}

/// Shows the bar: nothing is drawn before its style and length are known.
fn start(bar: &ProgressBar, total_bytes: Option<u64>) {
    let template = match total_bytes {
        Some(_) => "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}  {msg}",
        None => "{spinner} {bytes} {bytes_per_sec} {elapsed}  {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    if let Some(total) = total_bytes {
        bar.set_length(total);
    }
    bar.set_draw_target(ProgressDrawTarget::stderr());
}

fn counts(progress: Progress, elapsed: Duration) -> String {
    let rate = progress.committed as f64 / elapsed.as_secs_f64().max(0.001);
    let mut words = format!(
        "{} read, {} written ({} rows/s)",
        HumanCount(progress.read),
        HumanCount(progress.committed),
        HumanCount(rate as u64)
    );
    if progress.rejected > 0 {
        // Writing to a String cannot fail.
        let _ = write!(words, ", {} rejected", HumanCount(progress.rejected));
    }
    words
}

/// One line to standard error. Where even that is closed nothing can be said, and the exit code still says it.
pub(crate) fn line(words: &str) {
    let _ = writeln!(io::stderr().lock(), "{words}");
}

/// An error with its causes.
pub(crate) fn error(error: &Error) {
    let mut words = format!("pgsluice: {error}");
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            let _ = write!(words, "; caused by: {cause_words}");
        }
        source = cause.source();
    }
    line(&words);
}

/// Why the load ended and how to go on.
pub(crate) fn text_error(outcome: &Outcome) {
    if let Ending::Failed(failure) = &outcome.ending {
        error(failure);
    }
    if let Some(advice) = outcome.advice() {
        line(&format!("pgsluice: {advice}"));
    }
}

/// The summary on standard error.
pub(crate) fn text_summary(outcome: &Outcome, report: &Report) {
    text_error(outcome);
    let summary = &outcome.summary;
    let mut words = format!(
        "{}: {} read, {} written, {} rejected, {}, {:.1} s",
        summary.table,
        HumanCount(summary.read),
        HumanCount(summary.written),
        HumanCount(summary.rejected),
        HumanBytes(summary.bytes),
        summary.seconds
    );
    for (count, what) in [
        (summary.without_effect, "without effect"),
        (summary.removed_u0000, "texts without their U+0000"),
        (summary.unknown, "of unknown outcome"),
    ] {
        if count > 0 {
            let _ = write!(words, "; {} {what}", HumanCount(count));
        }
    }
    if summary.dry_run {
        words.push_str("; dry run, no row was sent");
    }
    report.line(&words);
}

/// The summary as one line of JSON.
pub(crate) fn json_summary(summary: &Summary, exit: Exit) -> String {
    let mut object = serde_json::to_value(summary).unwrap_or_default();
    if let Some(object) = object.as_object_mut() {
        object.insert("exit_code".into(), exit.code().into());
    }
    format!("{object}\n")
}
