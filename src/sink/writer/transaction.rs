//! Steps in a transaction: pipelined where no answer decides what comes next.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio_postgres::error::{DbError, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error as ClientError};

use super::copy::{copied_row, copy};
use super::in_doubt::Identity;
use super::lock::KeyRows;
use super::parameter::{FieldOffsets, Parameter, Rows, parameters};
use super::statement::{Statement, Way, way};
use super::{Conduct, Failure, Written, refused_whole};
use crate::error::{ServerFault, from_server, is_data};
use crate::options::CopyFormat;
use crate::sink::copying::Copying;
use crate::sink::plan::{Form, Plan, Step};
use crate::sink::target::Target;
use crate::sql::statement::{Source, copy_to_stage};

/// A join over more rows than this may be planned as a scan of the whole table.
const JOINED_ROWS: usize = 512;

/// One connection, for the statements of one batch.
pub(super) struct Transaction<'a> {
    pub(super) client: &'a Client,
    pub(super) target: &'a Target,
    conduct: Conduct<'a>,
    /// Of the open transaction, where its fate may have to be asked.
    identity: Mutex<Option<Identity>>,
    answered: AtomicBool,
    /// The staging table may hold rows of this transaction.
    staged: AtomicBool,
    /// The server has refused to begin a COPY. The client library ends it all the same, which the server answers once
    /// more: from here on each answer on this connection is that of the statement before.
    out_of_step: AtomicBool,
}

/// Why statements did not all succeed.
pub(super) enum Trouble {
    /// A record is to blame; the transaction (or its savepoint) has failed.
    Data(ServerFault),
    Other(Failure),
}

/// A statement with its rows.
struct Request<'a> {
    statement: Statement,
    source: Source,
    optimistic: Option<String>,
    rows: Rows<'a>,
    offsets: FieldOffsets,
    /// Records that the rows stand for, where those that change nothing are counted by record.
    records: u64,
}

impl Request<'_> {
    /// No answer decides what comes next.
    fn is_plain(&self) -> bool {
        matches!(self.statement, Statement::One(_) | Statement::Nothing)
            && !matches!(self.source, Source::Stage(_))
            && self.optimistic.is_none()
    }
}

impl<'a> Transaction<'a> {
    pub(super) fn new(client: &'a Client, target: &'a Target, conduct: Conduct<'a>) -> Self {
        Self {
            client,
            target,
            conduct,
            identity: Mutex::default(),
            answered: AtomicBool::new(false),
            staged: AtomicBool::new(conduct.inside),
            out_of_step: AtomicBool::new(false),
        }
    }

    /// Whether the server has answered any statement.
    pub(super) fn answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// The whole plan in a transaction of its own; none where a data error undid it all.
    pub(super) async fn run(&self, plan: &Plan<'_>) -> Result<Option<Written>, Failure> {
        let steps = plan.steps(0..plan.units.len());
        let keys = self.conduct.lock_first.then(|| KeyRows::new(self.target, plan)).flatten();
        let mut requests: Vec<Request<'_>> = keys.iter().flat_map(|keys| self.locks(keys)).collect();
        requests.extend(self.requests(plan, &steps));
        let single = requests.len() == 1 && self.immediate().is_none() && self.target.prelude.is_none();
        let pipelined = requests.iter().all(Request::is_plain);
        let settles = self.conduct.in_doubt.is_some();
        let sent = if settles && pipelined {
            // The identity must be known before COMMIT is sent.
            self.pipeline(&requests, &self.opening(), &[], false).await
        } else if single && pipelined {
            // One statement is a transaction by itself.
            self.pipeline(&requests, &[], &[], true).await
        } else if pipelined {
            let after: Vec<&str> = self.immediate().into_iter().chain(["COMMIT"]).collect();
            self.pipeline(&requests, &self.opening(), &after, true).await
        } else {
            self.begin().await?;
            self.one_by_one(&requests).await
        };
        let open = settles || !pipelined;
        let written = sent.map(|without_effect| Written { without_effect, rejected: Vec::new() });
        let committed = match written {
            Ok(written) if open => self.commit(written).await,
            other => other,
        };
        match committed {
            Ok(written) => Ok(Some(written)),
            Err(Trouble::Data(_)) => {
                if open {
                    self.rollback().await?;
                }
                Ok(None)
            }
            Err(Trouble::Other(failure)) => Err(failure),
        }
    }

    pub(super) async fn begin(&self) -> Result<(), Failure> {
        match self.pipeline(&[], &self.opening(), &[], false).await {
            Ok(_) => Ok(()),
            Err(Trouble::Other(failure)) => Err(failure),
            Err(Trouble::Data(fault)) => Err(refused_whole("begin batch", fault)),
        }
    }

    fn identity(&self) -> MutexGuard<'_, Option<Identity>> {
        // Only whole values are ever put there.
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who the open transaction is, for the call that commits it.
    pub(super) fn take_identity(&self) -> Option<Identity> {
        self.identity().take()
    }

    pub(super) fn set_identity(&self, identity: Option<Identity>) {
        *self.identity() = identity;
    }

    /// A step in the transaction that is open; an error has undone all of it.
    pub(super) async fn step(&self, plan: &Plan<'_>, step: &Step) -> Result<u64, Trouble> {
        self.one_by_one(&self.requests(plan, std::slice::from_ref(step))).await
    }

    pub(super) async fn execute_text(&self, sql: &str) -> Result<(), Failure> {
        self.client.batch_execute(sql).await.map_err(|error| not_committed(&error))
    }

    /// Reads who the open transaction is.
    async fn identify(&self) -> Result<(), ClientError> {
        match Identity::read(self.client).await {
            Ok(identity) => {
                *self.identity() = identity;
                Ok(())
            }
            Err(error) => {
                if let Some(in_doubt) = self.conduct.in_doubt {
                    in_doubt.note_refusal(&error);
                }
                Err(error)
            }
        }
    }

    /// Commits the transaction, whose statements were all seen to succeed.
    pub(super) async fn commit(&self, written: Written) -> Result<Written, Trouble> {
        if let Some(immediate) = self.immediate() {
            self.client.batch_execute(immediate).await.map_err(|error| self.trouble(&error, false))?;
        }
        let identity = self.identity().take();
        if let (Some(in_doubt), Some(identity)) = (self.conduct.in_doubt, identity) {
            in_doubt.enter(identity, written.clone());
        }
        let answer = self.client.batch_execute("COMMIT").await.map_err(|error| self.trouble(&error, true));
        if let Some(in_doubt) = self.conduct.in_doubt
            && matches!(answer, Ok(()) | Err(Trouble::Data(_)))
        {
            in_doubt.leave();
        }
        answer.map(|()| written)
    }

    pub(super) async fn rollback(&self) -> Result<(), Failure> {
        self.execute_text("ROLLBACK").await
    }

    /// The units inside a savepoint: kept, or undone with the fault of the first statement that failed.
    pub(super) async fn attempt(
        &self,
        plan: &Plan<'_>,
        units: &[usize],
    ) -> Result<Result<u64, ServerFault>, Failure> {
        let steps = plan.steps(units.iter().copied());
        let requests = self.requests(plan, &steps);
        let pipelined = requests.iter().all(Request::is_plain);
        let after: Vec<&str> = self.immediate().into_iter().chain(["RELEASE SAVEPOINT pgsluice"]).collect();
        let result = if pipelined {
            self.pipeline(&requests, &["SAVEPOINT pgsluice"], &after, false).await
        } else {
            self.savepoint_one_by_one(&requests, &after).await
        };
        match result {
            Ok(without_effect) => Ok(Ok(without_effect)),
            Err(Trouble::Data(fault)) => {
                let undo = "ROLLBACK TO SAVEPOINT pgsluice; RELEASE SAVEPOINT pgsluice";
                self.client.batch_execute(undo).await.map_err(|error| not_committed(&error))?;
                Ok(Err(fault))
            }
            Err(Trouble::Other(failure)) => Err(failure),
        }
    }

    async fn savepoint_one_by_one(&self, requests: &[Request<'_>], after: &[&str]) -> Result<u64, Trouble> {
        let execute = |text| self.client.batch_execute(text);
        execute("SAVEPOINT pgsluice").await.map_err(|error| self.trouble(&error, false))?;
        let without_effect = self.one_by_one(requests).await?;
        for text in after {
            execute(text).await.map_err(|error| self.trouble(&error, false))?;
        }
        Ok(without_effect)
    }

    /// Deferred constraints would fail at COMMIT, when nothing is left to narrow down.
    fn immediate(&self) -> Option<&'static str> {
        self.target.table.deferrable_constraints.then_some("SET CONSTRAINTS ALL IMMEDIATE")
    }

    fn opening(&self) -> Vec<&str> {
        std::iter::once("BEGIN").chain(self.target.prelude.as_deref()).collect()
    }

    /// The statements that lock what is stored of a batch's keys. They change nothing and count for no record.
    fn locks<'p>(&self, keys: &'p KeyRows) -> Vec<Request<'p>> {
        let (sql, source) = keys.statement(self.target);
        let lock = |rows: Rows<'p>| Request {
            statement: Statement::One(sql.clone()),
            source,
            optimistic: None,
            offsets: offsets(source, &rows),
            rows,
            records: 0,
        };
        keys.chunks(JOINED_ROWS).map(lock).collect()
    }

    fn requests<'p>(&self, plan: &'p Plan<'_>, steps: &'p [Step]) -> Vec<Request<'p>> {
        let mut requests = Vec::with_capacity(steps.len());
        for step in steps {
            let Way { statement, source, optimistic } =
                way(self.target, step.form, &step.set, step.units.len());
            let joined = match &statement {
                Statement::Pair { .. } => true,
                _ => match step.form {
                    Form::Delete => source == Source::RowArray || step.set.len() > 1,
                    Form::Nullify => true,
                    _ => false,
                },
            };
            let most = if joined { JOINED_ROWS } else { usize::MAX };
            for units in step.units.chunks(most) {
                let rows =
                    Rows { set: &step.set, rows: units.iter().map(|&unit| plan.fields(unit)).collect() };
                let records: usize = match step.form {
                    Form::Ignore => units.iter().map(|&unit| plan.records(unit).len()).sum(),
                    _ => units.len(),
                };
                requests.push(Request {
                    statement: statement.clone(),
                    source,
                    optimistic: optimistic.clone(),
                    offsets: offsets(source, &rows),
                    rows,
                    records: records as u64,
                });
            }
        }
        requests
    }

    /// Sends all at once; `commits` says that the last text makes the statements durable.
    async fn pipeline(
        &self,
        requests: &[Request<'_>],
        before: &[&str],
        after: &[&str],
        commits: bool,
    ) -> Result<u64, Trouble> {
        let text = |text| async move { self.client.batch_execute(text).await.map(|()| 0) }.boxed();
        let mut futures: Vec<BoxFuture<'_, Result<u64, ClientError>>> = Vec::new();
        futures.extend(before.iter().map(|&sql| text(sql)));
        if before.first() == Some(&"BEGIN") && self.conduct.in_doubt.is_some() {
            futures.push(async { self.identify().await.map(|()| 0) }.boxed());
        }
        let mut without_effect = 0;
        for request in requests {
            let sql = match &request.statement {
                Statement::One(sql) => sql,
                Statement::Nothing => {
                    without_effect += request.records;
                    continue;
                }
                Statement::Pair { .. } | Statement::Copy(_) => {
                    return Err(Trouble::Other(Failure::not_committed(super::broken(
                        "a request whose answers count cannot be pipelined",
                    ))));
                }
            };
            let run = async move {
                let affected = self.execute(sql, request.source, &request.rows, &request.offsets).await?;
                Ok(request.records.saturating_sub(affected))
            };
            futures.push(run.boxed());
        }
        futures.extend(after.iter().map(|&sql| text(sql)));
        let mut first = None;
        for result in in_order(futures).await {
            match result {
                Ok(count) => {
                    without_effect += count;
                    self.answered.store(true, Ordering::Relaxed);
                }
                // What follows the first error only says that the transaction has failed.
                Err(error) => {
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) => Err(self.trouble(&error, commits)),
            None => Ok(without_effect),
        }
    }

    async fn one_by_one(&self, requests: &[Request<'_>]) -> Result<u64, Trouble> {
        let mut without_effect = 0;
        for request in requests {
            without_effect += match &request.statement {
                Statement::Nothing => request.records,
                Statement::Copy(sql) => {
                    let affected = self.copy(sql, &request.rows).await;
                    request.records.saturating_sub(affected.map_err(|error| self.trouble(&error, false))?)
                }
                Statement::One(sql) => {
                    let affected = self.one(sql, request).await;
                    request.records.saturating_sub(affected.map_err(|error| self.trouble(&error, false))?)
                }
                Statement::Pair { update, insert, upsert } => {
                    let left = self.pair(update, insert, upsert.as_deref(), request).await;
                    left.map_err(|error| self.trouble(&error, false))?
                }
            };
        }
        Ok(without_effect)
    }

    /// One statement, or the COPY that takes its place.
    async fn one(&self, sql: &str, request: &Request<'_>) -> Result<u64, ClientError> {
        if let Some(copy) = request.optimistic.as_deref().filter(|_| self.conduct.optimism.tries()) {
            self.client.batch_execute("SAVEPOINT pgsluice_new").await?;
            let copied = self.copy(copy, &request.rows).await;
            let stored =
                copied.as_ref().is_err_and(|error| error.code() == Some(&SqlState::UNIQUE_VIOLATION));
            self.conduct.optimism.learn(!stored);
            if !stored {
                let affected = copied?;
                self.client.batch_execute("RELEASE SAVEPOINT pgsluice_new").await?;
                return Ok(affected);
            }
            let undo = "ROLLBACK TO SAVEPOINT pgsluice_new; RELEASE SAVEPOINT pgsluice_new";
            self.client.batch_execute(undo).await?;
        }
        match (request.source, &self.target.copying) {
            (Source::Stage(name), Some(Copying { stage: Some(stage), format, .. })) => {
                let rows = &request.rows;
                self.client.batch_execute(&stage.create).await?;
                if self.staged.swap(true, Ordering::Relaxed) {
                    self.client.batch_execute(&format!("TRUNCATE {name}")).await?;
                }
                let fill = copy_to_stage(name, rows.set, *format);
                self.copy(&fill, rows).await?;
                self.client.execute_typed(sql, &[]).await
            }
            (source, _) => self.execute(sql, source, &request.rows, &request.offsets).await,
        }
    }

    async fn copy(&self, sql: &str, rows: &Rows<'_>) -> Result<u64, ClientError> {
        let format = self.target.copying.as_ref().map_or(CopyFormat::Binary, |copying| copying.format);
        let begun = self.client.copy_in(sql).await;
        self.out_of_step.store(begun.is_err(), Ordering::Relaxed);
        copy(begun?, rows, &self.target.codecs, format).await
    }

    /// Updates what is stored and inserts the rest. A key that came in between goes round again, once; what then is
    /// left has a row that hides (a trigger or row security swallows it), or is told by ON CONFLICT.
    async fn pair(
        &self,
        update: &str,
        insert: &str,
        upsert: Option<&str>,
        request: &Request<'_>,
    ) -> Result<u64, ClientError> {
        let source = request.source;
        let mut rows = Rows { set: request.rows.set, rows: request.rows.rows.clone() };
        for _ in 0..2 {
            let found = {
                let offsets = offsets(source, &rows);
                let parameters = parameters(self.target, source, &rows, &offsets);
                self.client.query_typed(update, &borrowed(&parameters)).await?
            };
            let mut missing = vec![true; rows.rows.len()];
            for row in found {
                let ordinal: i64 = row.try_get(0)?;
                missing[usize::try_from(ordinal - 1).unwrap_or_default()] = false;
            }
            let mut missing = missing.into_iter();
            rows.rows.retain(|_| missing.next().unwrap_or_default());
            if rows.rows.is_empty() {
                return Ok(0);
            }
            let inserted = self.execute(insert, source, &rows, &offsets(source, &rows)).await?;
            if inserted == rows.rows.len() as u64 {
                return Ok(0);
            }
        }
        let left = rows.rows.len() as u64;
        let Some(upsert) = upsert else { return Ok(left) };
        let affected = self.execute(upsert, source, &rows, &offsets(source, &rows)).await?;
        Ok(left.saturating_sub(affected))
    }

    fn trouble(&self, error: &ClientError, commits: bool) -> Trouble {
        let refuses_record = |db: &DbError| {
            // Row security refuses a row with the code of a missing grant.
            is_data(db) || (db.code().code() == "42501" && self.target.table.row_security)
        };
        let out_of_step = self.out_of_step.load(Ordering::Relaxed);
        match error.as_db_error() {
            Some(db) if !out_of_step && refuses_record(db) => {
                let relation = &self.target.table.relation.name.name;
                Trouble::Data(ServerFault { copied_row: copied_row(db, relation), ..ServerFault::new(db) })
            }
            Some(_) => Trouble::Other(Failure { out_of_step, ..not_committed(error) }),
            None => Trouble::Other(Failure { unknown: commits, ..not_committed(error) }),
        }
    }

    async fn execute(
        &self,
        sql: &str,
        source: Source,
        rows: &Rows<'_>,
        offsets: &FieldOffsets,
    ) -> Result<u64, ClientError> {
        let parameters = parameters(self.target, source, rows, offsets);
        self.client.execute_typed(sql, &borrowed(&parameters)).await
    }

    /// The first column of each row of an answer.
    pub(super) async fn numbers(
        &self,
        sql: &str,
        source: Source,
        rows: &Rows<'_>,
    ) -> Result<Vec<i64>, Trouble> {
        let offsets = offsets(source, rows);
        let parameters = parameters(self.target, source, rows, &offsets);
        let answer = self.client.query_typed(sql, &borrowed(&parameters)).await;
        let numbers = answer.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect());
        numbers.map_err(|error| self.trouble(&error, false))
    }
}

fn offsets(source: Source, rows: &Rows<'_>) -> FieldOffsets {
    match source {
        Source::ColumnArrays => FieldOffsets::new(rows),
        Source::RowArray | Source::Stage(_) => FieldOffsets::none(),
    }
}

fn borrowed<'p>(parameters: &'p [(Parameter<'_>, Type)]) -> Vec<(&'p (dyn ToSql + Sync), Type)> {
    parameters.iter().map(|(value, data_type)| (value as &(dyn ToSql + Sync), data_type.clone())).collect()
}

pub(super) fn not_committed(error: &ClientError) -> Failure {
    Failure::not_committed(from_server("write batch", error))
}

/// Starts each request before it awaits the first: the order on the wire is the order here.
pub(super) async fn in_order<T>(mut requests: Vec<BoxFuture<'_, T>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = Vec::with_capacity(requests.len());
    for request in &mut requests {
        done.push(match futures::poll!(request.as_mut()) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        });
    }
    let mut results = Vec::with_capacity(done.len());
    for (request, done) in requests.into_iter().zip(done) {
        results.push(match done {
            Some(value) => value,
            None => request.await,
        });
    }
    results
}
