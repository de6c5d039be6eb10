//! Files into a table: the engine behind `pgsluice load`.
//!
//! ```text
//! reader (a thread)                                  writing (async)
//! input -> csv | ndjson -> header -> encoded chunks -> sink -> committed
//!                                 \> refused ----------------> rejects
//! ```
//!
//! The engine prints nothing: it emits [`Event`]s and ends with an [`Outcome`]. Memory is the sink's budget, a few
//! chunks, and the longest record, however long the inputs are.

mod connect;
mod create;
mod csv;
mod events;
mod header;
mod input;
mod ndjson;
mod op;
mod options;
mod position;
mod reader;
mod rejects;
mod sample;
mod summary;
mod table;
mod writing;

use std::collections::HashSet;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::{mpsc, oneshot};

pub use events::{Event, Progress, Rejected};
pub use input::Format;
pub use options::{Create, LoadOptions};
pub use summary::{Ending, Outcome, Summary};

use self::input::Source;
use self::reader::{ColumnNames, Inputs, Parcel, Reader, Shared};
use self::rejects::RejectsFile;
use self::writing::Writing;
use crate::options::WriteOptions;
use crate::sink::Sink;
use crate::{Error, ErrorKind, Result};

/// Parcels between reading and writing: enough that neither waits for the other's jitter.
const PARCELS: usize = 8;

/// One load.
///
/// ```no_run
/// # async fn load() -> pgsluice::Result<()> {
/// use pgsluice::load::{Event, Load, LoadOptions};
///
/// let mut options = LoadOptions::new(["orders-*.csv.gz"], "public.orders");
/// options.dsn = Some("postgres://etl@db/shop".into());
/// options.rejects = Some("rejected.csv".into());
/// let mut events = |event: Event<'_>| println!("{event:?}");
/// let outcome = Load::new(options).run(&mut events, std::future::pending()).await?;
/// println!("{} rows are in", outcome.summary.written);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Load {
    options: LoadOptions,
}

/// What is there when the first record is read.
struct Ready {
    reader: Reader,
    parcels: mpsc::Receiver<Parcel>,
    rejects: Option<RejectsFile>,
    sink: Sink,
    write: WriteOptions,
    time_zone: Option<String>,
}

impl Load {
    /// A load by these options; nothing happens before [`run`](Self::run).
    pub fn new(options: LoadOptions) -> Self {
        Self { options }
    }

    /// Loads. `stop` ends it early: reading stops, what the sink has accepted is settled, and the outcome says how
    /// many rows are in. Give [`std::future::pending`] where nothing stops it.
    ///
    /// # Errors
    /// What is found before the first record is read: options, inputs, headers, the connection, the table. Whatever
    /// happens later is the outcome's [`Ending`].
    ///
    /// # Cancel safety
    /// Dropped, the load stops; records that are accepted and not committed are lost, and nothing says how many.
    pub async fn run(
        self,
        events: &mut (dyn FnMut(Event<'_>) + Send),
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome> {
        let started = Instant::now();
        let shared = Arc::<Shared>::default();
        let mut stop = pin!(stop);
        let ready = tokio::select! {
            biased;
            () = &mut stop => return Ok(self.nothing_read(Ending::Interrupted)),
            ready = self.prepare(&shared, events) => ready?,
        };
        match ready {
            Some(ready) => self.load(ready, &shared, started, events, stop).await,
            None => Ok(self.nothing_read(Ending::Complete)),
        }
    }

    /// Checks and opens everything; `None` where a dry run has nothing to write to.
    async fn prepare(
        &self,
        shared: &Arc<Shared>,
        events: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<Option<Ready>> {
        let inputs = Arc::new(Inputs::new(&self.options)?);
        let write = self.options.write_options()?;
        let rejects = match &self.options.rejects {
            Some(path) => Some(RejectsFile::create(path, &inputs.sources)?),
            None => None,
        };
        let pool = connect::connect(&self.options, &write).await?;
        let mut first = None;
        if let Some(create) = &self.options.create {
            let made = table::create(&pool, create, &inputs, Arc::clone(&shared.bytes), events).await?;
            if made.missing {
                events(Event::Notice("the table is not there yet, so the dry run ends here"));
                return Ok(None);
            }
            first = made.first;
        }
        let sink = Sink::open(&pool, &self.options.table, write.sink.clone()).await?;
        let time_zone = table::time_zone(&pool, &sink, &write.sink).await?;
        if let Some(zone) = &time_zone {
            events(Event::Notice(&format!("texts without offset are read in the time zone {zone}")));
        }
        let (out, parcels) = mpsc::channel(PARCELS);
        let reader = Reader {
            inputs,
            columns: ColumnNames::of(sink.table()),
            sink: sink.clone(),
            out,
            shared: Arc::clone(shared),
            first,
            skip_generated: write.sink.skip_generated_columns,
        };
        let reader = blocking("read headers", move || reader.check_headers().map(|()| reader)).await?;
        Ok(Some(Ready { reader, parcels, rejects, sink, write, time_zone }))
    }

    fn nothing_read(&self, ending: Ending) -> Outcome {
        let summary = Summary {
            table: self.options.table.clone(),
            stopped: !matches!(ending, Ending::Complete),
            dry_run: self.options.dry_run,
            ..Summary::default()
        };
        Outcome { summary, ending, keyed: false }
    }

    async fn load(
        &self,
        ready: Ready,
        shared: &Arc<Shared>,
        started: Instant,
        events: &mut (dyn FnMut(Event<'_>) + Send),
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome> {
        let Ready { reader, mut parcels, rejects, sink, write, time_zone } = ready;
        events(Event::Started { total_bytes: reader.inputs.size() });
        let keyed =
            write.sink.key_columns.is_some() || sink.table().unique_indexes.iter().any(|index| index.primary);
        let mut writing = Writing {
            sink,
            files: reader.inputs.sources.iter().map(Source::name).collect(),
            rejects,
            header: None,
            limit: self.options.error_limit(),
            shared: Arc::clone(shared),
            events,
            refused: 0,
            told: self.options.fails_at_once().then(HashSet::new),
            all_at_once: write.sink.write_mode.is_bulk(),
        };
        let read = spawn(reader)?;
        let (stats, ending) = writing.run(&mut parcels, read, stop).await;
        let rejected = writing.rejected();
        drop(parcels);
        let summary = Summary {
            table: self.options.table.clone(),
            read: shared.read.load(Ordering::Relaxed),
            written: stats.committed,
            without_effect: stats.without_effect,
            rejected,
            removed_u0000: stats.removed_u0000,
            unknown: stats.unknown,
            bytes: shared.bytes.load(Ordering::Relaxed),
            seconds: started.elapsed().as_secs_f64(),
            stopped: !matches!(ending, Ending::Complete),
            dry_run: self.options.dry_run,
            time_zone,
            error: match &ending {
                Ending::Failed(error) => Some(error.to_string()),
                _ => None,
            },
        };
        Ok(Outcome { summary, ending, keyed })
    }
}

/// Runs what waits for files beside the runtime's threads.
async fn blocking<T: Send + 'static>(
    operation: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| Err(broken(operation)))
}

fn broken(operation: &'static str) -> Error {
    Error::new(ErrorKind::Bug, operation, "the thread that did it broke down")
}

/// The reading thread: it may wait for its input for ever, so that nothing joins it.
fn spawn(reader: Reader) -> Result<oneshot::Receiver<Result<()>>> {
    let (done, result) = oneshot::channel();
    let run = move || {
        // Nobody listens where the load has ended already.
        drop(done.send(reader.run()));
    };
    match std::thread::Builder::new().name("pgsluice-read".into()).spawn(run) {
        Ok(_) => Ok(result),
        Err(error) => {
            Err(Error::new(ErrorKind::Io, "start the reading thread", error.to_string()).with_source(error))
        }
    }
}
