//! Other ways in: tuples by position, and [`futures::Sink`].

use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::{Chunk, Encoder, Sink};
use crate::error::{Error, Result};
use crate::record::{Record, RowKind, Value};

/// Writes tuples: values in the order of the declared columns.
#[derive(Debug)]
pub struct Columns {
    sink: Sink,
    encoder: Encoder,
}

impl Columns {
    pub(super) fn new(sink: Sink, encoder: Encoder) -> Self {
        Self { sink, encoder }
    }

    /// Writes a change; `values` may be shorter than the declared columns: the rest is absent.
    ///
    /// # Errors
    /// As [`Sink::upsert`]; more values than columns are a `Data` error.
    ///
    /// # Cancel safety
    /// As [`Sink::upsert`].
    pub async fn write(&mut self, kind: RowKind, values: &[Value<'_>]) -> Result<()> {
        self.fill(kind, |row| {
            values.iter().enumerate().try_for_each(|(index, value)| row.value(index, value))
        })
        .await
    }

    /// Writes a change whose fields are texts, read as the columns' input functions read them; `None` is NULL.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    ///
    /// # Cancel safety
    /// As [`Sink::upsert`].
    pub async fn write_text(&mut self, kind: RowKind, fields: &[Option<&str>]) -> Result<()> {
        self.fill(kind, |row| {
            fields.iter().enumerate().try_for_each(|(index, field)| match field {
                Some(text) => row.text(index, text),
                None => row.null(index),
            })
        })
        .await
    }

    async fn fill(
        &mut self,
        kind: RowKind,
        fill: impl FnOnce(&mut super::RowEncoder<'_>) -> Result<(), super::RecordError>,
    ) -> Result<()> {
        self.sink.ready()?;
        let mut chunk = Chunk::new();
        let mut row = self.encoder.row(&mut chunk, kind, 0);
        let filled = fill(&mut row);
        match filled.and_then(|()| row.finish(None)) {
            Ok(()) => self.sink.take_over(&mut chunk).await,
            Err(error) => self.sink.reject(0, error, None),
        }
    }
}

/// The write or flush that a [`futures::Sink`] has under way. A clone starts with none.
#[derive(Default)]
pub(super) struct Pending(Mutex<Option<(Work, BoxFuture<'static, Result<()>>)>>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Write,
    /// A flush or close.
    End,
}

impl Clone for Pending {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Sink {
    fn start(&mut self, work: Work, future: impl Future<Output = Result<()>> + Send + 'static) {
        *self.adapter.0.get_mut().unwrap_or_else(PoisonError::into_inner) = Some((work, future.boxed()));
    }

    /// What was under way, once it has ended.
    fn poll_pending(&mut self, cx: &mut Context<'_>) -> Poll<Option<(Work, Result<()>)>> {
        let pending = self.adapter.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some((work, future)) = pending else { return Poll::Ready(None) };
        let ended = (*work, ready!(future.poll_unpin(cx)));
        *pending = None;
        Poll::Ready(Some(ended))
    }

    fn poll_end<F>(&mut self, cx: &mut Context<'_>, end: impl FnOnce(Self) -> F) -> Poll<Result<()>>
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        match ready!(self.poll_pending(cx)) {
            Some((Work::End, result)) | Some((Work::Write, result @ Err(_))) => return Poll::Ready(result),
            Some((Work::Write, Ok(()))) | None => {}
        }
        let sink = self.clone();
        self.start(Work::End, end(sink));
        self.poll_pending(cx).map(|ended| ended.map_or(Ok(()), |(_, result)| result))
    }
}

/// `poll_ready` waits for the record before; `poll_flush` and `poll_close` are [`Sink::flush`] and [`Sink::close`].
impl futures::Sink<Record> for Sink {
    type Error = Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(ready!(self.poll_pending(cx)).map_or(Ok(()), |(_, result)| result))
    }

    fn start_send(mut self: Pin<&mut Self>, record: Record) -> Result<()> {
        let sink = self.clone();
        self.start(Work::Write, async move { sink.write_record(record).await });
        Ok(())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.poll_end(cx, |sink| async move { sink.flush().await.map(drop) })
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.poll_end(cx, |sink| async move { sink.close().await.map(drop) })
    }
}
