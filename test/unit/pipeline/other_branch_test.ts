import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type SourceRequest, stackKey } from "../../../src/model/mod.ts";
import { otherTargets, requestsOf, stacksLed } from "../../../src/pipeline/owner/other_branch.ts";
import type { Ledger } from "../../../src/record/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { parseInlineDeployments } from "../../fakes/inline_deployments.ts";
import { releaseOf } from "../record/releases.ts";

const SOURCE = "h.example/o/r";
const [MAIN, DEV] = ["refs/heads/main", "refs/heads/dev"];
const request = (reference: string, more: Partial<SourceRequest> = {}): SourceRequest => {
  const url = `https://${SOURCE}.git`;
  return { kind: "git", url, reference, target: "", deployments: [], ...more };
};

/** A ledger with a stack, deployed from a branch of the source while another one's file names it. */
function deployed(
  from: string,
  named: { readonly file?: string; readonly owner?: string; readonly configuration?: string },
  target = "",
): Ledger {
  const ledger = createMemoryLedger(createFakeClock());
  const key = stackKey("", "shop");
  const release = releaseOf(key, "1");
  const { revision } = release;
  const { file, owner = MAIN, configuration } = named;
  ledger.owners.settle(key, { source: SOURCE, reference: owner });
  if (file !== undefined) {
    const asked = { source: SOURCE, target, reference: file };
    const found = { owner: asked, repository: SOURCE, directory: "." };
    ledger.discovered.set({ key, ...found });
  }
  const intent = ledger.beginDeploy({
    ...release,
    target,
    revision: { ...revision, reference: from },
    ...(configuration && {
      configuration: { ...revision, source: { ...revision.source, name: configuration } },
    }),
  });
  ledger.succeed(intent, {}, "done");
  return ledger;
}

const led = (ledger: Ledger, pushed: SourceRequest) =>
  [...stacksLed(ledger, { source: SOURCE, request: pushed })]
    .map(([branch, keys]) => [branch, ...keys.map(({ name }) => name)].join(" "));

describe("the stacks that other branches' files deploy from a pushed one", () => {
  const rows: readonly [string, Ledger, string, boolean, Partial<SourceRequest>?][] = [
    ["the file of another branch names it", deployed(DEV, { file: MAIN }), DEV, true],
    ["a poll of another branch names it", deployed(DEV, {}), DEV, true],
    ["its own branch was pushed", deployed(DEV, { file: MAIN }), MAIN, false],
    ["its own file names it", deployed(MAIN, { file: MAIN }), MAIN, false],
    ["another branch deployed it by hand", deployed(DEV, { file: DEV }), DEV, false],
    ["a tag names it", deployed(DEV, { file: "refs/tags/v1" }), DEV, false],
    ["a tag was pushed", deployed("refs/tags/v1", { file: MAIN }), "refs/tags/v1", false],
    ["another repository names it", deployed(DEV, { configuration: "h/o/x" }), DEV, false],
    ["of the target", deployed(DEV, { file: MAIN }, "nas"), DEV, true, { target: "nas" }],
    ["of another target", deployed(DEV, { file: MAIN }, "nas"), DEV, false],
  ];
  for (const [name, ledger, pushed, isLed, more] of rows) {
    it(`${isLed ? "have" : "do not have"} it where ${name}`, () =>
      assert.deepEqual(led(ledger, request(pushed, more)), isLed ? [`${MAIN} shop`] : []));
  }

  it("are read as that branch is polled, and from its file", () => {
    const deployments = parseInlineDeployments([{ name: "shop" }], "test");
    const [file, inline] = [request("main"), request("main", { deployments })];
    const others = [request("dev"), request("main", { target: "nas" })];
    const of = (...polled: SourceRequest[]) =>
      requestsOf(MAIN, [...polled, ...others], { request: request(DEV) });
    assert.deepEqual(of(), [request(MAIN)]);
    assert.deepEqual(of(file, inline), [file, inline]);
    assert.deepEqual(of(inline), [inline, request(MAIN)]);
  });
});

describe("the other targets of a configuration", () => {
  const revision = releaseOf(stackKey("", "shop"), "1").revision;
  const at = (reference: string) => ({
    ...revision,
    source: { ...revision.source, name: SOURCE },
    reference,
  });
  const ask = (ledger: Ledger, reference: string, ...known: SourceRequest[]) =>
    otherTargets(ledger, at(reference), [request("main"), ...known]).map(({ target }) => target);
  const nas = deployed(MAIN, { file: MAIN }, "nas");
  const rows: readonly [string, string[], string[]][] = [
    ["has a stack of the reference", ask(nas, MAIN), ["nas"]],
    ["has one of another reference", ask(nas, DEV), []],
    ["is polled", ask(nas, MAIN, request("main", { target: "nas" })), []],
    ["is the own one", ask(deployed(MAIN, { file: MAIN }), MAIN), []],
  ];
  for (const [name, found, expected] of rows) {
    it(`are ${expected.length === 0 ? "none" : "asked"} where one ${name}`, () =>
      assert.deepEqual(found, expected));
  }
});
