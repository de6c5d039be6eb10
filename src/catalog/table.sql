-- All that the model of one table needs, as one row of JSON texts: one round trip, one snapshot.
-- $1 is the quoted name. Columns that a server version lacks are read through to_jsonb.
-- `= any (array)` and not `in (select …)`: the planner guesses thousands of rows for a recursive query, and at such a
-- cost the server compiles the statement (0.3 s) to run it for some milliseconds.
with recursive target as (
    select c.oid, c.relname, n.nspname, c.relkind, c.relpersistence, c.reltype
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where c.oid = pg_catalog.to_regclass($1)
),
-- The table, the partitions below it, and what a view reads: a written row passes through all of them.
reached (oid) as (
    select oid from target
    union
    select below.oid
    from reached
    join pg_catalog.pg_class c on c.oid = reached.oid
    cross join lateral (
        select i.inhrelid from pg_catalog.pg_inherits i where c.relkind = 'p' and i.inhparent = c.oid
        union all
        select d.refobjid
        from pg_catalog.pg_rewrite w
        join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.objid = w.oid
        where c.relkind = 'v' and w.ev_class = c.oid and w.rulename = '_RETURN'
            and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid <> c.oid
    ) below (oid)
),
reached_oids (list) as materialized (
    select array(select oid from reached)
),
types (oid) as (
    select a.atttypid
    from target
    join pg_catalog.pg_attribute a on a.attrelid = target.oid and a.attnum > 0 and not a.attisdropped
    union
    select part.oid
    from types
    join pg_catalog.pg_type t on t.oid = types.oid
    cross join lateral (
        select e.oid from pg_catalog.pg_type e where e.oid = t.typelem and e.typarray = t.oid
        union all
        select t.typbasetype where t.typtype = 'd'
        union all
        select r.rngsubtype from pg_catalog.pg_range r where t.typtype = 'r' and r.rngtypid = t.oid
        union all
        select r.rngtypid
        from pg_catalog.pg_range r
        where t.typtype = 'm' and (pg_catalog.to_jsonb(r) ->> 'rngmultitypid')::pg_catalog.oid = t.oid
        union all
        select a.atttypid
        from pg_catalog.pg_attribute a
        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
    ) part (oid)
),
-- The equality of each btree operator class.
equalities as (
    select o.oid as opclass, o.opcintype, o.opcdefault, p.amopopr as operator
    from pg_catalog.pg_opclass o
    join pg_catalog.pg_am m on m.oid = o.opcmethod and m.amname = 'btree'
    join pg_catalog.pg_amop p on p.amopfamily = o.opcfamily and p.amoplefttype = o.opcintype
        and p.amoprighttype = o.opcintype and p.amopstrategy = 3 and p.amoppurpose = 's'
)
select
    (
        select pg_catalog.row_to_json(x)
        from (
            select
                target.oid::pg_catalog.int8 as oid,
                target.nspname::pg_catalog.text as schema,
                target.relname::pg_catalog.text as name,
                target.relkind::pg_catalog.text as kind,
                target.relpersistence = 't' as temporary,
                target.reltype::pg_catalog.int8 as row_type,
                coalesce((
                    select t.typarray::pg_catalog.int8 from pg_catalog.pg_type t where t.oid = target.reltype
                ), 0) as row_array_type,
                coalesce((
                    select p.partattrs::pg_catalog.int2[]
                    from pg_catalog.pg_partitioned_table p
                    where p.partrelid = target.oid
                ), '{}') as partition_columns,
                pg_catalog.pg_relation_is_updatable(target.oid, true) & 8 <> 0 as insertable,
                exists (
                    select from pg_catalog.pg_trigger g
                    where g.tgrelid = any (reached_oids.list) and not g.tgisinternal
                        and g.tgtype & 7 = 7 and g.tgenabled <> 'D'
                ) as before_insert_triggers,
                exists (
                    select from pg_catalog.pg_trigger g
                    where g.tgrelid = any (reached_oids.list) and not g.tgisinternal and g.tgenabled <> 'D'
                ) as triggers,
                exists (
                    select from pg_catalog.pg_trigger g where g.tgrelid = target.oid and g.tgtype & 64 <> 0
                ) as instead_of_triggers,
                exists (
                    select from pg_catalog.pg_constraint k
                    where k.condeferrable
                        and (k.conrelid = any (reached_oids.list) or k.confrelid = any (reached_oids.list))
                ) as deferrable_constraints,
                exists (
                    select from pg_catalog.pg_constraint k
                    where k.contype = 'f' and k.conrelid = any (reached_oids.list)
                        and k.confrelid = any (reached_oids.list)
                        and coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::pg_catalog.bool, true)
                ) as self_reference,
                exists (
                    select from pg_catalog.pg_rewrite w
                    where w.ev_class = any (reached_oids.list) and w.ev_type = '3' and w.ev_enabled <> 'D'
                ) as insert_rules,
                pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMP') as temporary_tables,
                pg_catalog.row_security_active(target.oid) or target.relkind = 'v' and exists (
                    select from pg_catalog.pg_class c where c.oid = any (reached_oids.list) and c.relrowsecurity
                ) as row_security
        ) x
    )::pg_catalog.text as relation,
    (
        select coalesce(pg_catalog.json_agg(x order by x.attnum), '[]')
        from (
            select
                a.attnum,
                a.attname::pg_catalog.text as name,
                a.atttypid::pg_catalog.int8 as type,
                a.atttypmod as typmod,
                a.attnotnull as not_null,
                -- A DEFAULT reads no column, and given the table every call would spell out all its columns.
                case when a.attidentity = '' and a.attgenerated = ''
                    then pg_catalog.pg_get_expr(d.adbin, 0)
                end as default,
                a.attidentity::pg_catalog.text as identity,
                a.attgenerated <> '' as generated,
                case when not l.collisdeterministic then (
                    select pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(l.collname)
                    from pg_catalog.pg_namespace n
                    where n.oid = l.collnamespace
                ) end as equating_collation
            from pg_catalog.pg_attribute a
            left join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
            left join pg_catalog.pg_collation l on l.oid = a.attcollation
            where a.attrelid = target.oid and a.attnum > 0 and not a.attisdropped
        ) x
    )::pg_catalog.text as columns,
    (
        select coalesce(pg_catalog.json_agg(x), '[]')
        from (
            select
                t.oid::pg_catalog.int8 as oid,
                t.typname::pg_catalog.text as name,
                n.nspname::pg_catalog.text as schema,
                -- Outside of pg_catalog always with the schema: behind a pooler the search path may be another.
                case
                    when n.nspname = 'pg_catalog' then pg_catalog.format_type(t.oid, -1)
                    when e.oid is not null
                        then pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(e.typname) || '[]'
                    else pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(t.typname)
                end as sql_name,
                t.typtype::pg_catalog.text as kind,
                t.typarray::pg_catalog.int8 as array,
                t.typreceive::pg_catalog.oid <> 0 as binary,
                e.oid::pg_catalog.int8 as element,
                e.typdelim::pg_catalog.text as delimiter,
                t.typbasetype::pg_catalog.int8 as base,
                t.typtypmod as typmod,
                t.typnotnull as not_null,
                t.typnotnull or exists (
                    select from pg_catalog.pg_constraint k where k.contypid = t.oid and k.contype = 'c'
                ) as checked,
                pg_catalog.pg_get_expr(t.typdefaultbin, 0) as default_expression,
                t.typdefault as default_text,
                coalesce(r.rngsubtype, m.rngtypid)::pg_catalog.int8 as range_of,
                coalesce(r.rngcanonical::pg_catalog.oid <> 0, false) as discrete,
                (
                    select coalesce(pg_catalog.json_agg(u.enumlabel::pg_catalog.text order by u.enumsortorder), '[]')
                    from pg_catalog.pg_enum u
                    where u.enumtypid = t.oid
                ) as labels,
                (
                    select coalesce(pg_catalog.json_agg(y order by y.attnum), '[]')
                    from (
                        select
                            a.attnum,
                            a.attname::pg_catalog.text as name,
                            a.atttypid::pg_catalog.int8 as type,
                            a.atttypmod as typmod
                        from pg_catalog.pg_attribute a
                        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
                    ) y
                ) as fields,
                (
                    select q.operator::pg_catalog.int8
                    from equalities q
                    where q.opcdefault and q.opcintype = t.oid
                ) as equality
            from pg_catalog.pg_type t
            join pg_catalog.pg_namespace n on n.oid = t.typnamespace
            left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
            left join pg_catalog.pg_range r on t.typtype = 'r' and r.rngtypid = t.oid
            left join pg_catalog.pg_range m
                on t.typtype = 'm' and (pg_catalog.to_jsonb(m) ->> 'rngmultitypid')::pg_catalog.oid = t.oid
            where t.oid = any (array(select oid from types))
        ) x
    )::pg_catalog.text as types,
    (
        select coalesce(pg_catalog.json_agg(x order by not x.primary, x.oid), '[]')
        from (
            select
                i.indexrelid::pg_catalog.int8 as oid,
                c.relname::pg_catalog.text as name,
                i.indisprimary as primary,
                not i.indimmediate as deferrable,
                pg_catalog.pg_get_expr(i.indpred, i.indrelid) as predicate,
                coalesce((pg_catalog.to_jsonb(i) ->> 'indnullsnotdistinct')::pg_catalog.bool, false)
                    as nulls_not_distinct,
                -- Keys WITHOUT OVERLAPS are marked as exclusion too.
                i.indrelid = target.oid and i.indisunique and i.indisvalid and i.indexprs is null
                    and not i.indisexclusion as usable,
                (
                    select pg_catalog.json_agg(y order by y.n)
                    from (
                        select
                            k.n,
                            k.attnum,
                            k.collation_oid = a.attcollation as own_collation,
                            coalesce(l.collisdeterministic, true) as deterministic,
                            q.operator::pg_catalog.int8 as equality,
                            (
                                select s.operator::pg_catalog.int8
                                from equalities s
                                where s.opcdefault and s.opcintype = q.opcintype
                            ) as default_equality
                        from unnest(
                            i.indkey::pg_catalog.int2[],
                            i.indclass::pg_catalog.oid[],
                            i.indcollation::pg_catalog.oid[]
                        ) with ordinality k (attnum, opclass, collation_oid, n)
                        left join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
                        left join pg_catalog.pg_collation l on l.oid = k.collation_oid
                        left join equalities q on q.opclass = k.opclass
                        where k.n <= i.indnkeyatts
                    ) y
                ) as keys
            from pg_catalog.pg_index i
            join pg_catalog.pg_class c on c.oid = i.indexrelid
            -- A partition's part of an index of the target is that index.
            where i.indrelid = any (reached_oids.list) and (i.indisunique or i.indisexclusion)
                and i.indislive and i.indisready
                and (i.indrelid = target.oid or not c.relispartition)
        ) x
    )::pg_catalog.text as indexes,
    (
        select coalesce(pg_catalog.json_agg(x.columns), '[]')
        from (
            select (
                select coalesce(pg_catalog.json_agg(a.attname::pg_catalog.text order by u.n), '[]')
                from unnest(k.conkey) with ordinality u (attnum, n)
                left join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum
                where u.attnum >= 0
            ) as columns
            from pg_catalog.pg_constraint k
            where k.contype = 'c' and k.conrelid = any (reached_oids.list)
                and coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::pg_catalog.bool, true)
        ) x
    )::pg_catalog.text as checks
from target
cross join reached_oids
