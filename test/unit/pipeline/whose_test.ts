import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readMark } from "../../../src/deploy/mod.ts";
import { LABELS, MANAGER } from "../../../src/model/mod.ts";
import { type Claim, keeping, whose, whyKept } from "../../../src/pipeline/owner/whose.ts";

const [CONF, APP, THEM] = ["git.example.com/me/conf", "git.example.com/me/app", "host/them/app"];
const url = (of: string) => `https://x:y@${of}.git`;

/** Labels by which things tell who made them. */
const by = (deployed?: string, configuration?: string) => ({
  [LABELS.manager]: MANAGER,
  ...(deployed === undefined ? {} : { [LABELS.sourceName]: deployed }),
  ...(configuration === undefined ? {} : { [LABELS.sourceConfiguration]: configuration }),
});
const peers = (of: string) => ({ "cd.doco.source.url": url(of) });

const MARKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "CONF's, from CONF": by(CONF, CONF),
  "CONF's, from APP": by(APP, CONF),
  "CONF's, from THEM": by(THEM, CONF),
  "THEM's, from CONF": by(CONF, THEM),
  "THEM's, from APP": by(APP, THEM),
  "THEM's, from THEM": by(THEM, THEM),
  "from CONF": by(CONF),
  "from APP": by(APP),
  "from THEM": by(THEM),
  "from nowhere": by(),
  "doco-cd's of CONF": peers(CONF),
  "doco-cd's of APP": peers(APP),
  "doco-cd's of THEM": peers(THEM),
  "without labels": {},
};

const CLAIM: Claim = {
  owner: { source: CONF, reference: "refs/heads/main" },
  isAdopted: false,
  configurations: () => new Set(),
  sources: () => new Set([CONF]),
  hasDeployed: () => false,
  tookOver: () => false,
};
const adopted = { isAdopted: true };
const begun = { sources: () => new Set([CONF, APP]), hasDeployed: () => true };

/** Who claims; the columns of the table. */
const CLAIMS: Readonly<Record<string, Partial<Claim>>> = {
  // CONF deploys the name for the first time.
  first: {},
  // CONF has deployed APP under the name.
  later: begun,
  // As `later`; an earlier release mounted a volume that was there before.
  took: { ...begun, tookOver: (volume) => volume === "store" },
  // A person handed the stack to CONF, which has deployed nothing yet.
  adopted,
  // As `adopted`, with a release that ran since.
  ran: { ...adopted, ...begun },
  // As `ran`; nobody has looked at what the former owner left.
  early: { ...adopted, ...begun, isUncleared: true },
  // As `ran`; things of THEM's were there when that was done.
  formers: {
    ...{ ...adopted, ...begun, configurations: () => new Set([THEM]) },
    sources: () => new Set([CONF, APP, THEM, `https://${THEM}.git`, ""]),
  },
  // As `ran`; CONF has deployed THEM by its URL since.
  since: { ...adopted, ...begun, sources: () => new Set([CONF, APP, THEM]) },
  // CONF discovered the stack in APP.
  found: { repository: APP },
  // As `found`, of a stack that a person handed to CONF.
  given: { ...adopted, repository: APP },
  // Nobody is known.
  nobody: { owner: undefined, sources: () => new Set([CONF]) },
};

/**
 * `own`, `taken` over, `-` for nobody's, and what it is from for another's; `!` where that is another
 * repository than the one in which the stack was discovered. The things are volumes called `store`.
 */
const TABLE = `
                      first   later   took    adopted  ran    early  formers  since   found   given   nobody
  CONF's, from CONF   own     own     own     own      own    own    own      own     CONF!   CONF!   CONF
  CONF's, from APP    own     own     own     own      own    own    own      own     own     own     CONF
  CONF's, from THEM   own     own     own     own      own    own    own      own     THEM!   THEM!   CONF
  THEM's, from CONF   THEM    THEM    THEM    own      THEM   own    own      THEM    CONF!   CONF!   THEM
  THEM's, from APP    THEM    THEM    THEM    own      THEM   own    own      THEM    THEM    own     THEM
  THEM's, from THEM   THEM    THEM    THEM    own      THEM   own    own      THEM    THEM!   THEM!   THEM
  from CONF           own     own     own     own      own    own    own      own     CONF!   CONF!   CONF
  from APP            APP     own     own     own      own    own    own      own     APP     own     APP
  from THEM           THEM    THEM    THEM    own      THEM   own    own      own     THEM!   THEM!   THEM
  from nowhere        ?       ?       ?       own      ?      own    own      ?       ?!      ?!      ?
  doco-cd's of CONF   taken   taken   taken   taken    taken  taken  taken    taken   taken   taken   CONF
  doco-cd's of APP    APP     APP     APP     taken    APP    -      APP      APP     APP     taken   APP
  doco-cd's of THEM   THEM    THEM    THEM    taken    THEM   -      -        THEM    THEM    taken   THEM
  without labels      -       -       taken   taken    -      -      -        -       -       taken   -
`;

/** The cells of the table, by column and row. */
function cells(table: string): { readonly row: string; readonly column: string; text: string }[] {
  const [head = "", ...rows] = table.split("\n").filter((line) => line.trim() !== "");
  const columns = head.trim().split(/\s+/);
  return rows.flatMap((line) => {
    const [row = "", ...texts] = line.trim().split(/\s{2,}/);
    return columns.map((column, at) => ({ row, column, text: texts[at] ?? "" }));
  });
}

/** The judgement as the table writes it. */
function written(labels: Readonly<Record<string, string>>, claim: Claim): string {
  const judged = whose(readMark(labels), claim, "store");
  if (judged.kind === "nobodys") return "-";
  if (judged.kind !== "anothers") return judged.kind;
  const names = [["CONF", CONF], ["APP", APP], ["THEM", THEM], ["?", "another source"]] as const;
  const [name] = names.find(([, text]) => judged.source.includes(text)) ?? [];
  return `${name}${judged.isRepository ? "!" : ""}`;
}

describe("whose()", () => {
  for (const { row, column, text } of cells(TABLE)) {
    it(`says ${text} of a thing ${row} to claim ${column}`, () => {
      const labels = MARKS[row];
      assert.ok(labels !== undefined && CLAIMS[column] !== undefined, "the table names them");
      assert.equal(written(labels, { ...CLAIM, ...CLAIMS[column] }), text);
    });
  }

  it("is asked about every mark and every claim", () => {
    const all = cells(TABLE);
    assert.deepEqual([...new Set(all.map(({ row }) => row))], Object.keys(MARKS));
    assert.deepEqual([...new Set(all.map(({ column }) => column))], Object.keys(CLAIMS));
  });

  it("takes over no container that has the name of a volume", () => {
    assert.equal(whose(readMark({}), { ...CLAIM, ...CLAIMS["took"] }).kind, "nobodys");
    const other = { ...CLAIM, ...CLAIMS["took"] };
    assert.equal(whose(readMark({}), other, "more").kind, "nobodys");
  });

  it("names doco-cd's repository without its credentials", () => {
    const judged = whose(readMark(peers(THEM)), CLAIM);
    assert.equal(whyKept(judged), `it was made for https://${THEM}.git`);
  });

  it("keeps, with a reason, what a destroy may not take", () => {
    assert.equal(whyKept({ kind: "own" }), undefined);
    assert.equal(whyKept({ kind: "taken" }), undefined);
    const unknown = "another manager made it: Stackwright neither did, nor took it over";
    assert.equal(whyKept({ kind: "nobodys" }), unknown);
    const asks = keeping(CLAIM);
    assert.equal(asks({ name: "x", labels: by() }, "secret"), undefined);
    assert.equal(asks({ name: "x", labels: by(THEM, CONF) }, "secret"), undefined);
    assert.equal(asks({ name: "x", labels: by(CONF, THEM) }, "config"), `it was made for ${THEM}`);
    for (const kind of ["service", "network", "volume"] as const) {
      const ask = (labels: Readonly<Record<string, string>>) => asks({ name: "x", labels }, kind);
      assert.equal(ask(by(THEM)), `it was made for ${THEM}`);
      assert.equal(ask(by(CONF)), undefined);
      assert.equal(ask({}), kind === "volume" ? unknown : undefined);
    }
  });
});

describe("readMark()", () => {
  it("tells for which stack a thing was made: Stackwright's word counts first", () => {
    const project = { "com.docker.compose.project": "project" };
    const stack = { "com.docker.stack.namespace": "stack" };
    const own = { [LABELS.deployment]: "own" };
    assert.equal(readMark({}).stack, "");
    assert.equal(readMark(stack).stack, "stack");
    assert.equal(readMark({ ...stack, ...project, ...own }).stack, "project");
    assert.equal(readMark({ ...project, ...own, ...by(APP) }).stack, "own");
    assert.equal(readMark({ ...project, ...by(APP) }).stack, "project");
  });

  it("believes no label of Stackwright without the one that says who made it", () => {
    assert.deepEqual(readMark({ [LABELS.sourceName]: CONF, [LABELS.sourceConfiguration]: CONF }), {
      maker: "nobody",
      stack: "",
    });
  });
});
