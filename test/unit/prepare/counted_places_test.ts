import assert from "node:assert/strict";
import { memoryUsage } from "node:process";
import { describe, it } from "node:test";
import { MOST_CHARACTERS, MOST_PLACES } from "../../../src/prepare/compose_files.ts";
import { guardRendering } from "../../../src/prepare/compose_guard.ts";
import { CountedPlaces } from "../../../src/prepare/counted_places.ts";
import { createTurns, type Files, systemClock } from "../../../src/system/mod.ts";

const TOO_MANY = /more than 500 compose files, or they name other files at more than 20000 places/;
const MIB = 1024 ** 2;

/** How a repository ended, the distinct places that were looked at, and memory that it took meanwhile. */
async function looked(repository: Readonly<Record<string, string>>) {
  const asked = new Set<string>();
  const before = memoryUsage().heapUsed;
  let most = before;
  const at = (path: string) => {
    if (!asked.has(path)) asked.add(path);
    if (asked.size % 1000 === 0) most = Math.max(most, memoryUsage().heapUsed);
    return repository[path.replace(/^\/t\//, "")];
  };
  const files = {
    stat: (path: string) =>
      Promise.resolve(at(path) === undefined ? undefined : { kind: "file", size: 1 }),
    readIfExists: (path: string) => {
      most = Math.max(most, memoryUsage().heapUsed);
      const text = at(path);
      return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
    },
    realPath: (path: string) => Promise.resolve(path),
  } as unknown as Files;
  const message = await guardRendering(
    { tree: "/t", directory: "/t", composeFiles: ["/t/compose.yaml"], envFiles: [] },
    { files, turns: createTurns(systemClock), interpolate: (texts) => Promise.resolve(texts) },
    AbortSignal.timeout(120_000),
  ).then(() => "", (error: Error) => error.message);
  const characters = [...asked].reduce((sum, each) => sum + each.length, 0);
  return { message, places: asked.size, characters, grown: (most - before) / MIB };
}

/** A path of so many characters, none of which need exist. */
const long = (start: string, length: number) => start + "x".repeat(length - start.length);
const including = (path: string, directory = "") =>
  `services: {}\ninclude:\n  - path: ${path}\n` +
  (directory === "" ? "" : `    project_directory: ${directory}\n`);
/** A place that nothing but the directory where compose runs makes a file of. */
const here = (at: number) => at < 0 ? "compose.yaml" : `${long(`d${at}-`, 90)}/i${at}.yml`;
/** Files that include the next one as if it lay where compose runs. */
const onlyHere = (levels: number) =>
  Object.fromEntries(
    Array.from({ length: levels }, (_, at) => [here(at - 1), including(here(at))]),
  );
const extending = (files: readonly string[]) =>
  `services:\n${
    files.map((file, at) => `  s${at}: {extends: {file: ${file}, service: a}}\n`).join("")
  }`;

describe("guardRendering() of what multiplies places", () => {
  const ATTACKS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "includes with project directories below each other": {
      "compose.yaml": including("x/i1.yml", long("p", 250)),
      "x/i1.yml": including("y/i2.yml", long("q", 250)),
      "y/i2.yml": including("z/i3.yml", long("r", 250)),
      "z/i3.yml": "services: {}\n",
    },
    "includes without one, of files that are only where compose runs": onlyHere(20),
    "files that extend others, below includes of files that may lie in many directories": {
      ...onlyHere(16),
      [here(15)]: extending(["e.yml"]),
    },
  };
  for (const [what, repository] of Object.entries(ATTACKS)) {
    it(`refuses ${what}, before they take much memory`, async () => {
      const { message, places, characters, grown } = await looked(repository);
      assert.match(message, TOO_MANY);
      assert.ok(places <= 2 * MOST_PLACES, `${places} places`);
      assert.ok(characters <= 2 * MOST_CHARACTERS, `${characters} characters`);
      assert.ok(grown < 100, `${grown} MiB`);
    });
  }
});

describe("CountedPlaces", () => {
  const FULL = Array.from({ length: MOST_PLACES }, (_, at) => `/t/${at}`);

  it("takes as many places as there may be, equal ones once, and refuses one more", () => {
    const places = new CountedPlaces("/t");
    assert.deepEqual(places.distinct([...FULL, ...FULL]), FULL);
    assert.throws(() => places.distinct(["/t/a"]), TOO_MANY);
    assert.throws(() => new CountedPlaces("/t").count(MOST_PLACES + 1), TOO_MANY);
  });

  it("counts characters below the tree, also of places that were counted before", () => {
    const places = new CountedPlaces("/t");
    places.count(MOST_PLACES);
    assert.equal(places.distinct([`/t${"a".repeat(MOST_CHARACTERS)}`, "/t", "/"], 0).length, 3);
    assert.throws(() => places.distinct(["/t/"], 0), /more than 2097152 characters together/);
  });

  it("makes no more places than it takes", () => {
    let made = 0;
    function* endless() {
      for (;;) yield `/t/${made++}`;
    }
    assert.throws(() => new CountedPlaces("/t").distinct(endless()), TOO_MANY);
    assert.equal(made, MOST_PLACES + 1);
  });
});
