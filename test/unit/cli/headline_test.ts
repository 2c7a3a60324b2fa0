import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { headline, inTable, shortened, withLastLine } from "../../../src/cli/headline.ts";
import { stackKey } from "../../../src/model/mod.ts";
import { chooseObsolete } from "../../../src/plan/mod.ts";
import { createRedactor } from "../../../src/system/mod.ts";

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

  it("cuts no word, and not the danger of what is advised, whatever stands around it", () => {
    const owner = { source: "h/o/r", target: "", reference: "refs/heads/main" };
    const place = { key: stackKey("", "old"), owner, repository: "h/o/r", directory: "." };
    const stacks = [{ ...place, newer: false }];
    const [verdict] = chooseObsolete({
      stacks,
      named: [],
      scans: [],
      isWhole: true,
      complete: true,
    });
    assert.ok(verdict?.kind === "keep");
    for (const where of ["apps", "apps of a long name and ".repeat(3)]) {
      const text = `nothing names it any more: ${where} of main did until now; ${verdict.because}`;
      const cut = shortened(text, 300);
      assert.match(cut, /destroy: true, which deletes its volumes and \.\/data as well/, cut);
      const plain = ` ${text} `.replaceAll(/[,;]/g, " ");
      for (const part of cut.replaceAll(/[,;]/g, " ").split("…")) {
        assert.ok(plain.includes(` ${part.trim()} `), cut);
      }
    }
  });

  it("cuts no command away, which says what to do", () => {
    for (const before of [10, 50, 80, 100, 113, 119, 150]) {
      for (const end of ["", ")", "; next try 2026-11-28 09:04:56", "; it is long".repeat(20)]) {
        const text = `${"x".repeat(before)} end that first (stackwright resume shop${end}`;
        const cut = shortened(text, 120);
        assert.ok(cut.length <= 120 && cut.length >= Math.min(100, text.length), cut);
        assert.ok(cut.includes("stackwright resume shop"), cut);
        assert.ok(cut.endsWith(end.slice(-30)), cut);
      }
    }
    const long = `${"x".repeat(110)} stackwright forget ${"y".repeat(110)}`;
    assert.equal(shortened(long, 120), `${"x".repeat(60)}…${"y".repeat(59)}`);
  });
});

describe("inTable()", () => {
  it("leaves no half of a secret", () => {
    const redactor = createRedactor();
    redactor.add("canary-secret");
    assert.equal(inTable("x".repeat(300), { redactor }), "x".repeat(300));
    for (let before = 120; before < 180; before++) {
      const text = `${"x".repeat(before)} canary-secret ${"y".repeat(200)}`;
      assert.doesNotMatch(inTable(text, { redactor }), /cana|cret/);
    }
  });
});
