import { describe, it } from "node:test";
import assert from "node:assert/strict";
import process from "node:process";
import { polledDeployments, requestOf } from "../../../src/cli/checkout.ts";
import type { System } from "../../../src/app.ts";
import { readSettings } from "../../../src/settings/mod.ts";
import { systemCommands } from "../../../src/system/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

describe("a repository whose poll has deployments of its own", () => {
  const inline = "deployments: [{name: shop}]";
  const two =
    `${inline}}, {url: "https://h.example/o/r", reference: next, deployments: [{name: new}]`;
  type Input = { url: string; identity?: string; reference?: string; target?: string };
  const cases: [what: string, poll: string, input: Input, names: string[], said?: RegExp][] = [
    ["is what that says", inline, { url: "https://h.example/o/r.git" }, ["shop"], /as by the serv/],
    ["is known by another form of its URL", inline, { url: "git@h.example:o/r.git" }, ["shop"]],
    ["is known by its checkout", inline, { url: "/src/r", identity: "h.example/o/r" }, ["shop"]],
    ["is its files for another target", inline, { url: "https://h.example/o/r", target: "a" }, []],
    ["is told from others", inline, { url: "https://h.example/o/other" }, []],
    ["is told from one without", "interval: 60", { url: "https://h.example/o/r" }, []],
    [
      "is its files for another reference",
      inline,
      {
        url: "https://h.example/o/r",
        reference: "feature",
      },
      [],
      /\(refs\/heads\/main\) has deployments of its own: this reads the files.*--ref/,
    ],
    [
      "is asked for by a reference where there are two",
      two,
      { url: "https://h.example/o/r" },
      [],
      /--ref/,
    ],
    ["has those of the reference", two, { url: "https://h.example/o/r", reference: "next" }, [
      "new",
    ]],
  ];
  for (const [what, poll, input, names, said] of cases) {
    it(what, () => {
      const POLL_CONFIG = `[{url: "https://h.example/o/r", ${poll}}]`;
      const { polls } = readSettings({ POLL_CONFIG }, () => "", { uid: 0 });
      const log = createRecordingLog();
      const found = polledDeployments({ reference: "HEAD", ...input }, polls, log);
      assert.deepEqual(found.map(({ deployment }) => deployment.name), names);
      if (said !== undefined) assert.match(log.lines.map(({ message }) => message).join(), said);
    });
  }
});

describe("a checkout", () => {
  const origins = [
    ["https://h.example/o/r.git", "h.example/o/r"],
    ["../git/o/r.git", "local/src/git/o/r.git"],
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

  it("of another user is not said to be no repository", async () => {
    const stderr = "fatal: detected dubious ownership in repository at '/src/shop'\nTo add an …\n";
    const run = () => Promise.resolve({ code: 128, stdout: new Uint8Array(), stderr });
    const system = { commands: { run }, env: {}, log: createRecordingLog() };
    const named = { repository: "shop", cwd: "/src", reference: "", target: "" };
    const asked = requestOf(system as unknown as System, named, new AbortController().signal);
    await assert.rejects(
      asked,
      /^[^:]*: \/src\/shop cannot be opened: it is another user's, which/,
    );
  });

  it("that is not there is not said to be no repository", async () => {
    const system = { commands: systemCommands, env: process.env, log: createRecordingLog() };
    const named = { repository: "/nowhere/at/all", cwd: "/", reference: "", target: "" };
    const asked = requestOf(system as unknown as System, named, new AbortController().signal);
    await assert.rejects(asked, /^[^:]*: \/nowhere\/at\/all cannot be opened: No such file or dir/);
  });
});
