import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { requestOf, warnOfPolledDeployments } from "../../../src/cli/checkout.ts";
import type { System } from "../../../src/app.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("a repository whose poll has deployments of its own", () => {
  const inline = "deployments: [{name: shop}]";
  const cases: [what: string, poll: string, input: { url: string; identity?: string }, number][] = [
    ["is warned of", inline, { url: "https://h.example/o/r.git" }, 1],
    ["is known by another form of its URL", inline, { url: "git@h.example:o/r.git" }, 1],
    ["is known by its checkout", inline, { url: "/src/r", identity: "h.example/o/r" }, 1],
    ["is told from others", inline, { url: "https://h.example/o/other" }, 0],
    ["is told from one without", "interval: 60", { url: "https://h.example/o/r" }, 0],
  ];
  for (const [what, poll, input, count] of cases) {
    it(what, () => {
      const POLL_CONFIG = `[{url: "https://h.example/o/r", ${poll}}]`;
      const { polls } = readSettings({ POLL_CONFIG }, () => "", { uid: 0 });
      const log = createRecordingLog();
      warnOfPolledDeployments({ reference: "HEAD", ...input }, polls, log);
      const said = log.lines.map(({ message }) => message);
      assert.equal(said.length, count);
      for (const each of said) assert.match(each, /^the poll of h\.example\/o\/r has deployments/);
    });
  }
});

describe("a checkout", () => {
  const origins = [
    ["https://h.example/o/r.git", "h.example/o/r"],
    ["../git/o/r.git", "local/src/git/o/r"],
  ];
  for (const [origin = "", identity] of origins) {
    it(`stands for the repository that it was cloned from: ${origin}`, async () => {
      const said: Record<string, string> = { "--is-bare-repository": "false", "--get": origin };
      const run = ({ argv }: { readonly argv: readonly string[] }) => {
        const stdout = new TextEncoder().encode(said[argv.at(4) ?? ""] ?? "");
        return Promise.resolve({ code: 0, stdout, stderr: "" });
      };
      const system = { commands: { run }, env: {}, log: createRecordingLog() };
      const named = { repository: "shop", cwd: "/src", reference: "", target: "" };
      const { signal } = new AbortController();
      assert.deepEqual(await requestOf(system as unknown as System, named, signal), {
        url: "/src/shop",
        reference: "HEAD",
        target: "",
        identity,
      });
    });
  }
});
