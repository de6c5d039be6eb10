//! Whether a pooler stands between this client and the server.
//!
//! A pooler makes up the process id that it gives a client at the login, since the client has no server process of its own;
//! a server gives the id that `pg_backend_pid()` tells too. The client library keeps that id to itself, but for the cancel
//! requests that it writes.

use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_postgres::{Client, SimpleQueryMessage};

/// True where the server's process id is not the one of the login. Where either is not known, nothing is seen.
pub(super) async fn stands_before(client: &Client) -> bool {
    let Some(told) = process_id(client).await else { return false };
    // A simple query, since a pooler may have another server's named statements behind it.
    let Ok(messages) = client.simple_query("SELECT pg_catalog.pg_backend_pid()").await else { return false };
    let own = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse::<i32>().ok(),
        _ => None,
    });
    own.is_some_and(|own| own != told)
}

/// The process id that the login gave.
async fn process_id(client: &Client) -> Option<i32> {
    let mut request = Vec::new();
    client.cancel_token().cancel_query_raw(Taken(&mut request), NoHandshake).await.ok()?;
    // It ends with the id and the secret key, four bytes each.
    let start = request.len().checked_sub(8)?;
    request[start..start + 4].try_into().ok().map(i32::from_be_bytes)
}

/// Keeps what is written to it, and agrees to TLS.
struct Taken<'a>(&'a mut Vec<u8>);

impl AsyncRead for Taken<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(b"S");
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Taken<'_> {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().0.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl TlsStream for Taken<'_> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// A handshake of no bytes: nothing leaves this process.
struct NoHandshake;

impl<'a> TlsConnect<Taken<'a>> for NoHandshake {
    type Stream = Taken<'a>;
    type Error = io::Error;
    type Future = Ready<Result<Taken<'a>, io::Error>>;

    fn connect(self, stream: Taken<'a>) -> Self::Future {
        ready(Ok(stream))
    }
}
