import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requireOwnVolumes } from "../../../src/deploy/mod.ts";
import { LABELS } from "../../../src/model/mod.ts";

const OURS = "host/me/shop";
const THEIRS = "host/them/wiki";
const labels = (stack: string, source: string) => ({
  [LABELS.manager]: "stackwright",
  [LABELS.deployment]: stack,
  [LABELS.sourceName]: source,
  "com.docker.compose.project": stack,
});

/** Deploys stack `shop` with one volume, which exists with the labels that are given. */
function check(
  made: Readonly<Record<string, string>>,
  { external = false, owners = {} }: {
    readonly external?: boolean;
    readonly owners?: Readonly<Record<string, string>>;
  } = {},
): void {
  const volumes = { data: { name: "wiki_data", ...external ? { external } : {} } };
  requireOwnVolumes(
    { context: "default", name: "shop" },
    { name: "shop", services: {}, volumes },
    { existing: [{ name: "wiki_data", labels: made }], ownerOf: (stack) => owners[stack] },
    { source: OURS, reference: "" },
  );
}

describe("requireOwnVolumes()", () => {
  const fine: readonly (readonly [string, Parameters<typeof check>])[] = [
    ["a volume of the stack itself, whoever had it before", [labels("shop", THEIRS)]],
    ["one of another stack of its source", [labels("wiki", OURS)]],
    ["one of a stack that was handed to its source", [labels("wiki", THEIRS), {
      owners: { wiki: OURS },
    }]],
    ["one that nobody made for a project", [{}]],
    ["one of a project that nobody manages", [{ "com.docker.compose.project": "wiki" }]],
    ["an external one", [labels("wiki", THEIRS), { external: true }]],
  ];
  for (const [title, parts] of fine) it(`lets ${title} be`, () => check(...parts));

  const refused: readonly (readonly [string, Parameters<typeof check>])[] = [
    ["says so itself", [labels("wiki", THEIRS)]],
    ["is in the ledger", [labels("wiki", OURS), { owners: { wiki: THEIRS } }]],
    ["had it before it was managed", [{ "com.docker.compose.project": "wiki" }, {
      owners: { wiki: THEIRS },
    }]],
  ];
  for (const [title, parts] of refused) {
    it(`refuses one of another source's stack, where that ${title}`, () =>
      assert.throws(() => check(...parts), {
        code: "conflict",
        message: /volumes.data: volume wiki_data is stack wiki's, which runs from host\/them\/wiki/,
      }));
  }
});
