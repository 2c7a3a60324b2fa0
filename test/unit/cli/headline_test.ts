import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { headline, inTable, shortened, withLastLine } from "../../../src/cli/headline.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { whyElsewhere } from "../../../src/record/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

describe("headline()", () => {
  const table: readonly (readonly [string, string])[] = [
    ["all is well", "all is well"],
    ["first\nsecond", "first"],
    ["web stopped with exit code 3; last output:\noh no", "web stopped with exit code 3"],
    ["", ""],
    [
      `build failed: > [4/4] COPY nix /nix:\nfailed: "/nix": not found\n`,
      `build failed: > [4/4] COPY nix /nix: failed: "/nix": not found`,
    ],
    [
      "build failed: > [4/4] RUN false:\n1.2 x\nexit code: 1; last output:\noh no",
      "build failed: > [4/4] RUN false: exit code: 1",
    ],
    ["failed:\n", "failed:"],
  ];
  for (const [message, expected] of table) {
    it(`of ${JSON.stringify(message)} is ${JSON.stringify(expected)}`, () =>
      assert.equal(headline(message), expected));
  }
});

describe("withLastLine()", () => {
  it("has the last line that a container printed", () => {
    assert.equal(
      withLastLine("web failed; last output:\nbegun\noh no\n"),
      "web failed; last output: oh no",
    );
    assert.equal(withLastLine("web failed\nmore"), "web failed");
    assert.equal(
      withLastLine("web failed:\nhow\nwhy; last output:\noh"),
      "web failed: why; last output: oh",
    );
  });
});

describe("shortened()", () => {
  it("cuts what is longer in its middle, as a cause stands at the end, and nothing else", () => {
    assert.equal(shortened("x".repeat(120), 120), "x".repeat(120));
    assert.equal(shortened("x".repeat(121), 120), `${"x".repeat(60)}…${"x".repeat(59)}`);
    const pulled = "docker compose pull failed: service web, image nginx:alpine: Get " +
      '"https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host';
    assert.equal(
      shortened(pulled, 76),
      "docker compose pull failed: service…registry-1.docker.io: no such host",
    );
  });

  it("cuts of several sentences the longest, which others said: the others say what to do", () => {
    const said = "dial tcp 10.0.0.1 refused ".repeat(30);
    const before = "web was not deployed: compose failed; ";
    for (
      const after of ["Remove what uses it, or rename web", "end that (stackwright resume shop)"]
    ) {
      const shown = shortened(`${before}${said}. ${after}`, 300);
      assert.ok(shown.length <= 300 && shown.length > 250, shown);
      assert.ok(shown.startsWith(before) && shown.endsWith(`. ${after}`), shown);
    }
    const many = `${before}${"it is. ".repeat(100)}the cause`;
    assert.match(shortened(many, 300), /^web was not deployed: .*….* the cause$/);
    assert.ok(shortened(many, 300).length <= 300);
  });
});

describe("inTable()", () => {
  it("cuts nothing of what Stackwright says, with names as long as they are", () => {
    const redactor = createRedactor();
    const [key, other] = [stackKey("same", "n9-app"), stackKey("default", "n9-app")];
    const ledger = createMemoryLedger(createFakeClock());
    for (const context of ["default", "same"]) {
      ledger.owners.noteEngine(context, { id: "a", cluster: "" });
    }
    ledger.succeed(ledger.beginDeploy(releaseOf(other, "1")), {}, "done");
    const why = whyElsewhere(ledger, key) ?? "";
    assert.match(why, /write that one as its context, or/);
    const text = `conflict: n9-app is not deployed: ${why}`;
    assert.equal(inTable(text, { redactor }), text);
  });

  it("leaves no half of a secret", () => {
    const redactor = createRedactor();
    redactor.add("canary-secret");
    assert.equal(inTable("x".repeat(640), { redactor }), "x".repeat(640));
    for (let before = 280; before < 350; before++) {
      const text = `${"x".repeat(before)} canary-secret ${"y".repeat(400)}`;
      assert.doesNotMatch(inTable(text, { redactor }), /cana|cret/);
    }
  });
});
