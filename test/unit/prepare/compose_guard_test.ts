import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { composeInputs } from "../../../src/prepare/compose_files.ts";
import { countPaths } from "../../../src/prepare/recorded_bounds.ts";
import { guardRendering } from "../../../src/prepare/compose_guard.ts";
import type { GuardedInputs } from "../../../src/prepare/guarded_inputs.ts";
import type { Deployment, Revision } from "../../../src/model/mod.ts";
import type { Source } from "../../../src/source/source.ts";
import { createTurns, type Files, systemClock } from "../../../src/system/mod.ts";

const TURNS = createTurns(systemClock);

/** The text at a path of a repository. */
type Repository = (path: string) => string | undefined;

function guard(
  repository: Repository,
  directories: readonly string[] = [],
  interpolated = (text: string) => text,
): Promise<GuardedInputs> {
  const at = (path: string) => repository(path.replace(/^\/t\//, ""));
  const files = {
    stat: (path: string) => {
      const kind = directories.includes(path) ? "directory" : "file";
      return Promise.resolve(kind === "file" && at(path) === undefined ? undefined : { kind });
    },
    readIfExists: (path: string) => {
      const text = at(path);
      return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
    },
    realPath: (path: string) => Promise.resolve(path),
  } as unknown as Files;
  return guardRendering(
    { tree: "/t", directory: "/t", composeFiles: ["/t/compose.yaml"], envFiles: [] },
    { files, turns: TURNS, interpolate: (texts) => Promise.resolve(texts.map(interpolated)) },
    AbortSignal.timeout(60_000),
  );
}

function follow(repository: Repository) {
  const source = {
    entries: (_revision: Revision, paths: readonly string[]) =>
      Promise.resolve(new Map(paths.map((path) => [path, { kind: "file", id: "a" }]))),
    read: (_revision: Revision, path: string, _signal: AbortSignal, mostBytes: number) => {
      assert.equal(mostBytes, 256 * 1024);
      return Promise.resolve(new TextEncoder().encode(repository(path) ?? ""));
    },
  } as unknown as Source;
  const deployment = {
    name: "a",
    workingDir: ".",
    composeFiles: ["compose.yaml"],
    composeFilesGiven: true,
    envFiles: [],
  } as unknown as Deployment;
  const parts = { source, turns: TURNS };
  return composeInputs(
    parts,
    { revision: {} as Revision, deployment, owner: "" },
    AbortSignal.timeout(60_000),
  );
}

/** Compose files each of which includes the next one. */
const chain = (length: number): Repository => (path) => {
  const at = Number(/(\d+)\.yaml$/.exec(path)?.[1] ?? 0);
  return at + 1 < length ? `include: [c${at + 1}.yaml]\n` : "services: {}\n";
};
/** A compose file whose files each name so many others. */
const naming = (files: number, each: number): Repository => (path) => {
  const at = /c(\d+)\.yaml$/.exec(path)?.[1];
  if (at !== undefined) {
    const named = Array.from({ length: each }, (_, index) => `${at}-${index}.env`);
    return `services: {a: {env_file: [${named.join(", ")}]}}\n`;
  }
  return `include: [${Array.from({ length: files }, (_, index) => `c${index}.yaml`).join(", ")}]\n`;
};

for (const [what, look] of [["guardRendering()", guard], ["composeInputs()", follow]] as const) {
  describe(what, () => {
    it("lets the event loop turn between compose files that take long, with many projects", async () => {
      const services = Array.from({ length: 600 }, (_, at) => `  s${at}: {image: "a:${at}"}\n`);
      const large: Repository = (path) =>
        path === "compose.yaml"
          ? "include: [a.yaml, b.yaml, c.yaml]\n"
          : `services:\n${services.join("")}`;
      let turns = 0;
      let isOver = false;
      const turn = () => {
        turns++;
        if (!isOver) setTimeout(turn, 0);
      };
      turn();
      await Promise.all(Array.from({ length: 4 }, () => look(large)));
      isOver = true;
      // Nothing comes after the last one.
      assert.ok(turns >= 11, `${turns}`);
    });

    it("takes 400000 YAML signs in all compose files, and refuses more", async () => {
      const wide = (files: number): Repository => (path) =>
        path === "compose.yaml"
          ? `include: [${Array.from({ length: files }, (_, at) => `c${at}.yaml`).join(", ")}]\n`
          : `${"#".repeat(19_999)}\n`;
      await look(wide(19));
      await assert.rejects(look(wide(20)), /more than 400000 signs/);
    });

    it("takes 500 compose files and refuses more", async () => {
      await look(chain(500));
      await assert.rejects(look(chain(501)), /consists of more than 500 compose files/);
    });
  });
}

describe("guardRendering()", () => {
  it("takes compose files that name others at 20000 places and refuses more", async () => {
    await guard(naming(9, 2000));
    await assert.rejects(guard(naming(11, 2000)), /at more than 20000 places/);
  });

  it("looks beside an included file too, whatever directory the include gives it", async () => {
    const included = (env_file: string): Repository => (path) =>
      ({
        "compose.yaml": "include: [{path: b.yaml, project_directory: a/b/c}]\n",
        "b.yaml": `services: {a: {env_file: ${env_file}}}\n`,
      })[path];
    await guard(included("x.env"), ["/t/a/b/c"]);
    const out = guard(included("../../../x.env"), ["/t/a/b/c"]);
    await assert.rejects(out, { code: "path_escapes", message: /b\.yaml: .*\.\.\/x\.env/ });
  });
});

describe("guardRendering() of includes", () => {
  const of = (files: Readonly<Record<string, string>>): Repository => (path) => files[path];

  it("tells the services of the project, not those of files that it only extends", async () => {
    const files = of({
      "compose.yaml": "include: [a.yaml]\n" +
        "services: {web: {extends: {file: base.yaml, service: base}}, db: {profiles: [db]}}\n",
      "a.yaml": "include: [b.yaml]\nservices: {a: {profiles: [a]}}\n",
      "b.yaml": "services: {b: {extends: {file: base.yaml, service: base}}}\n",
      "base.yaml": "include: [c.yaml]\nservices: {base: {image: x}}\n",
      "c.yaml": "services: {c: {image: x}}\n",
    });
    const { declared: { services } } = await guard(files);
    assert.deepEqual([...services].sort(), ["a", "b", "db", "web"]);
  });

  it("looks at what an extended file names as if it lay beside each file that may be meant", async () => {
    const files = (env_file: string) =>
      of({
        "compose.yaml": "include: [{path: a/b.yaml, project_directory: s/none}]\n",
        "a/b.yaml": "services: {a: {extends: {file: ../d/e.yaml, service: a}}}\n",
        "s/d/e.yaml": `services: {a: {env_file: ${env_file}}}\n`,
      });
    await guard(files("../x.env"));
    // From s/d it is in the repository; compose 5.5 takes it from d, as s/none is no directory.
    const out = guard(files("../../x.env"));
    await assert.rejects(out, { code: "path_escapes", message: /^s\/d\/e\.yaml: / });
  });

  it("refuses compose files that versions of compose take for Git repositories, and no others", async () => {
    const named = (text: string, interpolated?: (text: string) => string) =>
      guard((path) => path === "compose.yaml" ? text : "services: {}\n", [], interpolated);
    const fetched = { code: "path_escapes", message: /^compose\.yaml: .* is a Git repository to/ };
    for (const path of ["x/y.git", "x/y.git#main:c.yaml", "x/y.git?a", "x/y%2Egit", "x/../y.git"]) {
      await assert.rejects(named(`include: ["${path}"]\n`), fetched);
      await assert.rejects(named(`include: [{path: [a.yaml, "${path}"]}]\n`), fetched);
    }
    for (const path of ["y.git", "./x/y.git", "x/y.git"]) {
      const text = `services: {a: {extends: {file: ${path}, service: b}}}\n`;
      await assert.rejects(named(text), fetched);
    }
    await assert.rejects(named('include: ["x/$Y"]\n', () => "x/y.git"), fetched);
    for (
      const path of ["y.git", "./x/y.git", "../t/y.git", "x/y.GIT", "x/a#b.git", "x.git/c.yaml"]
    ) {
      await named(`include: ["${path}"]\n`);
    }
    await named("services: {a: {env_file: x/y.git}}\n");
  });

  it("looks where compose runs for a file that is not where it should be, as early versions do", async () => {
    const files = (env_file: string) =>
      of({
        "compose.yaml": "include: [a/b.yaml]\n",
        "a/b.yaml": "include: [c.yaml]\n",
        "c.yaml": `services: {a: {env_file: ${env_file}}}\n`,
      });
    await guard(files("x.env"));
    await assert.rejects(guard(files("/x.env")), { code: "path_escapes", message: /^c\.yaml: / });
  });

  it("takes includes below one with a project directory unless one of all has a path that climbs", async () => {
    const files = (directory: string, path: string) =>
      of({
        "compose.yaml": `include: [{path: a/b.yaml, project_directory: ${directory}}]\n`,
        "a/b.yaml": `include: [${path}]\n`,
        "a/c.yaml": "include: [{path: e.yaml, project_directory: d}]\n",
        "a/e.yaml": "services: {a: {env_file: x.env}}\n",
      });
    const directories = ["/t/a", "/t/a/d"];
    const { files: found } = await guard(files("a", "c.yaml"), directories);
    for (const each of ["/t/a/d/x.env", "/t/a/x.env"]) assert.ok(found.includes(each), each);
    const climbing = guard(files("a", "x/../../a/c.yaml"), directories);
    await assert.rejects(climbing, { code: "config_invalid", message: /no path of the includes/ });
    await assert.rejects(guard(files("../t/a", "c.yaml"), directories), {
      message: /a\/b\.yaml: it includes "c\.yaml", below an include with a project_directory/,
    });
  });

  it("refuses includes below each other that may lie in too many directories", async () => {
    const chain: Repository = (path) => {
      const next = Number(/(\d+)\.yaml$/.exec(path)?.[1] ?? 0) + 1;
      return `include: [{path: d${next}/${next}.yaml, project_directory: p${next}}]\n`;
    };
    await assert.rejects(guard(chain), /at more than 20000 places/);
  });
});

describe("composeInputs()", () => {
  it("takes as many paths as are recorded of a release, there or not, and refuses more", async () => {
    assert.equal((await follow(naming(2, 2000))).paths.length, 4004);
    await assert.rejects(follow(naming(3, 2000)), /names more than 5000 paths of its repository/);
  });

  it("takes as many characters of paths as are recorded, and refuses more", async () => {
    const long = (count: number): Repository => () => {
      const names = Array.from(
        { length: count },
        (_, index) => `${`${"x".repeat(246)}/`.repeat(4)}xx${index}`,
      );
      return `services: {a: {env_file: [${names.join(", ")}]}}\n`;
    };
    // As many in each file: a file has bounds of its own.
    const included = (files: number): Repository => (path) =>
      path === "compose.yaml"
        ? `include: [${Array.from({ length: files }, (_, at) => `${at}/c.yaml`).join(", ")}]\n`
        : long(200)(path);
    assert.equal((await follow(included(2))).paths.length, 405);
    await assert.rejects(follow(included(3)), /more than 524288 characters of paths/);
  });
});

describe("countPaths()", () => {
  it("counts the files where containers may write", () => {
    const count = countPaths("files");
    for (let index = 0; index < 50_000; index++) count(`${index}`);
    assert.throws(
      () => count("x"),
      /more than 50000 paths of files where its containers may write/,
    );
  });
});

describe("guardRendering() looks at paths as compose will have them", () => {
  for (const sign of ["\u0085", "\u2028", "\u2029", "\ufeff", "\u007f", "\n"]) {
    it(`and refuses U+${sign.charCodeAt(0).toString(16)} that a variable brings in`, async () => {
      for (
        const text of [
          "services: {a: {env_file: $A}}",
          "services: {a: {extends: {file: $A, service: s}}}",
          "x: &a {env_file: $A}\nservices: {a: {<<: [*a, {env_file: b}], env_file: c}}",
          "include: [$A]",
          "include: [{path: a, env_file: $A}]",
          "include: [{path: a, project_directory: $A}]",
        ]
      ) {
        const files: Repository = (path) => path === "compose.yaml" ? text : "services: {}";
        await guard(files, [], () => "b.env");
        const guarded = guard(files, [], () => `x ${sign}.yaml`);
        await assert.rejects(guarded, { code: "config_invalid", message: /holds control char/ });
      }
    });
  }

  it("and refuses an include whose path a variable leaves empty", async () => {
    const files: Repository = (path) => path === "compose.yaml" ? "include: ['${U:-}']" : undefined;
    await assert.rejects(guard(files, [], () => ""), {
      code: "config_invalid",
      message: 'compose.yaml: the path "" is what an include names: change it',
    });
  });
});
