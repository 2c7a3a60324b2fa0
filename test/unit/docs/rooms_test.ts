import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";

const root = new URL("../../../", import.meta.url);

describe("README.md", () => {
  it("names every room of src/, and no other", () => {
    const text = readFileSync(new URL("README.md", root), "utf8");
    const named = [...text.matchAll(/^\| `([a-z]+)\/`\s+\|/gm)].map(([, room]) => room);
    const rooms = readdirSync(new URL("src", root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    assert.deepEqual(named.sort(), rooms.sort());
  });
});
