/** A table: the types of its columns by their names, and the constraints and options that follow them. */
interface Table {
  readonly columns: Readonly<Record<string, string>>;
  readonly constraints?: string;
  readonly options?: string;
}

const [TEXT, INTEGER, BLOB] = ["TEXT NOT NULL", "INTEGER NOT NULL", "BLOB NOT NULL"] as const;
const ID = "TEXT PRIMARY KEY";
const NUMBER = "INTEGER PRIMARY KEY";
const RELEASE = "REFERENCES releases (id)";
/** A column that not all rows of earlier versions have needs a value for those. */
const by = (type: string, value: string) => `${type} DEFAULT ${value}`;

/** Tables with columns `context` and `name`; with one row for each stack unless they say otherwise. */
const STACK_TABLES = {
  releases: ofStack({
    ...{ id: ID, number: INTEGER, digest: TEXT, revision: TEXT, facts: TEXT },
    ...{ status: TEXT, message: by(TEXT, "''"), created_at: INTEGER, finished_at: "INTEGER" },
    sealed_in: "TEXT",
    // What is asked about all releases of a stack: the digests of their services, and the volumes that were
    // there before them, sealed; NULL until it is asked for with a release of an earlier version.
    ...{ digests: by(TEXT, "'[]'"), taken: "BLOB" },
  }, "UNIQUE (context, name, number)"),
  stacks: ofStack({ release_id: `TEXT ${RELEASE}` }),
  intents: ofStack({
    ...{ id: ID, kind: TEXT, release_id: `TEXT ${RELEASE}`, options: by(TEXT, "'{}'") },
    ...{ owner: by(TEXT, "''"), in_name_of: "TEXT", ran_before: by(TEXT, "'[]'") },
    ...{ opened_at: INTEGER, closed_at: "INTEGER", outcome: "TEXT", message: by(TEXT, "''") },
  }, ""),
  failures: ofStack({
    ...{ release: TEXT, source: by(TEXT, "''"), failures: INTEGER, automatic_attempts: INTEGER },
    ...{ last_failed_at: INTEGER, message: TEXT, by_hand_at: "INTEGER", by_hand: by(INTEGER, "0") },
  }),
  pins: ofStack({
    ...{ release_id: `TEXT NOT NULL ${RELEASE}`, revision: TEXT, pinned_at: INTEGER },
    ...{ refused: "TEXT", pending: "TEXT", reason: "TEXT" },
  }),
  decisions: ofStack({
    ...{ id: NUMBER, first_at: INTEGER, last_at: INTEGER, times: INTEGER },
    ...{ content: TEXT, details: by(TEXT, "'{}'") },
  }, ""),
  discovered: ofStack({ source: TEXT, target: TEXT, reference: TEXT, content: TEXT }),
  shown_trees: ofStack({ id: NUMBER, tree: TEXT, began_at: INTEGER, done_at: "INTEGER" }, ""),
  stops: ofStack({ stopped_at: INTEGER, idle: by(TEXT, "'[]'") }),
  owners: ofStack({
    ...{ source: TEXT, reference: TEXT, adopted: INTEGER, repository: by(TEXT, "''") },
    ...{ found: "INTEGER", cleared: by(INTEGER, "0") },
  }),
  former_configurations: ofOwner(),
  former_repositories: ofOwner(),
  refused_owners: ofStack({ source: TEXT, reference: TEXT }, keyWith("source, reference")),
  holds: ofStack({ reason: TEXT, held_at: INTEGER, until: "INTEGER" }),
  deferred: ofStack({
    ...{ repository: by(TEXT, "''"), reference: by(TEXT, "''"), trigger: TEXT, sealed: BLOB },
    ...{ retry_at: "INTEGER", asks: by(TEXT, "''"), asked: by(INTEGER, "0") },
  }, keyWith("repository, reference")),
  reconciliations: ofStack({ options: TEXT }),
  restarts: ofStack({ release: TEXT, container: TEXT, at: INTEGER }, ""),
  drift: ofStack({ found: TEXT }),
  stopped_by_jobs: ofStack({ service: TEXT, content: TEXT }, keyWith("service")),
};

const TABLES: Readonly<Record<string, Table>> = {
  ...STACK_TABLES,
  pending_removals: {
    columns: { source: TEXT, target: TEXT, reference: TEXT, stacks: TEXT },
    constraints: "PRIMARY KEY (source, target, reference)",
  },
  runs: { columns: { id: ID, trigger: TEXT, kind: TEXT, created_at: INTEGER, content: TEXT } },
  service_settings: { columns: { name: ID, value: TEXT } },
  release_contents: {
    columns: {
      release_id: `${ID} ${RELEASE} ON DELETE CASCADE`,
      ...{ services: TEXT, live: TEXT, closure: TEXT, sealed: BLOB },
      // The services, compressed: those that use the same files name each of them again.
      packed: "BLOB",
    },
  },
  // What releases claim of an engine, of which names are keyed digests, since they may hold secrets. A
  // release whose claims were noted has one with no text.
  release_claims: {
    columns: { claim: TEXT, release_id: `TEXT NOT NULL ${RELEASE} ON DELETE CASCADE` },
    constraints: "PRIMARY KEY (claim, release_id)",
    options: ", WITHOUT ROWID",
  },
  // What processes have to know of each other's pulls and questions.
  noted_pulls: { columns: { id: NUMBER, context: TEXT, owner: TEXT, images: TEXT } },
  found_commits: { columns: { name: ID, id: TEXT, asked_at: INTEGER } },
  source_failures: {
    columns: {
      ...{ key: ID, repository: TEXT, reference: TEXT, target: TEXT, message: TEXT },
      ...{ since: INTEGER, last_at: INTEGER, retry_at: "INTEGER" },
    },
  },
  engines: {
    columns: {
      ...{ context: ID, id: TEXT, hostname: by(TEXT, "''"), cluster: TEXT },
      ...{ since: by(INTEGER, "0"), said: by(INTEGER, "0") },
    },
  },
};

/** Indexes of a ledger, as SQL that makes those which it lacks. */
export const INDEXES: readonly string[] = [
  "claims_of_release ON release_claims (release_id)",
  "decisions_of ON decisions (context, name, id)",
  "deferred_at ON deferred (retry_at)",
  "deferred_of ON deferred (asks)",
  "intents_of ON intents (context, name)",
  "intents_of_release ON intents (release_id)",
  "intents_open ON intents (closed_at) WHERE closed_at IS NULL",
  "owners_named ON owners (name)",
  "releases_named ON releases (name)",
  "restarts_of ON restarts (context, name, release, container, at)",
  "runs_of ON runs (trigger, kind, created_at)",
  "shown_trees_of ON shown_trees (context, name, id)",
].map((each) => `CREATE INDEX IF NOT EXISTS ${each};`);

/** Names of the tables with columns `context` and `name`. */
export type StackTable = keyof typeof STACK_TABLES;

/** SQL that makes the tables and columns which a ledger lacks; `found` has the columns of a table. */
export function missingTables(found: (table: string) => ReadonlySet<string>): string[] {
  return Object.entries(TABLES).flatMap(([name, { columns }]) => {
    const there = found(name);
    if (there.size === 0) return [tableSql(name)];
    const missing = Object.entries(columns).filter(([column]) => !there.has(column));
    return missing.map((each) => `ALTER TABLE ${name} ADD COLUMN ${each.join(" ")};`);
  });
}

/** SQL that makes a table again, with the rows that it has: its key was another one. */
export function tableAgain(name: string): string {
  const columns = Object.keys(TABLES[name]?.columns ?? {}).join(", ");
  return `ALTER TABLE ${name} RENAME TO ${name}_before; ${tableSql(name)}
    INSERT INTO ${name} (${columns}) SELECT ${columns} FROM ${name}_before;
    DROP TABLE ${name}_before;`;
}

function tableSql(name: string): string {
  const { columns = {}, constraints = "", options = "" } = TABLES[name] ?? {};
  const parts = [...Object.entries(columns).map((each) => each.join(" ")), constraints];
  return `CREATE TABLE ${name} (${
    parts.filter((each) => each !== "").join(", ")
  }) STRICT${options};`;
}

function ofStack(columns: Table["columns"], constraints = "PRIMARY KEY (context, name)"): Table {
  return { columns: { context: TEXT, name: TEXT, ...columns }, constraints };
}

/** A table of sources that owners had before; they are forgotten with the owner. */
function ofOwner(): Table {
  const owner = "FOREIGN KEY (context, name) REFERENCES owners ON DELETE CASCADE";
  return ofStack({ repository: TEXT }, `${keyWith("repository")}, ${owner}`);
}

function keyWith(more: string): string {
  return `PRIMARY KEY (context, name, ${more})`;
}
