//! tokio-postgres's TLS interface on tokio-rustls, with channel binding.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use sha2::{Digest, Sha256, Sha384, Sha512};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

use super::certificate::{BindingHash, binding_hash};

/// Makes TLS sessions of one configuration; also for cancel requests.
#[derive(Clone)]
pub(in crate::connection) struct Connector {
    config: Arc<ClientConfig>,
    name_is_checked: bool,
}

impl Connector {
    pub(in crate::connection) fn new(config: Arc<ClientConfig>, name_is_checked: bool) -> Self {
        Self { config, name_is_checked }
    }
}

impl<S> MakeTlsConnect<S> for Connector
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<Handshake> {
        let name = match ServerName::try_from(host) {
            Ok(name) => name.to_owned(),
            // A name that TLS cannot carry is left out of the handshake (an address is never sent).
            Err(_) if !self.name_is_checked => ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidInput, error)),
        };
        Ok(Handshake { config: self.config.clone(), name })
    }
}

/// One handshake to come.
pub(in crate::connection) struct Handshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl<S> TlsConnect<S> for Handshake
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    type Stream = Stream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        let handshake = tokio_rustls::TlsConnector::from(self.config).connect(self.name, stream);
        Box::pin(async move { handshake.await.map(|stream| Stream(Box::new(stream))) })
    }
}

/// An encrypted stream.
pub(in crate::connection) struct Stream<S>(Box<tokio_rustls::client::TlsStream<S>>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for Stream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        let (_, session) = self.0.get_ref();
        let Some(certificate) = session.peer_certificates().and_then(<[_]>::first) else {
            return ChannelBinding::none();
        };
        match binding_hash(certificate) {
            Some(hash) => ChannelBinding::tls_server_end_point(digest(hash, certificate)),
            None => ChannelBinding::none(),
        }
    }
}

fn digest(hash: BindingHash, certificate: &[u8]) -> Vec<u8> {
    match hash {
        BindingHash::Sha256 => Sha256::digest(certificate).to_vec(),
        BindingHash::Sha384 => Sha384::digest(certificate).to_vec(),
        BindingHash::Sha512 => Sha512::digest(certificate).to_vec(),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
