PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE decisions (
    id       INTEGER PRIMARY KEY,
    context  TEXT NOT NULL,
    name     TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at  INTEGER NOT NULL,
    times    INTEGER NOT NULL,
    content  TEXT NOT NULL
  ) STRICT;
CREATE TABLE deferred (
    context  TEXT NOT NULL,
    name     TEXT NOT NULL,
    trigger  TEXT NOT NULL,
    sealed   BLOB NOT NULL,
    retry_at INTEGER,
    PRIMARY KEY (context, name)
  ) STRICT;
CREATE TABLE discovered (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    reference TEXT NOT NULL,
    content   TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
CREATE TABLE drift (
    context TEXT NOT NULL,
    name    TEXT NOT NULL,
    found   TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
CREATE TABLE failures (
    context            TEXT NOT NULL,
    name               TEXT NOT NULL,
    release            TEXT NOT NULL,
    failures           INTEGER NOT NULL,
    automatic_attempts INTEGER NOT NULL,
    last_failed_at     INTEGER NOT NULL,
    message            TEXT NOT NULL, by_hand_at INTEGER,
    PRIMARY KEY (context, name)
  ) STRICT;
CREATE TABLE holds (
    context TEXT NOT NULL,
    name    TEXT NOT NULL,
    reason  TEXT NOT NULL,
    held_at INTEGER NOT NULL,
    until   INTEGER,
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
  , ran_before TEXT NOT NULL DEFAULT '[]') STRICT;
INSERT INTO "intents" VALUES('id-2','default','web','deploy','id-1','{"removeOrphans":false}','',1773140400123,1773140400123,'succeeded','deployed a1','[]');
INSERT INTO "intents" VALUES('id-4','default','web','deploy','id-3','{"removeOrphans":false}','',1773140400123,1773140400123,'succeeded','repaired','[]');
INSERT INTO "intents" VALUES('id-6','default','web','deploy','id-5','{"removeOrphans":false}','',1773140400123,1773140400123,'rolled_back','unhealthy','[]');
INSERT INTO "intents" VALUES('id-8','default','wiki','deploy','id-7','{"removeOrphans":false}','',1773140400123,NULL,NULL,'','[]');
CREATE TABLE owners (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    source    TEXT NOT NULL,
    reference TEXT NOT NULL,
    adopted   INTEGER NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
CREATE TABLE pending_removals (
    source    TEXT NOT NULL,
    target    TEXT NOT NULL,
    reference TEXT NOT NULL,
    stacks    TEXT NOT NULL,
    PRIMARY KEY (source, target, reference)
  ) STRICT;
CREATE TABLE pins (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    release_id TEXT NOT NULL REFERENCES releases (id),
    revision   TEXT NOT NULL,
    pinned_at  INTEGER NOT NULL, refused TEXT, pending TEXT, reason TEXT,
    PRIMARY KEY (context, name)
  ) STRICT;
INSERT INTO "pins" VALUES('default','web','id-1','b2',1773140400123,'{"digest":"digest-b2","closure":{"configuration":"c1","complete":true,"paths":{"compose.yaml":"o1",".env":"absent"}}}',NULL,'b2 breaks');
CREATE TABLE reconciliations (
    context TEXT NOT NULL,
    name    TEXT NOT NULL,
    options TEXT NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
CREATE TABLE refused_owners (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    source    TEXT NOT NULL,
    reference TEXT NOT NULL,
    PRIMARY KEY (context, name, source, reference)
  ) STRICT;
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
    sealed      BLOB NOT NULL, sealed_in TEXT,
    UNIQUE (context, name, number)
  ) STRICT;
INSERT INTO "releases" VALUES('id-1','default','web',1,'digest-a1','a1','deployed','deployed a1',1773140400123,1773140400123,'{"key":{"context":"default","name":"web"},"revision":{"source":{"kind":"git","url":"https://h.example/o/r","name":"h.example/o/r"},"reference":"refs/heads/main","id":"a1"},"target":"","timeoutSeconds":180,"digest":"digest-a1","services":[{"name":"web","digest":"web-a1","inputs":{"definition":"d1","file:web/page.html":"f1"},"expectation":{"replicas":1,"restarts":true,"mayFinish":false,"oneShot":false,"autostart":true},"image":"web:1","builds":false,"follows":{},"dependsOn":[]}],"closure":{"configuration":"c1","complete":true,"paths":{"compose.yaml":"o1",".env":"absent"}},"live":{"files":{"data/seed":"100644 o2"},"directories":["data/out"]},"images":{"web":"sha256:a1"}}',X'32EC8447E528FBAA2CDE14EF95F0FB85B44E83207D86DC4A06FC09FB25314264E691FC94024DA787836E15FBA86B8332ECF6E2954843B8BD3841596409E37459200702FED091B4E2FC9B9E4FDF30570BD82A01B83ED3452ED5B92EBD9E342B75C907DEAAB6B52517272E9EF62E4CA222510C465F28AB58A6FB6C06D34DB72BD7AAB5B7A97A50696056C3C53D469E4CAD50FF98D657560BD084DF8CBAB3FA0F1B1DE1CC7B61953599',NULL);
INSERT INTO "releases" VALUES('id-3','default','web',2,'digest-a1','a1','deployed','repaired',1773140400123,1773140400123,'{"key":{"context":"default","name":"web"},"revision":{"source":{"kind":"git","url":"https://h.example/o/r","name":"h.example/o/r"},"reference":"refs/heads/main","id":"a1"},"target":"","timeoutSeconds":180,"digest":"digest-a1","services":[{"name":"web","digest":"web-a1","inputs":{"definition":"d1","file:web/page.html":"f1"},"expectation":{"replicas":1,"restarts":true,"mayFinish":false,"oneShot":false,"autostart":true},"image":"web:1","builds":false,"follows":{},"dependsOn":[]}],"closure":{"configuration":"c1","complete":true,"paths":{"compose.yaml":"o1",".env":"absent"}},"live":{"files":{"data/seed":"100644 o2"},"directories":["data/out"]},"images":{"web":"sha256:a1"}}',X'','id-1');
INSERT INTO "releases" VALUES('id-5','default','web',3,'digest-b2','b2','rolled_back','unhealthy',1773140400123,1773140400123,'{"key":{"context":"default","name":"web"},"revision":{"source":{"kind":"git","url":"https://h.example/o/r","name":"h.example/o/r"},"reference":"refs/heads/main","id":"b2"},"target":"","timeoutSeconds":180,"digest":"digest-b2","services":[{"name":"web","digest":"web-b2","inputs":{"definition":"d1","file:web/page.html":"f1"},"expectation":{"replicas":1,"restarts":true,"mayFinish":false,"oneShot":false,"autostart":true},"image":"web:1","builds":false,"follows":{},"dependsOn":[]}],"closure":{"configuration":"c1","complete":true,"paths":{"compose.yaml":"o1",".env":"absent"}},"live":{"files":{"data/seed":"100644 o2"},"directories":["data/out"]},"images":{}}',X'D305614E9E5EA6058FA9A58AB1D546B933A0B2AAE0A536A8287BF04A0F86A72A27A1D0EBCC474211516F76036BF6F3F04C69A25A20DC79B5E14A26C7C9F469EA07702F16749B1B3354D72BE3863F1FAD020E72968C65522853B5689506FB1DFB4CF9C8D8FCA4B84C521168B4249B5548C5B2F2DB2A36C44EE7A141A34D1297A94C3C4B1CCF27ED6FF96EBCCEA4443BB9F989F6D4CB5F066D1B23E4F580A0B94BFEB54E12CB4D68BA',NULL);
INSERT INTO "releases" VALUES('id-7','default','wiki',1,'digest-c3','c3','applying','',1773140400123,NULL,'{"key":{"context":"default","name":"wiki"},"revision":{"source":{"kind":"git","url":"https://h.example/o/r","name":"h.example/o/r"},"reference":"refs/heads/main","id":"c3"},"target":"","timeoutSeconds":180,"digest":"digest-c3","services":[{"name":"web","digest":"web-c3","inputs":{"definition":"d1","file:web/page.html":"f1"},"expectation":{"replicas":1,"restarts":true,"mayFinish":false,"oneShot":false,"autostart":true},"image":"web:1","builds":false,"follows":{},"dependsOn":[]}],"closure":{"configuration":"c1","complete":true,"paths":{"compose.yaml":"o1",".env":"absent"}},"live":{"files":{"data/seed":"100644 o2"},"directories":["data/out"]},"images":{}}',X'68E8653891E6F3AF67B871EF23129A72B65DDC30A8627D1C6C034F0B9FB55FDA75B3C61EEEC96058C6920F0930191D8E1883AE73548B69FD64F33B7B3274194472BCBF56BB692603CFF5AEABE65799F8D95371642E51C024769020A966E0E8ED0F6E6082129250B761E10C891B04AD35E499E0FD06D5C3DBAAF7FCC10A4F8DAA335355E4C8357A3F6DA2ECAA1658A6C391520EE210AC6C568E123EE5923DC7F1F24FFAF7C09A4974',NULL);
CREATE TABLE restarts (
    context   TEXT NOT NULL,
    name      TEXT NOT NULL,
    release   TEXT NOT NULL,
    container TEXT NOT NULL,
    at        INTEGER NOT NULL
  ) STRICT;
CREATE TABLE runs (
    id         TEXT PRIMARY KEY,
    trigger    TEXT NOT NULL,
    kind       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    content    TEXT NOT NULL
  ) STRICT;
CREATE TABLE service_settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;
CREATE TABLE shown_trees (
    id       INTEGER PRIMARY KEY,
    context  TEXT NOT NULL,
    name     TEXT NOT NULL,
    tree     TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    done_at  INTEGER
  ) STRICT;
CREATE TABLE stacks (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    release_id TEXT REFERENCES releases (id),
    PRIMARY KEY (context, name)
  ) STRICT;
INSERT INTO "stacks" VALUES('default','web','id-3');
CREATE TABLE stops (
    context    TEXT NOT NULL,
    name       TEXT NOT NULL,
    stopped_at INTEGER NOT NULL,
    PRIMARY KEY (context, name)
  ) STRICT;
INSERT INTO "decisions" VALUES(1,'default','web',1773140400123,1773140400123,2,'{"trigger":"poll","origin":"automatic","revision":"refs/heads/main (a1)","kind":"deploy","message":"recreate web","changes":[{"input":"compose.yaml","from":"1","to":"2"}],"services":[{"name":"web","action":"recreate","because":["its definition changed"]}],"outcome":{"status":"succeeded","message":"done"}}');
CREATE INDEX decisions_of ON decisions (context, name, id);
CREATE INDEX intents_open ON intents (closed_at) WHERE closed_at IS NULL;
CREATE INDEX shown_trees_of ON shown_trees (context, name, id);
CREATE INDEX runs_of ON runs (trigger, kind, created_at);
CREATE INDEX intents_of ON intents (context, name);
CREATE INDEX restarts_of ON restarts (context, name, release, container, at);
COMMIT;
PRAGMA user_version = 17;
