import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors, type Revision } from "../../../src/model/mod.ts";
import { overtakenBy } from "../../../src/pipeline/destroy/is_newer.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";

const revisionOf = (name: string, id: string): Revision => ({
  source: { kind: "git", url: `https://${name}`, name },
  reference: "refs/heads/main",
  id,
});

/** Asks whether commits of `apps` and `stacks` that were looked at are overtaken, where `now` is what is there. */
function ask(now: Readonly<Record<string, string>>): ReturnType<typeof overtakenBy> {
  const resolve = ({ location: { name } }: { readonly location: Revision["source"] }) => {
    if (now[name] === "silent") return new Promise(() => {});
    return now[name] === undefined
      ? Promise.reject(errors.repository_unreachable(`${name} does not answer`))
      : Promise.resolve(revisionOf(name, now[name]));
  };
  const clock = { uptime: () => 0, sleep: () => new Promise((resolve) => setTimeout(resolve)) };
  const parts = { source: { resolve }, options: { cloneDepth: 0 }, clock } as unknown;
  const looked = [revisionOf("apps", "a".repeat(40)), revisionOf("stacks", "b".repeat(40))];
  return overtakenBy(parts as PipelineParts, looked, new AbortController().signal);
}

describe("overtakenBy()", () => {
  const same = { apps: "a".repeat(40), stacks: "b".repeat(40) };
  it("is nothing where no source has a newer commit", async () =>
    assert.equal(await ask(same), undefined));

  for (const name of ["apps", "stacks"]) {
    it(`tells of a newer commit of ${name}`, async () => {
      const said =
        `refs/heads/main (cccccccccccc) of ${name} came meanwhile, by which it is decided`;
      const hold = await ask({ ...same, [name]: "c".repeat(40) });
      assert.deepEqual([hold?.reason, hold?.message], ["superseded", said]);
    });
  }

  it("waits half a minute for another author's, whose stack it is not", async () => {
    const message = /^it is changed when its source tells .*: no answer within 30 s$/;
    await assert.rejects(ask({ ...same, stacks: "silent" }), { code: "timeout", message });
  });

  it("throws where a source does not answer, which keeps what is to be removed", async () => {
    const message = /^it is changed when its source tells .*: stacks does not answer$/;
    await assert.rejects(ask({ apps: same.apps }), { code: "repository_unreachable", message });
  });
});
