import { FORMER_CONFIGURATIONS, FORMER_REPOSITORIES } from "./former_repositories.ts";
import { NAMES_OF_ENGINES } from "./names_of_engines.ts";
import { RELEASE_CLAIMS, RELEASE_EXTRACTS } from "./release_extracts.ts";

/** The steps to the newest schema; step `n` makes version `n + 1`. Steps are never edited, only added. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE releases (
    id          TEXT PRIMARY KEY,
    context     TEXT NOT NULL,
    name        TEXT NOT NULL,
    number      INTEGER NOT NULL,
    digest      TEXT NOT NULL,
    revision    TEXT NOT NULL,
    status      TEXT NOT NULL,
    message     TEXT NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL,
    finished_at INTEGER,
    facts       TEXT NOT NULL,
    sealed      BLOB NOT NULL,
    UNIQUE (context, name, number)
  ) STRICT;
  CREATE TABLE stacks (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    release_id TEXT REFERENCES releases (id),
    PRIMARY KEY (context, name)
  ) STRICT;
  CREATE TABLE intents (
    id         TEXT PRIMARY KEY,
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    kind       TEXT NOT NULL,
    release_id TEXT REFERENCES releases (id),
    options    TEXT NOT NULL DEFAULT '{}',
    owner      TEXT NOT NULL DEFAULT '',
    opened_at  INTEGER NOT NULL,
    closed_at  INTEGER,
    outcome    TEXT,
    message    TEXT NOT NULL DEFAULT ''
  ) STRICT;
  CREATE TABLE failures (
    context            TEXT NOT NULL,
    name               TEXT NOT NULL,
    release            TEXT NOT NULL,
    failures           INTEGER NOT NULL,
    automatic_attempts INTEGER NOT NULL,
    last_failed_at     INTEGER NOT NULL,
    message            TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  CREATE TABLE pins (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    release_id TEXT NOT NULL REFERENCES releases (id),
    revision   TEXT NOT NULL,
    pinned_at  INTEGER NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  CREATE TABLE decisions (
    id       INTEGER PRIMARY KEY,
    context  TEXT NOT NULL,
    name     TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    times    INTEGER NOT NULL,
    content  TEXT NOT NULL
  ) STRICT;
  CREATE INDEX decisions_of ON decisions (context, name, id);
  CREATE INDEX intents_open ON intents (closed_at) WHERE closed_at IS NULL;
  `,
  `
  CREATE TABLE discovered (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    reference TEXT NOT NULL,
    content   TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  CREATE TABLE pending_removals (
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    reference TEXT NOT NULL,
    stacks    TEXT NOT NULL,
    PRIMARY KEY (source, target, reference)
  ) STRICT;
  `,
  `
  CREATE TABLE shown_trees (
    id       INTEGER PRIMARY KEY,
    context  TEXT NOT NULL,
    name     TEXT NOT NULL,
    tree     TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    done_at  INTEGER
  ) STRICT;
  CREATE INDEX shown_trees_of ON shown_trees (context, name, id);
  `,
  `
  CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    trigger    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    content    TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_of ON runs (trigger, kind, created_at);
  `,
  `
  ALTER TABLE pins ADD COLUMN refused TEXT;
  CREATE INDEX intents_of ON intents (context, name);
  `,
  `
  CREATE TABLE stops (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    stopped_at INTEGER NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  `,
  `
  ALTER TABLE releases ADD COLUMN sealed_in TEXT;
  `,
  `
  CREATE TABLE owners (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    source    TEXT NOT NULL,
    reference TEXT NOT NULL,
    adopted   INTEGER NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  CREATE TABLE refused_owners (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    source    TEXT NOT NULL,
    reference TEXT NOT NULL,
    PRIMARY KEY (context, name, source, reference)
  ) STRICT;
  `,
  `
  CREATE TABLE holds (
    context TEXT NOT NULL,
    name    TEXT NOT NULL,
    reason  TEXT NOT NULL,
    held_at INTEGER NOT NULL,
    until   INTEGER,
    PRIMARY KEY (context, name)
  ) STRICT;
  `,
  `
  ALTER TABLE pins ADD COLUMN pending TEXT;
  `,
  `
  ALTER TABLE pins ADD COLUMN reason TEXT;
  `,
  `
  ALTER TABLE intents ADD COLUMN ran_before TEXT NOT NULL DEFAULT '[]';
  `,
  `
  CREATE TABLE deferred (
    context  TEXT NOT NULL,
    name     TEXT NOT NULL,
    trigger  TEXT NOT NULL,
    sealed   BLOB NOT NULL,
    retry_at INTEGER,
    PRIMARY KEY (context, name)
  ) STRICT;
  `,
  `
  CREATE TABLE reconciliations (
    context TEXT NOT NULL,
    name    TEXT NOT NULL,
    options TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  CREATE TABLE restarts (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    release   TEXT NOT NULL,
    container TEXT NOT NULL,
    at        INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX restarts_of ON restarts (context, name, release, container, at);
  `,
  `
  ALTER TABLE failures ADD COLUMN by_hand_at INTEGER;
  `,
  `
  CREATE TABLE drift (
    context TEXT NOT NULL,
    name    TEXT NOT NULL,
    found   TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
  `,
  `
  CREATE TABLE service_settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;
  `,
  `
  CREATE TABLE release_contents (
    release_id TEXT PRIMARY KEY REFERENCES releases (id) ON DELETE CASCADE,
    services   TEXT NOT NULL,
    live       TEXT NOT NULL,
    closure    TEXT NOT NULL,
    sealed     BLOB NOT NULL
  ) STRICT;
  INSERT INTO release_contents
    SELECT id, coalesce(facts ->> '$.services', '[]'),
           coalesce(facts ->> '$.live', '{"files":{},"directories":[]}'),
           coalesce(facts ->> '$.closure', '{"configuration":"","complete":false,"paths":{}}'), sealed
    FROM releases;
  UPDATE releases
    SET facts = json_remove(facts, '$.services', '$.live', '$.closure'), sealed = x'';
  ALTER TABLE releases DROP COLUMN sealed;
  CREATE INDEX intents_of_release ON intents (release_id);
  ALTER TABLE decisions ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
  UPDATE decisions
    SET details = json_object(
          'changes', json(coalesce(content ->> '$.changes', '[]')),
          'services', json(coalesce(content ->> '$.services', '[]'))),
        content = json_remove(content, '$.changes', '$.services');
  `,
  `
  ALTER TABLE deferred ADD COLUMN repository TEXT NOT NULL DEFAULT '';
  ALTER TABLE deferred ADD COLUMN asks TEXT NOT NULL DEFAULT '';
  ALTER TABLE deferred ADD COLUMN asked INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX deferred_of ON deferred (asks);
  CREATE INDEX deferred_at ON deferred (retry_at);
  `,
  // `discovered` also has stacks that were merely named: an earlier version would remove some.
  "",
  `
  ALTER TABLE failures ADD COLUMN source TEXT NOT NULL DEFAULT '';
  `,
  `
  CREATE TABLE source_failures (
    key        TEXT PRIMARY KEY,
    repository TEXT NOT NULL,
    reference  TEXT NOT NULL,
    target     TEXT NOT NULL,
    since      INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    retry_at   INTEGER,
    message    TEXT NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE failures ADD COLUMN by_hand INTEGER NOT NULL DEFAULT 0;
  `,
  `
  CREATE TABLE engines (
    context TEXT PRIMARY KEY,
    id      TEXT NOT NULL,
    cluster TEXT NOT NULL
  ) STRICT;
  CREATE INDEX owners_named ON owners (name);
  `,
  `
  CREATE TABLE deferred_by (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    repository TEXT NOT NULL,
    trigger    TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    retry_at   INTEGER,
    asks       TEXT NOT NULL,
    asked      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (context, name, repository)
  ) STRICT;
  INSERT INTO deferred_by
    SELECT context, name, repository, trigger, sealed, retry_at, asks, asked FROM deferred;
  DROP TABLE deferred;
  ALTER TABLE deferred_by RENAME TO deferred;
  CREATE INDEX deferred_of ON deferred (asks);
  CREATE INDEX deferred_at ON deferred (retry_at);
  `,
  `
  CREATE TABLE deferred_by (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    repository TEXT NOT NULL,
    reference  TEXT NOT NULL,
    trigger    TEXT NOT NULL,
    sealed     BLOB NOT NULL,
    retry_at   INTEGER,
    asks       TEXT NOT NULL,
    asked      INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (context, name, repository, reference)
  ) STRICT;
  INSERT INTO deferred_by
    SELECT context, name, repository, '', trigger, sealed, retry_at, asks, asked FROM deferred;
  DROP TABLE deferred;
  ALTER TABLE deferred_by RENAME TO deferred;
  CREATE INDEX deferred_of ON deferred (asks);
  CREATE INDEX deferred_at ON deferred (retry_at);
  `,
  "ALTER TABLE intents ADD COLUMN in_name_of TEXT;",
  `
  ALTER TABLE owners ADD COLUMN repository TEXT NOT NULL DEFAULT '';
  `,
  FORMER_REPOSITORIES,
  RELEASE_EXTRACTS,
  `
  ALTER TABLE stops ADD COLUMN idle TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE owners ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;
  `,
  FORMER_CONFIGURATIONS,
  `CREATE TABLE stopped_by_jobs (context TEXT NOT NULL, name TEXT NOT NULL, service TEXT NOT NULL,
    content TEXT NOT NULL, PRIMARY KEY (context, name, service)) STRICT;`,
  NAMES_OF_ENGINES,
  RELEASE_CLAIMS,
];
