"""The tables in the database, version by version. What stands here is never changed: a new version adds to the list."""

from __future__ import annotations

MIGRATIONS = (
    """
    CREATE TABLE habilis.lease (
        name text COLLATE "C" PRIMARY KEY,
        owner text NOT NULL,
        epoch bigint NOT NULL,
        expires timestamptz NOT NULL
    );
    CREATE TABLE habilis.chunk (
        name text COLLATE "C" NOT NULL,
        at bigint GENERATED ALWAYS AS IDENTITY,
        data bytea NOT NULL,
        PRIMARY KEY (name, at)
    );
    CREATE TABLE habilis.blob (
        digest text COLLATE "C" PRIMARY KEY,
        data bytea NOT NULL
    );
    ALTER TABLE habilis.blob ALTER COLUMN data SET STORAGE EXTERNAL;
    CREATE FUNCTION habilis.fence(wanted text, its_epoch bigint) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM FROM habilis.lease WHERE name = wanted AND epoch = its_epoch FOR SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the epoch % of % is over', its_epoch, wanted USING ERRCODE = 'HB001';
        END IF;
    END $$;
    CREATE FUNCTION habilis.swap(wanted text, old bytea, new bytea) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended(wanted, 0));
        IF (SELECT string_agg(data, ''::bytea ORDER BY at) FROM habilis.chunk WHERE name = wanted)
           IS DISTINCT FROM old THEN
            RAISE EXCEPTION '% was changed', wanted USING ERRCODE = 'HB002';
        END IF;
        DELETE FROM habilis.chunk WHERE name = wanted;
        INSERT INTO habilis.chunk (name, data) VALUES (wanted, new);
    END $$;
    CREATE FUNCTION habilis.write(
        wanted text, its_epoch bigint, kinds text[], names text[], olds bytea[], news bytea[]
    ) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM habilis.fence(wanted, its_epoch);
        FOR i IN 1 .. cardinality(names) LOOP
            IF kinds[i] = 'Swap' THEN
                PERFORM habilis.swap(names[i], olds[i], news[i]);
                CONTINUE;
            END IF;
            IF kinds[i] = 'Put' THEN
                DELETE FROM habilis.chunk WHERE name = names[i];
            END IF;
            IF news[i] IS NOT NULL THEN
                INSERT INTO habilis.chunk (name, data) VALUES (names[i], news[i]);
            END IF;
        END LOOP;
    END $$;
    """,
    """
    LOCK TABLE habilis.lease;
    DO $$ BEGIN
        IF EXISTS (SELECT FROM habilis.lease WHERE expires > clock_timestamp()) THEN
            RAISE EXCEPTION 'trainings are at work' USING ERRCODE = 'HB003';
        END IF;
    END $$;
    UPDATE habilis.lease SET owner = '', epoch = epoch + 1, expires = '-infinity';
    CREATE SEQUENCE habilis.epoch;
    SELECT setval('habilis.epoch', (SELECT coalesce(max(epoch), 0) + 1 FROM habilis.lease));
    ALTER TABLE habilis.blob ADD COLUMN kept bigint NOT NULL DEFAULT 0;
    """,
)
"""Each step leads from the version of its place in the list to the next one.

`lease` says who may write. A log or document is the `chunk`s of its name, in their order. `fence` holds the lease's row
until the transaction ends, so that nobody takes over between the check and the write. `write` makes any number of
changes in one statement, and so in one way to the server and back.

Since version 2 epochs come from one sequence, so that of any two leases the one with the smaller epoch began first;
`blob.kept` is the epoch of the youngest lease under which the content was kept (see `removing`). An older Habilis knows
nothing of that: the step waits for none that is at work, and ends the leases of those that may come back.
"""
FENCED, CHANGED, AT_WORK = "HB001", "HB002", "HB003"
"""States (SQLSTATE) of our own: the epoch is over; something else stands there; a lease is held."""
