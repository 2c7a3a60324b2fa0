import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
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

describe("docs/architecture.md", () => {
  const text = readFileSync(new URL("docs/architecture.md", root), "utf8");

  it("has every room of the table of imports on one floor", () => {
    const section = text.slice(text.indexOf("| Floor"), text.indexOf("Rules that hold"));
    const cells = section.split("\n").map((row) => row.split("|")[2] ?? "");
    const named = cells.flatMap((cell) =>
      [...cell.matchAll(/`([a-z]+)`/g)].map(([, name]) => name)
    );
    const rooms = readdirSync(new URL("src", root), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    assert.deepEqual(named.sort(), rooms.sort());
  });

  it("names no path that is not here", () => {
    const paths = [...text.matchAll(/`((?:src|test|scripts)\/[\w./]*)`/g)].map(([, path = ""]) =>
      path
    );
    assert.deepEqual(paths.filter((path) => !existsSync(new URL(path, root))), []);
  });
});

describe("comments in src/", () => {
  it("point to no document that is not here", () => {
    const missing = readdirSync(new URL("src", root), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => {
        const text = readFileSync(new URL(`src/${file}`, root), "utf8");
        return [...text.matchAll(/\b([a-z-]+\.md)\b(?! *=)/g)].map(([, name = ""]) => ({
          file,
          name,
        }));
      })
      .filter(({ name }) => !existsSync(new URL(`docs/${name}`, root)));
    assert.deepEqual(missing, []);
  });
});
