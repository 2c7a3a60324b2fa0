import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { changedInputs } from "../../../src/plan/mod.ts";

const DEPLOYED = {
  configuration: "c1",
  complete: true,
  paths: { "web/compose.yaml": "file:1", ".env": "absent", "a.conf": "file:2" },
};

describe("changedInputs()", () => {
  const table: readonly {
    readonly when: string;
    readonly configuration?: string;
    readonly paths: Readonly<Record<string, string>>;
    readonly expected: readonly string[];
  }[] = [
    { when: "nothing changed", paths: {}, expected: [] },
    {
      when: "the configuration changed",
      configuration: "c2",
      paths: {},
      expected: ["configuration: c1 > c2"],
    },
    {
      when: "a file changed",
      paths: { "a.conf": "file:3" },
      expected: ["a.conf: file:2 > file:3"],
    },
    {
      when: "a file appeared",
      paths: { ".env": "file:9" },
      expected: [".env: absent > file:9"],
    },
    {
      when: "a file vanished",
      paths: { "a.conf": "absent" },
      expected: ["a.conf: file:2 > absent"],
    },
    {
      when: "a file became a directory with the same id",
      paths: { "a.conf": "directory:2" },
      expected: ["a.conf: file:2 > directory:2"],
    },
    {
      when: "everything changed: the configuration first, then paths by name",
      configuration: "c2",
      paths: { "web/compose.yaml": "file:x", ".env": "file:y", "a.conf": "file:z" },
      expected: [
        "configuration: c1 > c2",
        ".env: absent > file:y",
        "a.conf: file:2 > file:z",
        "web/compose.yaml: file:1 > file:x",
      ],
    },
    { when: "a path changed that was not read", paths: { "other.txt": "file:7" }, expected: [] },
  ];
  for (const { when, configuration = "c1", paths, expected } of table) {
    it(`says ${JSON.stringify(expected)} when ${when}`, () => {
      const now = { configuration, paths: { ...DEPLOYED.paths, ...paths } };
      assert.deepEqual(
        changedInputs(DEPLOYED, now).map(({ input, from, to }) => `${input}: ${from} > ${to}`),
        expected,
      );
    });
  }

  it("takes a path that was not looked up for absent", () => {
    assert.deepEqual(
      changedInputs(DEPLOYED, { configuration: "c1", paths: {} }).map((each) => each.input),
      ["a.conf", "web/compose.yaml"],
    );
  });
});
