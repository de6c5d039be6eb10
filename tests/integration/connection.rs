//! Connections and named pools, on a real server.

mod outages;
mod pooler;

use std::future::Future;
use std::time::Duration;

use futures::future::join_all;
use pgsluice::connection::{ConnectTarget, Environment, Pool, Session, connect};
use pgsluice::options::{PoolOptions, TargetSessionAttrs};
use pgsluice::{ErrorKind, Result};
use pgsluice_testcontainers::{CERTIFICATE_ROLE, Database, Options, Server};
use tokio::io::{AsyncReadExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Client;

const NASTY: &str = r"p@s/w?r#d%41 {x}'\";
const IN_URL: &str = "p%40s%2Fw%3Fr%23d%2541%20%7Bx%7D%27%5C";
const DEADLINE: Duration = Duration::from_secs(20);

/// Asks again and again until the answer is as wanted.
async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let end = Instant::now() + DEADLINE;
    while !holds().await {
        assert!(Instant::now() < end, "not within {DEADLINE:?}: {what}");
        sleep(Duration::from_millis(20)).await;
    }
}

/// The number of backends of an application.
async fn backends(client: &Client, application: &str) -> i64 {
    let sql = "select count(*) from pg_stat_activity where application_name = $1";
    client.query_one(sql, &[&application]).await.unwrap().get(0)
}

async fn kill(client: &Client, application: &str) {
    let sql = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1";
    client.query(sql, &[&application]).await.unwrap();
}

async fn pid(session: &Session) -> i32 {
    session.query_one("select pg_backend_pid()", &[]).await.unwrap().get(0)
}

fn target(database: &Database) -> ConnectTarget {
    ConnectTarget::parse(&database.url()).unwrap()
}

/// The target again, with one of libpq's keywords set.
fn target_with(database: &Database, settings: &[(&str, &str)]) -> ConnectTarget {
    let mut builder = ConnectTarget::builder().dsn(&database.url()).unwrap();
    for (keyword, value) in settings {
        builder = builder.set(keyword, value).unwrap();
    }
    builder.build().unwrap()
}

/// Options under a name that is also the application's, so that each test counts its own backends.
fn named(name: &str) -> PoolOptions {
    PoolOptions::named(name).application_name(name)
}

async fn error_of<T>(outcome: impl Future<Output = Result<T>>) -> pgsluice::Error {
    outcome.await.err().expect("an error")
}

#[tokio::test]
async fn one_connection_knows_its_server() {
    let database = Database::new().await;
    let connection = connect(&target(&database), &PoolOptions::default()).await.unwrap();
    let show = async |name: &str| -> String {
        connection.query_one("select current_setting($1)", &[&name]).await.unwrap().get(0)
    };
    let server = connection.server();
    assert_eq!(server.version.to_string(), show("server_version_num").await);
    assert_eq!(server.time_zone, show("TimeZone").await);
    assert_eq!(server.server_encoding, show("server_encoding").await);
    assert_eq!(show("client_encoding").await, "UTF8");
    assert_eq!(show("application_name").await, "pgsluice");
    connection.close().await;
}

#[tokio::test]
async fn client_encoding_is_utf8_whatever_the_options_say() {
    let database = Database::new().await;
    let target = target_with(&database, &[("options", "-c client_encoding=LATIN1 -c work_mem=1234kB")]);
    let connection = connect(&target, &PoolOptions::default()).await.unwrap();
    let row = connection
        .query_one("select current_setting('client_encoding'), current_setting('work_mem')", &[])
        .await
        .unwrap();
    assert_eq!((row.get(0), row.get(1)), ("UTF8", "1234kB"));
}

#[tokio::test]
async fn b24_the_nasty_password_connects_in_every_form_and_shows_in_no_error() {
    let database = Database::new().await;
    let admin = database.client().await;
    let role = format!("nasty_{}", database.url().rsplit('/').next().unwrap());
    admin
        .batch_execute(&format!("create role {role} login password '{}'", NASTY.replace('\'', "''")))
        .await
        .unwrap();

    let base = target(&database);
    let (host, port) = base.hosts().next().unwrap();
    let dbname = base.dbname();
    let directory = tempfile::tempdir().unwrap();
    let passfile = directory.path().join("pgpass");
    std::fs::write(&passfile, format!("*:*:*:{role}:{}\n", NASTY.replace('\\', "\\\\"))).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&passfile, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let service = directory.path().join("services");
    std::fs::write(&service, format!("[nasty]\nhost={host}\nport={port}\nuser={role}\npassword={NASTY}\n"))
        .unwrap();

    let quoted = NASTY.replace('\\', "\\\\").replace('\'', "\\'");
    let words = format!("host='{host}' port={port} user={role} dbname={dbname}");
    let build = |dsn: &str, environment| {
        ConnectTarget::builder().dsn(dsn).unwrap().environment(environment).build().unwrap()
    };
    let encoded_host = host.replace('/', "%2F");
    let targets = [
        build(&format!("postgres://{role}:{IN_URL}@{encoded_host}:{port}/{dbname}"), Environment::default()),
        build(&format!("{words} password='{quoted}'"), Environment::default()),
        build(&words, Environment::from([("PGPASSWORD", NASTY)])),
        build(&words, Environment::from([("PGPASSFILE", passfile.to_str().unwrap())])),
        build(
            &format!("service=nasty dbname={dbname}"),
            Environment::from([("PGSERVICEFILE", service.to_str().unwrap())]),
        ),
    ];
    for target in targets {
        assert_eq!(target.password(), Some(&NASTY.into()));
        let connection = connect(&target, &PoolOptions::default()).await.unwrap();
        let user: String = connection.query_one("select current_user::text", &[]).await.unwrap().get(0);
        assert_eq!(user, role);
        connection.close().await;
    }

    let missing = build(&format!("{words} password='{quoted}' dbname=no_such_db"), Environment::default());
    let error = error_of(connect(&missing, &PoolOptions::default())).await;
    assert_eq!((error.kind(), error.sqlstate()), (ErrorKind::Authentication, Some("3D000")));
    let nobody = build(&format!("{words} user=no_such_role password='{quoted}'"), Environment::default());
    let refused = error_of(connect(&nobody, &PoolOptions::default())).await;
    assert_eq!(refused.kind(), ErrorKind::Authentication);
    for error in [error, refused] {
        assert!(!format!("{error} {error:?}").contains("p@s"), "{error:?}");
    }
    admin.batch_execute(&format!("drop role {role}")).await.unwrap();
}

#[tokio::test]
async fn l01_two_users_of_a_name_share_a_pool_that_grows_to_the_larger_size() {
    let database = Database::new().await;
    let admin = database.client().await;
    let first = Pool::open_target(target(&database), named("l01").size(3)).await.unwrap();
    let second = Pool::open_target(target(&database), named("l01").size(5)).await.unwrap();
    assert_eq!((first.size(), second.size()), (5, 5));
    let third = Pool::open_target(target(&database), named("l01").size(2)).await.unwrap();
    assert_eq!(third.size(), 5);
    let users = (0..60).map(|index| {
        let pool = [&first, &second][index % 2].clone();
        async move {
            let session = pool.get().await.unwrap();
            session.batch_execute("select pg_sleep(0.01)").await.unwrap();
        }
    });
    let watch = async {
        let mut most = 0;
        for _ in 0..10 {
            most = most.max(backends(&admin, "l01").await);
            sleep(Duration::from_millis(10)).await;
        }
        most
    };
    let (_, most) = tokio::join!(join_all(users), watch);
    assert!((1..=5).contains(&most), "{most}");
    assert_eq!(backends(&admin, "l01").await, 5);
}

#[tokio::test]
async fn l02_another_target_is_another_pool() {
    let (one, two) = (Database::new().await, Database::new().await);
    let options = || named("l02").size(1);
    let first = Pool::open_target(target(&one), options()).await.unwrap();
    let second = Pool::open_target(target(&two), options()).await.unwrap();
    let held = first.get().await.unwrap();
    let other = timeout(DEADLINE, second.get()).await.unwrap().unwrap();
    assert_ne!(pid(&held).await, pid(&other).await);
    for settings in [[("password", "x")], [("options", "-c work_mem=1MB")], [("sslmode", "disable")]] {
        let third = Pool::join(target_with(&one, &settings), options().size(2)).unwrap();
        assert_eq!((first.size(), third.size()), (1, 2), "{settings:?}");
    }
}

#[tokio::test]
async fn l04_idle_connections_are_closed_and_opened_again_on_demand() {
    let database = Database::new().await;
    let admin = database.client().await;
    let pool =
        Pool::open_target(target(&database), named("l04").size(3).idle_timeout(Duration::from_secs(1)))
            .await
            .unwrap();
    let held = pool.get().await.unwrap();
    let others = [pool.get().await.unwrap(), pool.get().await.unwrap()];
    let mine = pid(&held).await;
    drop(others);
    until("only the session in use is left", async || backends(&admin, "l04").await == 1).await;
    let returned = Instant::now();
    drop(held);
    // Idle counts from the return: a long use does not make the connection old.
    let again = pool.get().await.unwrap();
    assert_eq!(pid(&again).await, mine);
    drop(again);
    until("no backend is left", async || backends(&admin, "l04").await == 0).await;
    assert!(returned.elapsed() >= Duration::from_secs(1));
    assert_eq!(pool.connections(), 0);
    pool.get().await.unwrap().batch_execute("select 1").await.unwrap();
}

#[tokio::test]
async fn l05_the_last_user_closes_the_pool_and_a_later_one_opens_it_again() {
    let database = Database::new().await;
    let admin = database.client().await;
    let first = Pool::open_target(target(&database), named("l05").size(2)).await.unwrap();
    let second = first.clone();
    first.close().await;
    assert_eq!(backends(&admin, "l05").await, 1);
    second.close().await;
    until("the pool is gone", async || backends(&admin, "l05").await == 0).await;
    let later = Pool::open_target(target(&database), named("l05").size(1)).await.unwrap();
    assert_eq!(later.size(), 1);
    let session = later.get().await.unwrap();
    drop(later);
    session.batch_execute("select 1").await.unwrap();
    drop(session);
    until("the session was the last user", async || backends(&admin, "l05").await == 0).await;
}

#[tokio::test]
async fn acquire_timeout_names_the_pool() {
    let database = Database::new().await;
    let options = named("crowded").size(1).acquire_timeout(Duration::from_millis(50));
    let pool = Pool::open_target(target(&database), options).await.unwrap();
    let held = pool.get().await.unwrap();
    let error = error_of(pool.get()).await;
    assert_eq!((error.kind(), error.context("pool")), (ErrorKind::Timeout, Some("crowded")));
    drop(held);
    pool.get().await.unwrap();
    let error = error_of(Pool::open_target(target(&database), named("none").size(0))).await;
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[tokio::test]
async fn b19_a_session_dropped_dirty_never_comes_back() {
    let database = Database::new().await;
    let admin = database.client().await;
    let pool = Pool::open_target(target(&database), named("b19").size(1)).await.unwrap();

    let session = pool.get().await.unwrap();
    let first = pid(&session).await;
    session.dirty();
    session.batch_execute("begin; create temp table left_over (id int)").await.unwrap();
    drop(session);
    let session = pool.get().await.unwrap();
    assert_ne!(pid(&session).await, first);
    assert!(session.batch_execute("select * from left_over").await.is_err());

    // Cleaned: it stays.
    let second = pid(&session).await;
    session.dirty();
    session.batch_execute("begin; commit").await.unwrap();
    session.clean();
    drop(session);
    assert_eq!(pid(&pool.get().await.unwrap()).await, second);

    let sql =
        "select count(*) from pg_stat_activity where application_name = 'b19' and state like 'idle in%'";
    assert_eq!(admin.query_one(sql, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_cancelled_future_ends_its_statement_and_the_pool_keeps_its_size() {
    let database = Database::new().await;
    let admin = database.client().await;
    let pool = Pool::open_target(target(&database), named("dropped").size(1)).await.unwrap();
    let slow = async {
        let session = pool.get().await.unwrap();
        session.dirty();
        session.batch_execute("select pg_sleep(60)").await.unwrap();
        session.clean();
    };
    assert!(timeout(Duration::from_millis(100), slow).await.is_err());
    let session = timeout(DEADLINE, pool.get()).await.unwrap().unwrap();
    session.batch_execute("select 1").await.unwrap();
    until("the old backend is gone", async || backends(&admin, "dropped").await == 1).await;
}

#[tokio::test]
async fn b20_killed_connections_are_replaced_without_an_error() {
    let database = Database::new().await;
    let admin = database.client().await;
    let pool = Pool::open_target(target(&database), named("b20").size(4)).await.unwrap();
    let warm = join_all((0..4).map(|_| pool.get())).await;
    assert!(warm.iter().all(Result::is_ok));
    drop(warm);
    assert_eq!(backends(&admin, "b20").await, 4);
    kill(&admin, "b20").await;
    until("all are gone", async || backends(&admin, "b20").await == 0).await;
    let users = (0..10).map(|_| async {
        let session = pool.get().await.unwrap();
        session.query_one("select 1", &[]).await.unwrap();
    });
    join_all(users).await;
    assert!(backends(&admin, "b20").await <= 4);
}

/// A way to the server that can forget its connections without a word, as a firewall does: what comes later is lost.
async fn forgetful_proxy(host: String, port: u16) -> (u16, watch::Sender<u32>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own_port = listener.local_addr().unwrap().port();
    let (forget, epoch) = watch::channel(0);
    tokio::spawn(async move {
        while let Ok((mut inner, _)) = listener.accept().await {
            let mut outer = TcpStream::connect((host.as_str(), port)).await.unwrap();
            let mut epoch = epoch.clone();
            epoch.mark_unchanged();
            tokio::spawn(async move {
                tokio::select! {
                    _ = copy_bidirectional(&mut inner, &mut outer) => {}
                    // Held open and never read again.
                    _ = epoch.changed() => std::future::pending().await,
                }
            });
        }
    });
    (own_port, forget)
}

#[tokio::test]
async fn b20_connections_that_a_firewall_forgot_cost_one_wait_in_all() {
    let database = Database::new().await;
    let base = target(&database);
    let (host, port) = base.hosts().next().map(|(host, port)| (host.to_owned(), port)).unwrap();
    let (port, forget) = forgetful_proxy(host, port).await;
    let through = target_with(&database, &[("host", "127.0.0.1"), ("port", &port.to_string())]);
    let pool = Pool::open_target(through, named("forgotten").size(4)).await.unwrap();
    drop(join_all((0..4).map(|_| pool.get())).await);
    assert_eq!(pool.connections(), 4);
    forget.send_modify(|epoch| *epoch += 1);
    // Longer than the rest for which a connection is trusted.
    sleep(Duration::from_millis(600)).await;
    let start = Instant::now();
    let users = (0..10).map(|_| async {
        let session = pool.get().await.unwrap();
        session.query_one("select 1", &[]).await.unwrap();
    });
    timeout(DEADLINE, join_all(users)).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(9), "{:?}", start.elapsed());
}

#[tokio::test]
async fn the_servers_last_words_are_in_the_next_failure() {
    let database = Database::new().await;
    let admin = database.client().await;
    let pool = Pool::open_target(target(&database), named("words").size(1)).await.unwrap();
    let session = pool.get().await.unwrap();
    kill(&admin, "words").await;
    until("the session is closed", async || session.is_closed()).await;
    until("the reason is known", async || session.last_error().is_some()).await;
    assert!(session.last_error().unwrap().contains("57P01"));
    let error = session.query_one("select 1", &[]).await.err().unwrap();
    let error = session.failure("look", &error);
    assert_eq!((error.kind(), error.sqlstate()), (ErrorKind::Connection, Some("57P01")));
    assert!(error.is_retryable());
    drop(session);
    pool.get().await.unwrap().query_one("select 1", &[]).await.unwrap();
}

#[tokio::test]
async fn cancel_ends_the_running_statement() {
    let database = Database::new().await;
    let pool = Pool::open_target(target(&database), named("cancel").size(1)).await.unwrap();
    let session = pool.get().await.unwrap();
    let statement = session.batch_execute("select pg_sleep(60)");
    let cancel = async {
        sleep(Duration::from_millis(100)).await;
        session.cancel().await.unwrap();
    };
    let (outcome, ()) = timeout(DEADLINE, async { tokio::join!(statement, cancel) }).await.unwrap();
    assert_eq!(outcome.err().unwrap().code().unwrap().code(), "57014");
}

#[tokio::test]
async fn b22_many_users_of_a_small_pool_all_finish() {
    let database = Database::new().await;
    let admin = database.client().await;
    let users = (0..100).map(|index| {
        let target = target(&database);
        async move {
            let pool = Pool::open_target(target, named("b22").size(5)).await.unwrap();
            let session = pool.get().await.unwrap();
            session.dirty();
            session.batch_execute("select pg_sleep(0.002)").await.unwrap();
            // Every tenth ends in an error and is discarded.
            if index % 10 != 0 {
                session.clean();
            }
        }
    });
    let watch = async {
        let mut most = 0;
        for _ in 0..20 {
            most = most.max(backends(&admin, "b22").await);
            sleep(Duration::from_millis(5)).await;
        }
        most
    };
    let (_, most) = timeout(DEADLINE, async { tokio::join!(join_all(users), watch) }).await.unwrap();
    // A backend that was told goodbye may be seen for another moment.
    assert!(most <= 6, "{most}");
    until("the last user closed the pool", async || backends(&admin, "b22").await == 0).await;
}

#[tokio::test]
async fn max_lifetime_replaces_a_connection() {
    let database = Database::new().await;
    let pool =
        Pool::open_target(target(&database), named("life").size(1).max_lifetime(Duration::from_millis(300)))
            .await
            .unwrap();
    let first = pid(&pool.get().await.unwrap()).await;
    until("another backend", async || pid(&pool.get().await.unwrap()).await != first).await;
}

#[tokio::test]
async fn f_a100_a_dead_first_host_leaves_time_for_the_second() {
    let database = Database::new().await;
    let base = target(&database);
    let (host, port) = base.hosts().next().unwrap();
    // Nothing listens on the first port; a second listener takes the connection and never answers.
    let unused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = unused.local_addr().unwrap().port();
    drop(unused);
    let settings = [("host", format!("127.0.0.1,{host}")), ("port", format!("{refused},{port}"))];
    let target = target_with(&database, &[("host", &settings[0].1), ("port", &settings[1].1)]);
    let options = PoolOptions::default().connect_timeout(Duration::from_secs(10));
    let connection = timeout(Duration::from_secs(5), connect(&target, &options)).await.unwrap().unwrap();
    assert_eq!(connection.server().port, port);

    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let accept = tokio::spawn(async move {
        let (mut stream, _) = silent.accept().await.unwrap();
        let mut sink = [0; 64];
        while stream.read(&mut sink).await.is_ok_and(|read| read > 0) {}
    });
    let options = options.connect_timeout(Duration::from_millis(300));
    let alone = target_with(&database, &[("host", "127.0.0.1"), ("port", &silent_port.to_string())]);
    let error = error_of(connect(&alone, &options)).await;
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.context("server").unwrap().ends_with(&silent_port.to_string()));
    timeout(DEADLINE, accept).await.unwrap().unwrap();
}

#[tokio::test]
async fn f_a100_target_session_attrs_choose_the_server() {
    let database = Database::new().await;
    let base = target(&database);
    let options = PoolOptions::default();
    for attrs in
        [TargetSessionAttrs::ReadWrite, TargetSessionAttrs::Primary, TargetSessionAttrs::PreferStandby]
    {
        connect(&base.clone().with_target_session_attrs(attrs), &options).await.unwrap();
    }
    for attrs in [TargetSessionAttrs::Standby, TargetSessionAttrs::ReadOnly] {
        let error = error_of(connect(&base.clone().with_target_session_attrs(attrs), &options)).await;
        assert_eq!(error.kind(), ErrorKind::Connection);
        assert!(error.is_retryable());
    }
    let read_only = target_with(&database, &[("options", "-c default_transaction_read_only=on")]);
    let error = error_of(connect(
        &read_only.clone().with_target_session_attrs(TargetSessionAttrs::ReadWrite),
        &options,
    ))
    .await;
    assert!(error.message().contains("read-only"), "{error}");
    connect(&read_only.with_target_session_attrs(TargetSessionAttrs::ReadOnly), &options).await.unwrap();
}

#[tokio::test]
async fn f_a99_the_server_shows_the_application_name() {
    let database = Database::new().await;
    let admin = database.client().await;
    let long = format!("f_a99_{}", "x".repeat(58));
    let pool = Pool::open_target(target(&database), PoolOptions::named("f_a99").application_name(&long))
        .await
        .unwrap();
    assert_eq!(backends(&admin, &long[..63]).await, 1);
    drop(pool);
    let error =
        error_of(Pool::open_target(target(&database), PoolOptions::named("f").application_name("naïve")))
            .await;
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[tokio::test]
async fn too_many_connections_is_a_retryable_connection_error() {
    let database = Database::new().await;
    let admin = database.client().await;
    let role = format!("few_{}", database.url().rsplit('/').next().unwrap());
    admin
        .batch_execute(&format!("create role {role} login password 'few' connection limit 1"))
        .await
        .unwrap();
    let target = target_with(&database, &[("user", &role), ("password", "few")]);
    let first = connect(&target, &PoolOptions::default()).await.unwrap();
    let error = error_of(connect(&target, &PoolOptions::default())).await;
    assert_eq!((error.kind(), error.sqlstate()), (ErrorKind::Connection, Some("53300")));
    assert!(error.is_retryable());
    first.close().await;
    let sql = "select count(*) from pg_stat_activity where usename = $1";
    until("the role has no session", async || {
        admin.query_one(sql, &[&role]).await.unwrap().get::<_, i64>(0) == 0
    })
    .await;
    admin.batch_execute(&format!("drop role {role}")).await.unwrap();
}

#[tokio::test]
async fn l06_b23_tls_is_on_every_connection_and_checks_what_the_mode_says() {
    let server = Server::own(Options::new()).await;
    let tls_url = server.tls_url("postgres");
    let pool = Pool::open(&tls_url, named("l06").size(3)).await.unwrap();
    let sessions = join_all((0..3).map(|_| pool.get())).await;
    for session in &sessions {
        let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
        assert!(session.as_ref().unwrap().query_one(sql, &[]).await.unwrap().get::<_, bool>(0));
    }
    let session = sessions[0].as_ref().unwrap();
    let slow = async { session.batch_execute("select pg_sleep(60)").await.err().unwrap() };
    let cancel = async {
        sleep(Duration::from_millis(100)).await;
        session.cancel().await.unwrap();
    };
    let (error, ()) = timeout(DEADLINE, async { tokio::join!(slow, cancel) }).await.unwrap();
    assert_eq!(error.code().unwrap().code(), "57014");

    let attempt = async |settings: &[(&str, &str)]| {
        let mut builder = ConnectTarget::builder().dsn(&tls_url).unwrap();
        for (keyword, value) in settings {
            builder = builder.set(keyword, value).unwrap();
        }
        let connection = connect(&builder.build().unwrap(), &PoolOptions::default()).await?;
        let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
        let encrypted: bool = connection.query_one(sql, &[]).await.unwrap().get(0);
        connection.close().await;
        Ok::<_, pgsluice::Error>(encrypted)
    };
    let wrong_name = [("host", "other.test"), ("hostaddr", "127.0.0.1")];
    let with = |more: &[(&'static str, &'static str)]| [&wrong_name[..], more].concat();
    assert_eq!(attempt(&wrong_name).await.err().unwrap().kind(), ErrorKind::Authentication);
    assert!(attempt(&with(&[("sslmode", "verify-ca")])).await.unwrap());
    assert!(attempt(&with(&[("channel_binding", "require"), ("sslmode", "require")])).await.unwrap());
    assert!(!attempt(&[("sslmode", "disable")]).await.unwrap());

    // Another authority: refused wherever a root is given, and `prefer` does not fall back to plain text.
    let other = Server::own(Options::new()).await;
    let other_root = other.authority().display().to_string();
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let error = attempt(&[("sslmode", mode), ("sslrootcert", &other_root)]).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Authentication, "{mode}: {error}");
    }

    let (cert, key) = server.client_certificate();
    let (cert, key) = (cert.display().to_string(), key.display().to_string());
    assert!(attempt(&[("user", CERTIFICATE_ROLE), ("sslcert", &cert), ("sslkey", &key)]).await.unwrap());
    assert_eq!(attempt(&[("user", CERTIFICATE_ROLE)]).await.err().unwrap().kind(), ErrorKind::Authentication);
}
