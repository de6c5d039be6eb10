//! What is written to: partial rows under NOT NULL and CHECK, triggers, views, foreign tables, other keys.

use pgsluice::options::{ConflictAction, RejectPolicy, SinkOptions};

use super::conformance::{AUDIT, AUDIT_LOG, Case, Fixture, InMode, all_modes, play, told};

const ACTIONS: [ConflictAction; 3] =
    [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace, ConflictAction::InsertOrIgnore];

fn on(action: ConflictAction) -> SinkOptions {
    SinkOptions::new().on_conflict(action)
}

fn skip() -> SinkOptions {
    SinkOptions::new().reject_policy(RejectPolicy::Skip { limit: None })
}

#[tokio::test]
async fn f_a18_a_partial_update_omits_a_not_null_column_of_a_stored_row() {
    let setup =
        "create table t (id int primary key, a int not null, b int); insert into t values (1, 10, 20)";
    let script = "I id=1 b=5; I id=2 b=6; I id=3 a=1 b=7; I id=3 b=8";
    Case::new(setup)
        .options(skip())
        .reports(script, "(1,10,5) (3,1,8)", |report| {
            assert_eq!(told(&report.rejects), [(2, "23502", Some("a"))])
        })
        .await;
    Case::new(setup)
        .options(skip().on_conflict(ConflictAction::InsertOrIgnore))
        .reports(script, "(1,10,20) (3,1,7)", |report| {
            assert_eq!(told(&report.rejects), [(2, "23502", Some("a"))])
        })
        .await;
}

#[tokio::test]
async fn a_check_looks_at_the_row_that_results_and_not_at_the_one_proposed() {
    let setup =
        "create table t (id int primary key, a int, b int, constraint less check (coalesce(a, 0) > b));
                 insert into t values (1, 10, 1), (2, 10, 1)";
    let script = "I id=1 b=5; I id=2 b=50; I id=3 b=-1; I id=4 b=1";
    Case::new(setup)
        .options(skip())
        .reports(script, "(1,10,5) (2,10,1) (3,,-1)", |report| {
            assert_eq!(told(&report.rejects), [(2, "23514", Some("less")), (4, "23514", Some("less"))]);
        })
        .await;
}

#[tokio::test]
async fn a_not_null_domain_may_be_omitted_of_a_stored_row() {
    let setup = "create domain filled as text not null;
                 create table t (id int primary key, a filled, b int, c filled default 'z');
                 insert into t values (1, 'x', 1)";
    let script = "I id=1 b=5; I id=2 b=6; I id=3 a=y; I id=3 b=9";
    Case::new(setup)
        .options(skip())
        .reports(script, "(1,x,5,z) (3,y,9,z)", |report| {
            assert_eq!(
                told(&report.rejects).iter().map(|told| (told.0, told.1)).collect::<Vec<_>>(),
                [(2, "23502")]
            );
        })
        .await;
}

#[tokio::test]
async fn before_insert_triggers_run_for_inserted_rows_only() {
    let setup =
        "create table t (id int primary key, name text, n int default 0); insert into t values (1, 'old', 0);
                 create function stamp() returns trigger language plpgsql as
                     $$ begin new.n := new.n + 1; return new; end $$;
                 create trigger stamp before insert on t for each row execute function stamp();";
    Case::new(setup).gives("I id=1 name=x; I id=2 name=y; I id=2 name=z", "(1,x,0) (2,z,1)").await;
    let ignore = on(ConflictAction::InsertOrIgnore);
    Case::new(setup)
        .options(ignore)
        .gives("I id=1 name=x; I id=2 name=y; I id=2 name=z", "(1,old,0) (2,y,1)")
        .await;
    let audited = Case::new(&format!("{setup}{AUDIT}")).select(AUDIT_LOG).one_batch(&[true]);
    audited.gives("I id=1 name=x; I id=2 name=y", "upd x, ins y").await;
}

#[tokio::test]
async fn a_trigger_may_change_the_key() {
    let setup = "create table t (id int primary key, name text); insert into t values (10, 'old');
                 create function shift() returns trigger language plpgsql as
                     $$ begin new.id := new.id + 9; return new; end $$;
                 create trigger shift before insert on t for each row execute function shift();";
    Case::new(setup).gives("I id=1 name=x; I id=2 name=y", "(10,x) (11,y)").await;
}

/// Changes for a target over a table with the key `id`.
const CHANGES: &str =
    "I id=1 name=x; I id=3 name=c x=3; D id=2; I id=4 name=d; I id=4 x=4; I id=5 name=e; D id=5";

/// What they give where (1,a,1) and (2,b,2) are stored.
fn changed(action: ConflictAction) -> &'static str {
    match action {
        ConflictAction::InsertOrReplace => "(1,x,) (3,c,3) (4,,4)",
        ConflictAction::InsertOrIgnore => "(1,a,1) (3,c,3) (4,d,)",
        _ => "(1,x,1) (3,c,3) (4,d,4)",
    }
}

const BASE: &str = "create table base (id int primary key, name text, x int);
                    insert into base values (1, 'a', 1), (2, 'b', 2);";

#[tokio::test]
async fn a_simple_view_is_written_by_a_given_key() {
    for action in ACTIONS {
        Case::new(&format!("{BASE} create view t as select * from base"))
            .options(on(action).key_columns(["id"]))
            .gives(CHANGES, changed(action))
            .await;
    }
}

#[tokio::test]
async fn a_view_with_instead_of_triggers_is_written_by_a_given_key() {
    let setup = format!(
        "{BASE} create view t as select id, name, x from base union all select null, null, null where false;
         create function instead() returns trigger language plpgsql as $$ begin
             if tg_op = 'INSERT' then insert into base values (new.id, new.name, new.x); return new; end if;
             if tg_op = 'DELETE' then delete from base where id = old.id; return old; end if;
             update base set name = new.name, x = new.x where id = old.id; return new;
         end $$;
         create trigger instead instead of insert or update or delete on t for each row execute function instead()"
    );
    for action in ACTIONS {
        let options = on(action).key_columns(["id"]);
        Case::new(&setup).options(options).gives(CHANGES, changed(action)).await;
    }
    for mode in all_modes() {
        let fixture = Fixture::new(&setup).await;
        let options = skip().key_columns(["id"]).in_mode(mode);
        let sink = fixture.sink("t", options).await;
        play(&sink, "I id=7 name=x; D id=99; I id=1 name=y; I id=8").await.unwrap();
        let stats = sink.close().await.unwrap().stats;
        assert_eq!((stats.accepted, stats.committed, stats.without_effect), (4, 4, 1));
    }
}

/// A foreign table in schema `public` over `base` of the same server.
async fn foreign(fixture: &Fixture) {
    // A server without a socket listens on the loopback address.
    let socket = fixture
        .text("select coalesce(nullif(split_part(current_setting('unix_socket_directories'), ',', 1), ''), '127.0.0.1')")
        .await;
    let port = fixture.text("select current_setting('port')").await;
    let url = fixture.database.url();
    let rest = url.split_once("://").unwrap().1;
    let login = rest.split_once('@').map_or("", |(login, _)| login);
    let password = login.split_once(':').map_or("", |(_, password)| password);
    let password = if password.is_empty() { String::new() } else { format!(", password '{password}'") };
    let user = login.split(':').next().unwrap();
    let sql = format!(
        "create extension postgres_fdw;
         create server loopback foreign data wrapper postgres_fdw
             options (host '{socket}', port '{port}', dbname '{}');
         create user mapping for public server loopback options (user '{user}'{password});
         create foreign table t (id int, name text, x int) server loopback options (table_name 'base')",
        fixture.database.name(),
    );
    fixture.execute(&sql).await;
}

#[tokio::test]
async fn a_foreign_table_is_written_by_a_given_key() {
    for mode in all_modes() {
        for action in ACTIONS {
            for rows in [1, 2, 1000] {
                let fixture = Fixture::new(BASE).await;
                foreign(&fixture).await;
                let options = on(action).key_columns(["id"]).in_mode(mode).batch_rows(rows);
                let sink = fixture.sink("t", options).await;
                play(&sink, CHANGES).await.unwrap();
                sink.close().await.unwrap();
                assert_eq!(fixture.table("base").await, changed(action), "{action:?}, batches of {rows}");
            }
        }
        let fixture = Fixture::new("create table base (id int primary key, name text not null, x int)").await;
        foreign(&fixture).await;
        let sink = fixture.sink("t", skip().key_columns(["id"]).in_mode(mode)).await;
        play(&sink, "I id=1 name=a; I id=2 x=2; I id=3 name=c").await.unwrap();
        let rejects = sink.close().await.unwrap().rejects;
        assert_eq!(
            rejects.iter().map(|reject| (reject.position, reject.sqlstate.as_str())).collect::<Vec<_>>(),
            [(2, "23502")]
        );
        assert_eq!(fixture.table("base").await, "(1,a,) (3,c,)");
    }
}

#[tokio::test]
async fn a_unique_index_beside_the_primary_key_is_the_key() {
    let setup =
        "create table t (id int generated always as identity primary key, code text not null unique, v int);
                 insert into t (code, v) values ('a', 1), ('b', 2)";
    let script = "I code=a v=5; I code=c v=6; D code=b; I code=c v=7";
    let update = SinkOptions::new().key_columns(["code"]);
    Case::new(setup)
        .options(update)
        .select("select string_agg(code || v, ' ' order by code) from t")
        .gives(script, "a5 c7")
        .await;
}

#[tokio::test]
async fn a_partial_unique_index_is_the_key_of_its_rows() {
    let setup = "create table t (code text not null, live bool, v int);
                 create unique index on t (code) where live;
                 insert into t values ('a', true, 1), ('a', false, 2), ('b', true, 3), ('b', false, 4)";
    let options = SinkOptions::new().key_columns(["code"]).key_predicate("live");
    let script = "I code=a live=true v=9; D code=b; I code=c live=true v=5";
    Case::new(setup).options(options).gives(script, "(a,f,2) (a,t,9) (b,f,4) (c,t,5)").await;
}

#[tokio::test]
async fn nulls_that_are_not_distinct_are_one_key() {
    let setup = "create table t (a int, b int, v int, unique nulls not distinct (a, b));
                 insert into t values (null, 1, 1), (1, null, 1), (null, null, 1)";
    let script = "I a=null b=1 v=5; I a=null b=1 v=6; D a=1 b=null; I a=null b=null v=7; I a=2 b=null v=8";
    for action in [ConflictAction::InsertOrUpdate, ConflictAction::InsertOrReplace] {
        let options = on(action).key_columns(["a", "b"]);
        Case::new(setup).options(options).gives(script, "(2,,8) (,1,6) (,,7)").await;
    }
}
