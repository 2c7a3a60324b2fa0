import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Git, type GitParts } from "../../../../src/source/git/git.ts";
import { createRedactor } from "../../../../src/system/mod.ts";
import { createFakeClock } from "../../../fakes/fake_clock.ts";

const SECRET = `canary-${"0123456789abcdef".repeat(8)}`;
/** Characters of a long text that are read: the last ones. */
const READ = 256 * 1024;

/** What is known of a git that said `stderr`. */
async function said(stderr: string): Promise<string> {
  const redactor = createRedactor();
  redactor.add(SECRET);
  const parts = {
    commands: { run: () => Promise.resolve({ code: 1, stdout: new Uint8Array(), stderr }) },
    clock: createFakeClock(),
    redactor,
    access: { home: () => Promise.resolve("/home") },
    options: { git: "git", path: "/bin", localTimeoutMs: 1000, http: undefined },
  } as unknown as GitParts;
  const never = new AbortController().signal;
  return (await new Git(parts).local({ args: ["fetch"] }, never)).stderr;
}

describe("what git says of its work", () => {
  it("has no secret in it", async () => {
    assert.equal(await said(`fatal: no ${SECRET}`), "fatal: no ***");
  });

  for (const kept of [8, 20, SECRET.length - 1]) {
    it(`has none of which ${kept} characters were left when it was cut`, async () => {
      const rest = SECRET.slice(-kept);
      const end = `${"x\n".repeat(READ)}fatal: the end`;
      const stderr = `${SECRET}${end.slice(-(READ - kept))}`;
      const text = await said(stderr);
      assert.ok(text.endsWith("fatal: the end"));
      assert.ok(!text.includes(rest));
    });
  }
});
