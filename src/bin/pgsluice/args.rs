//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Writes streams and files into any database that speaks the Postgres protocol.
#[derive(Debug, Parser)]
#[command(name = "pgsluice", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Loads files into a table: CSV, TSV, NDJSON; plain, .gz or .zst
    Load(Box<LoadArgs>),
    /// Connects and says what the server, the user and the table allow; writes nothing
    Check(CheckArgs),
    /// Shows every option that -w and --options take
    Options {
        /// How they are shown
        #[arg(long, value_enum, default_value_t = OptionsFormat::Text)]
        format: OptionsFormat,
    },
    /// Writes the completion script of a shell to standard output
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OptionsFormat {
    Text,
    Markdown,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0 nothing is missing · 2 usage or configuration, or something is missing
  3 connection or authentication · 4 other server error · 6 local output failed")]
pub(crate) struct CheckArgs {
    /// The server, as URL or key=value words; else PG* variables, as in psql
    #[arg(short, long, env = "DATABASE_URL", hide_env_values = true)]
    pub(crate) dsn: Option<String>,
    /// The table that is to be written: t, schema.t; quoted parts keep their case
    #[arg(short, long)]
    pub(crate) table: Option<String>,
    /// The conflict key [default: the primary key]
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub(crate) key: Option<Vec<String>>,
    /// An option by its key (see `pgsluice options`)
    #[arg(short = 'w', long = "with", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// How it is told, on standard output
    #[arg(long, value_enum, default_value_t = SummaryArg::Text)]
    pub(crate) format: SummaryArg,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes:
  0 all in · 1 rows were rejected · 2 usage or configuration, input, table or grant missing
  3 connection or authentication · 4 other server error · 5 outcome unknown
  6 local input or output failed · 130, 143 signals")]
pub(crate) struct LoadArgs {
    /// Files, patterns, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<String>,
    /// The table: t, schema.t; quoted parts keep their case
    #[arg(short, long)]
    pub(crate) table: String,
    /// The server, as URL or key=value words; else PG* variables, as in psql
    #[arg(short, long, env = "DATABASE_URL", hide_env_values = true)]
    pub(crate) dsn: Option<String>,
    /// An option by its key (see `pgsluice options`); wins over the file
    #[arg(short = 'w', long = "with", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// A TOML file of options
    #[arg(long = "options", value_name = "FILE.toml")]
    pub(crate) options_file: Option<PathBuf>,

    /// The inputs' format; else by name (.csv .tsv .ndjson .jsonl, then .gz .zst), else by the first byte
    #[arg(long, value_enum, help_heading = "Input")]
    pub(crate) format: Option<FormatArg>,
    /// One character; `tab` and `\t` are the tab [default: a comma, in TSV a tab]
    #[arg(long, value_parser = character, help_heading = "Input")]
    pub(crate) delimiter: Option<char>,
    /// One character
    #[arg(long, value_parser = character, default_value = "\"", help_heading = "Input")]
    pub(crate) quote: char,
    /// What stands before a quote inside quotes [default: the quote]
    #[arg(long, value_parser = character, help_heading = "Input")]
    pub(crate) escape: Option<char>,
    /// The first line is a record; fields are those of --columns, else the table's columns in order
    #[arg(long, help_heading = "Input")]
    pub(crate) no_header: bool,
    /// With a header (or keys) the fields to load, without one the names of all fields
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = "Input")]
    pub(crate) columns: Option<Vec<String>>,
    /// What stands without quotes for NULL [default: nothing]
    #[arg(
        long = "null",
        value_name = "STR",
        default_value = "",
        hide_default_value = true,
        help_heading = "Input"
    )]
    pub(crate) null: String,
    /// Columns where --null is NULL even in quotes
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = "Input")]
    pub(crate) force_null: Vec<String>,
    /// Columns where --null is a text even without quotes
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = "Input")]
    pub(crate) force_not_null: Vec<String>,
    /// latin1, windows-1252, utf-16le, shift_jis …; a rejects file is UTF-8 whatever the input's
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) encoding: Option<String>,
    /// Fields that are no columns are skipped instead of refused
    #[arg(long, help_heading = "Input")]
    pub(crate) ignore_unknown: bool,
    /// The field that says the kind of change: +I -U +U -D, c u d r, or I U D
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) op_column: Option<String>,
    /// The zone of texts without offset [default: the server's, which is printed]
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub(crate) time_zone: Option<String>,

    /// The conflict key [default: the primary key]
    #[arg(long, value_delimiter = ',', value_name = "A,B", help_heading = "Table")]
    pub(crate) key: Option<Vec<String>>,
    /// Makes the table where it is missing: types are inferred over the first 8 MiB, or given ("id bigint, v text");
    /// --key becomes its primary key
    #[arg(
        long, value_name = "COLUMNS", num_args = 0..=1, default_missing_value = "", require_equals = true,
        help_heading = "Table"
    )]
    pub(crate) create: Option<String>,
    /// All or nothing: one transaction, of which nobody sees anything before its end
    #[arg(long, help_heading = "Table")]
    pub(crate) atomic: bool,
    /// Connects, reads and encodes all, and sends no row
    #[arg(long, help_heading = "Table")]
    pub(crate) dry_run: bool,

    /// So many rejected rows are borne, one more stops [default: 0; with --rejects any number]
    #[arg(long, value_name = "N", help_heading = "Outcome")]
    pub(crate) max_errors: Option<u64>,
    /// Rejected records go here as they came, with the header; the reasons to FILE.reasons.ndjson
    #[arg(long, value_name = "FILE", help_heading = "Outcome")]
    pub(crate) rejects: Option<PathBuf>,
    /// How far it is, on standard error; auto is a bar on a terminal, else plain lines
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto, help_heading = "Outcome")]
    pub(crate) progress: ProgressArg,
    /// What it came to: text on standard error, or one JSON object on standard output
    #[arg(long, value_enum, default_value_t = SummaryArg::Text, help_heading = "Outcome")]
    pub(crate) summary: SummaryArg,

    #[command(flatten)]
    pub(crate) later: Later,
}

/// Flags that are promised and not built: they are known, so that the message can say so.
#[derive(Debug, Args)]
pub(crate) struct Later {
    #[arg(long, hide = true)]
    resume: bool,
    #[arg(long, hide = true)]
    jobs: Option<String>,
    #[arg(long, hide = true)]
    changelog: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "", require_equals = true)]
    truncate: Option<String>,
}

impl Later {
    /// The first of them that is given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            ("--resume", self.resume),
            ("--jobs", self.jobs.is_some()),
            ("--changelog", self.changelog.is_some()),
            ("--truncate", self.truncate.is_some()),
        ]
        .into_iter()
        .find_map(|(flag, given)| given.then_some(flag))
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum FormatArg {
    Csv,
    Tsv,
    Ndjson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressArg {
    Auto,
    Plain,
    Json,
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryArg {
    Text,
    Json,
}

fn character(text: &str) -> Result<char, String> {
    let mut characters = match text {
        "tab" | "\\t" => "\t".chars(),
        text => text.chars(),
    };
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => Err("one character is needed".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
