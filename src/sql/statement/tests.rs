use insta::assert_snapshot;

use super::*;
use crate::catalog::sample;

const NOTHING_AS_TEXT: &[bool] = &[false; 4];

fn table() -> Table {
    sample::table(&["id", "a\"b", "left", "v"], 1)
}

fn columns<'a>(table: &'a Table, source: Source, set: &'a [u16]) -> Columns<'a> {
    Columns { table, source, set, as_text: NOTHING_AS_TEXT }
}

const BY_ID: Key<'static> = Key { columns: &[0], predicate: None, nulls_match: false, no_target: false };
const BY_TWO: Key<'static> = Key { columns: &[0, 1], ..BY_ID };

#[test]
fn an_append_names_the_columns_of_its_set() {
    let table = table();
    assert_snapshot!(
        insert(&columns(&table, Source::RowArray, &[0, 1])),
        @r#"INSERT INTO "public"."t" AS t ("id", "a""b") SELECT s.c0, s.c1 FROM unnest($1) AS s(c0, c1, c2, c3)"#
    );
    assert_snapshot!(
        insert(&columns(&table, Source::ColumnArrays, &[3, 0])),
        @r#"INSERT INTO "public"."t" AS t ("v", "id") SELECT s.c3, s.c0 FROM unnest($1, $2) AS s(c3, c0)"#
    );
    assert_snapshot!(
        insert(&columns(&table, Source::ColumnArrays, &[])),
        @r#"INSERT INTO "public"."t" SELECT FROM unnest($1) AS s(nothing)"#
    );
}

#[test]
fn a_given_identity_overrides_that_of_the_server() {
    let mut table = table();
    table.columns[0].identity = Identity::Always;
    assert_snapshot!(
        insert(&columns(&table, Source::ColumnArrays, &[0])),
        @r#"INSERT INTO "public"."t" AS t ("id") OVERRIDING SYSTEM VALUE SELECT s.c0 FROM unnest($1) AS s(c0)"#
    );
    assert!(!insert(&columns(&table, Source::ColumnArrays, &[3])).contains("OVERRIDING"));
}

#[test]
fn texts_are_cast_to_the_type_of_the_column_without_a_length() {
    let table = table();
    let as_text = [true, false, false, false];
    let columns = Columns { as_text: &as_text, ..columns(&table, Source::ColumnArrays, &[0, 3]) };
    assert_snapshot!(
        insert(&columns),
        @r#"INSERT INTO "public"."t" AS t ("id", "v") SELECT s.c0::integer, s.c3 FROM unnest($1, $2) AS s(c0, c3)"#
    );
    assert_snapshot!(
        delete(&Columns { set: &[0], ..columns }, &BY_ID),
        @r#"DELETE FROM "public"."t" AS t WHERE t."id" = ANY($1::integer[])"#
    );
}

#[test]
fn conflicts_name_the_key() {
    let table = table();
    let columns = columns(&table, Source::RowArray, &[0, 3]);
    assert_snapshot!(
        insert_or_ignore(&columns, &BY_ID),
        @r#"INSERT INTO "public"."t" AS t ("id", "v") SELECT s.c0, s.c3 FROM unnest($1) AS s(c0, c1, c2, c3) ON CONFLICT ("id") DO NOTHING"#
    );
    assert_snapshot!(
        upsert(&columns, &BY_TWO, &[Assign::Given(3), Assign::Default(2)]),
        @r#"INSERT INTO "public"."t" AS t ("id", "v") SELECT s.c0, s.c3 FROM unnest($1) AS s(c0, c1, c2, c3) ON CONFLICT ("id", "a""b") DO UPDATE SET "v" = excluded."v", "left" = DEFAULT"#
    );
    assert_eq!(upsert(&columns, &BY_ID, &[]), insert_or_ignore(&columns, &BY_ID));
    let partial = Key { predicate: Some("live"), ..BY_ID };
    assert!(insert_or_ignore(&columns, &partial).ends_with(r#"ON CONFLICT ("id") WHERE live DO NOTHING"#));
    let anywhere = Key { no_target: true, ..BY_ID };
    assert!(insert_or_ignore(&columns, &anywhere).ends_with("s(c0, c1, c2, c3) ON CONFLICT DO NOTHING"));
}

#[test]
fn missing_rows_are_inserted_without_proposing_the_others() {
    let table = table();
    assert_snapshot!(
        insert_missing(&columns(&table, Source::RowArray, &[0, 3]), &BY_ID),
        @r#"INSERT INTO "public"."t" AS t ("id", "v") SELECT s.c0, s.c3 FROM unnest($1) AS s(c0, c1, c2, c3) WHERE NOT EXISTS (SELECT FROM "public"."t" AS t WHERE t."id" = s.c0) ON CONFLICT ("id") DO NOTHING"#
    );
}

#[test]
fn updates_tell_which_rows_they_found() {
    let table = table();
    let columns = columns(&table, Source::ColumnArrays, &[0, 3]);
    assert_snapshot!(
        update_returning(&columns, &BY_ID, &[Assign::Given(3), Assign::Null(1)]),
        @r#"UPDATE "public"."t" AS t SET "v" = s.c3, "a""b" = NULL FROM unnest($1, $2) WITH ORDINALITY AS s(c0, c3, ord) WHERE t."id" = s.c0 RETURNING s.ord"#
    );
    assert_snapshot!(
        update(&Columns { set: &[0], ..columns }, &BY_ID, &[Assign::Null(3)]),
        @r#"UPDATE "public"."t" AS t SET "v" = NULL FROM unnest($1) AS s(c0) WHERE t."id" = s.c0"#
    );
}

#[test]
fn deletes_are_by_key() {
    let table = table();
    assert_snapshot!(
        delete(&columns(&table, Source::ColumnArrays, &[0]), &BY_ID),
        @r#"DELETE FROM "public"."t" AS t WHERE t."id" = ANY($1)"#
    );
    assert_snapshot!(
        delete(&columns(&table, Source::ColumnArrays, &[0, 1]), &BY_TWO),
        @r#"DELETE FROM "public"."t" AS t USING unnest($1, $2) AS s(c0, c1) WHERE t."id" = s.c0 AND t."a""b" = s.c1"#
    );
    let partial = Key { predicate: Some("live"), nulls_match: true, ..BY_ID };
    assert_snapshot!(
        delete(&columns(&table, Source::ColumnArrays, &[0]), &partial),
        @r#"DELETE FROM "public"."t" AS t USING unnest($1) AS s(c0) WHERE (t."id" = s.c0 OR (t."id" IS NULL AND s.c0 IS NULL)) AND (live)"#
    );
}

#[test]
fn classes_of_keys_come_in_the_order_of_the_source() {
    let table = table();
    assert_snapshot!(
        key_classes(&columns(&table, Source::ColumnArrays, &[0, 1])),
        @"SELECT dense_rank() OVER (ORDER BY s.c0, s.c1) FROM unnest($1, $2) WITH ORDINALITY AS s(c0, c1, ord) ORDER BY s.ord"
    );
}
