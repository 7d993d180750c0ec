-- The tables of events, sessions and tasks. All times are unix milliseconds.

-- One row per (workspace, channel) that ever had an event. Rows stay when their events are pruned, so that neither a
-- version nor an id is given out twice.
CREATE TABLE stream (
    id        INTEGER PRIMARY KEY,
    workspace TEXT    NOT NULL CHECK (workspace <> ''),
    channel   TEXT    NOT NULL CHECK (channel <> ''),
    version   INTEGER NOT NULL, -- of its newest event; since versions have no holes, the number of events that ever were
    last_id   INTEGER NOT NULL, -- of its newest event
    UNIQUE (workspace, channel)
) STRICT;

-- The log as a whole.
CREATE TABLE event_log (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    last_id    INTEGER NOT NULL, -- newest id that was given out
    indexed_id INTEGER NOT NULL  -- newest id whose text is in event_text
) STRICT;
INSERT INTO event_log VALUES (1, 0, 0);

-- Ids come from event_log.last_id, not from AUTOINCREMENT: that would write a second row for each event.
CREATE TABLE event (
    id      INTEGER PRIMARY KEY,
    stream  INTEGER NOT NULL, -- no foreign key: it would cost each event a lookup, and stream rows are never deleted
    version INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    actor   TEXT,
    at      INTEGER NOT NULL,
    parent  INTEGER,
    payload BLOB    NOT NULL -- JSON text; a blob because it is never looked into by SQL
) STRICT;

-- With the row id that every index holds this is (stream, id), the order in which a stream is paged.
CREATE INDEX event_stream ON event (stream);

-- True totals, and who was active when: all events that ever were.
CREATE TABLE tally (
    stream  INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    actor   TEXT    NOT NULL, -- '' for none
    total   INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (stream, kind, actor)
) STRICT, WITHOUT ROWID;

-- Text of the events, by who may search it: scope holds a token for the workspace and one for the stream; refs, detail and
-- sealed what a reader sees at refs_only, from summary on, and at full only.
CREATE VIRTUAL TABLE event_text USING fts5 (
    scope, refs, detail, sealed,
    content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE session (
    workspace  TEXT    NOT NULL,
    channel    TEXT    NOT NULL,
    version    INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace, channel)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_note (
    id        INTEGER PRIMARY KEY,
    workspace TEXT    NOT NULL,
    channel   TEXT    NOT NULL,
    kind      TEXT    NOT NULL CHECK (kind IN ('finding', 'decision')),
    text      TEXT    NOT NULL,
    file      TEXT,
    line      INTEGER,
    actor     TEXT,
    at        INTEGER NOT NULL
) STRICT;
CREATE INDEX session_note_page ON session_note (workspace, channel, kind, id);

CREATE TABLE task (
    workspace   TEXT    NOT NULL,
    channel     TEXT    NOT NULL,
    number      INTEGER NOT NULL,
    description TEXT    NOT NULL,
    state       TEXT    NOT NULL,
    assignee    TEXT,
    note        TEXT,
    created_by  TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    PRIMARY KEY (workspace, channel, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX task_one_active ON task (workspace, channel) WHERE state = 'active';

-- What Probe writes.
CREATE TABLE store_probe (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    at  INTEGER NOT NULL
) STRICT;
INSERT INTO store_probe VALUES (1, 0);
