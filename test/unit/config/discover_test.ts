import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { takesAtMost } from "../processor_time.ts";
import {
  type DeploymentDocument,
  discoverDirectories,
  type DiscoveryRules,
  expandDiscovery,
  measuredDirectory,
  parseDeployments,
  scopeOf,
} from "../../../src/config/mod.ts";

type Listing = ReadonlyMap<string, { readonly kind: string }>;

/** A listing of files; `path@kind` is of another kind. */
function listing(...paths: readonly string[]): Listing {
  return new Map(paths.map((each) => {
    const [path = "", kind = "file"] = each.split("@");
    return [path, { kind }];
  }));
}

function rules(more: Partial<DiscoveryRules> = {}): DiscoveryRules {
  return { workingDir: ".", depth: 0, composeFiles: ["compose.yaml", "compose.yml"], ...more };
}

const paths = (files: Listing, more: Partial<DiscoveryRules> = {}) =>
  discoverDirectories(files, rules(more)).map((each) => each.path);

describe("discoverDirectories()", () => {
  const NESTED = listing(
    "compose.yaml",
    "a/compose.yaml",
    "a/b/compose.yml",
    "a/b/c/compose.yaml",
    "d/readme",
  );
  const rows: readonly (readonly [what: string, found: string[], expected: string[]])[] = [
    ["depth 0 is without a limit", paths(NESTED), [".", "a", "a/b", "a/b/c"]],
    ["depth 1 is the directory and its children", paths(NESTED, { depth: 1 }), [".", "a"]],
    ["depth 2 is one more", paths(NESTED, { depth: 2 }), [".", "a", "a/b"]],
    [
      "depth counts from the working directory",
      paths(NESTED, { workingDir: "a", depth: 1 }),
      ["a", "a/b"],
    ],
    [
      "ignored directories are not entered, however deep",
      paths(listing(
        ...[".git", ".github", ".vscode", ".idea", "node_modules"].flatMap((name) => [
          `${name}/compose.yaml`,
          `x/${name}/y/compose.yaml`,
        ]),
        "x/.hidden/compose.yaml",
      )),
      ["x/.hidden"],
    ],
    [
      "names are exact and case counts",
      paths(listing("a/Compose.yaml", "b/my-compose.yaml", "c/compose.yaml.bak")),
      [],
    ],
    [
      "links to files count, submodules and directories do not",
      paths(listing("a/compose.yaml@symlink", "b/compose.yaml@submodule", "c@symlink")),
      ["a"],
    ],
    [
      "a sibling with the same beginning is outside",
      paths(listing("apps/compose.yaml", "apps2/compose.yaml"), { workingDir: "apps" }),
      ["apps"],
    ],
    [
      "a compose file in a folder of the stack belongs to the stack",
      paths(listing("a/deploy/stack.yml"), { composeFiles: ["deploy/stack.yml"] }),
      ["a"],
    ],
    [
      "parents come first and children follow them",
      paths(listing("a-b/compose.yaml", "a/z/compose.yaml", "a/compose.yaml")),
      ["a", "a/z", "a-b"],
    ],
    [
      "a file instead of a directory holds nothing",
      paths(listing("apps"), { workingDir: "apps" }),
      [],
    ],
  ];
  for (const [what, found, expected] of rows) {
    it(what, () => assert.deepEqual(found, expected));
  }

  it("finds overrides in lookup order, but not the file that declares the discovery", () => {
    const files = listing(
      "compose.yaml",
      ".stackwright.yaml",
      "a/compose.yaml",
      "a/.stackwright.yml",
      "a/.doco-cd.yaml",
      "b/compose.yaml",
      "b/.stackwright.nas.yaml",
    );
    assert.deepEqual(discoverDirectories(files, rules({ configurationDir: "." })), [
      { path: "." },
      { path: "a", override: "a/.stackwright.yml" },
      { path: "b" },
    ]);
    assert.equal(discoverDirectories(files, rules())[0]?.override, ".stackwright.yaml");
  });

  it("finds the same whatever the order of the listing is", () => {
    const random = randomFrom(20251121);
    for (let round = 0; round < 300; round++) {
      const files = randomPaths(random);
      const scope = { depth: Math.floor(random() * 4), workingDir: random() < 0.5 ? "." : "a" };
      const expected = discoverDirectories(listing(...files), rules(scope));
      const isInScope = scopeOf(rules(scope));
      for (const { path } of expected) assert.ok(isInScope(measuredDirectory(path)), path);
      const again = discoverDirectories(listing(...shuffled(files, random)), rules(scope));
      assert.deepEqual(again, expected);
    }
  });
});

/** A generator of numbers in [0, 1) that is the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function randomPaths(random: () => number): string[] {
  const names = ["a", "b", "a-b", "node_modules", "c"];
  const files = ["compose.yaml", "compose.yml", ".stackwright.yaml", "readme"];
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  return Array.from({ length: 20 }, () => {
    const parents = Array.from({ length: Math.floor(random() * 4) }, () => pick(names));
    return [...parents, pick(files)].join("/");
  });
}

function shuffled<T>(list: readonly T[], random: () => number): T[] {
  return list.map((each) => [random(), each] as const).sort(([a], [b]) => a - b)
    .map(([, each]) => each);
}

function baseOf(text = ""): DeploymentDocument {
  const [base] = parseDeployments(`auto_discovery: true\n${text}`, { file: "f", trusted: false });
  assert.ok(base);
  return base;
}

/** Expands one directory with an override. */
function expand(text: string, override?: string, path = "apps/shop") {
  const file = `${path}/.stackwright.yaml`;
  return expandDiscovery(baseOf(text), {
    directories: [override === undefined ? { path } : { path, override: file }],
    overrides: new Map(override === undefined ? [] : [[file, override]]),
    rootName: "repo",
  });
}

function only(text: string, override?: string, path?: string) {
  const { stacks, failures } = expand(text, override, path);
  assert.deepEqual(failures.map((each) => each.error.message), []);
  const [stack] = stacks;
  assert.ok(stack);
  return stack.declared;
}

describe("expandDiscovery()", () => {
  it("copies the base, with the directory and its name", () => {
    const { deployment } = only("name: base\nprofiles: [a]\nworking_dir: apps");
    assert.equal(deployment.name, "shop");
    assert.equal(deployment.workingDir, "apps/shop");
    assert.deepEqual(deployment.profiles, ["a"]);
    assert.equal(deployment.autoDiscovery.enabled, false);
  });

  it("calls a stack in the root as the base says, else as the repository", () => {
    assert.equal(only("name: base", undefined, ".").deployment.name, "base");
    assert.equal(only("", undefined, ".").deployment.name, "repo");
  });

  const merged: readonly (readonly [what: string, base: string, over: string, part: object])[] = [
    ["a false", "remove_orphans: true", "remove_orphans: false", { removeOrphans: false }],
    ["an empty list", "profiles: [a]", "profiles: []", { profiles: [] }],
    ["a null keeps the base", "timeout: 5m", "timeout: null", { timeoutSeconds: 300 }],
    ["a zero", "timeout: 5m\nretry: {limit: 3}", "retry: {limit: 0}", {
      retry: { limit: 0, delaySeconds: 0 },
    }],
    [
      "maps by name",
      "environment: {A: '1', B: '1'}",
      "environment: {B: '2', C: '2'}",
      { environment: { A: "1", B: "2", C: "2" } },
    ],
    [
      "a bare boolean sets enabled alone",
      "destroy: {remove_volumes: false}",
      "destroy: true",
      { destroy: { enabled: true, removeVolumes: false, removeImages: true } },
    ],
    ["its own name and directory", "", "name: other\nworking_dir: x", {
      name: "other",
      workingDir: "x",
    }],
  ];
  for (const [what, base, over, part] of merged) {
    it(`an override: ${what}`, () => {
      const { deployment } = only(base, over);
      for (const [key, value] of Object.entries(part)) {
        assert.deepEqual(deployment[key as keyof typeof deployment], value, key);
      }
    });
  }

  it("protected keys come from the base, with a warning for each", () => {
    const { stacks, warnings } = expand(
      "reference: main\ngit_depth: 3",
      "reference: dev\ngit_depth: 1\nrepository_url: https://h.example/o/r\n" +
        "auto_discovery: {depth: 9}\nsource: oci\n",
    );
    const { deployment, given } = stacks[0]?.declared ?? assert.fail();
    assert.equal(deployment.reference, "main");
    assert.equal(deployment.gitDepth, 3);
    assert.equal(deployment.repositoryUrl, "");
    assert.equal(deployment.source, "git");
    assert.equal(deployment.autoDiscovery.depth, 0);
    assert.equal(given.has("auto_discovery.depth"), false);
    assert.deepEqual(warnings.map(({ path, line }) => `${path}:${line}`).sort(), [
      "auto_discovery:4",
      "git_depth:2",
      "reference:1",
      "repository_url:3",
      "source:5",
    ]);
  });

  it("a directory that is called as the repository takes the name where doco-cd's file discovers it", () => {
    const directories = ["apps/repo", "apps/other", "."].map((path) => ({ path }));
    const names = (file: string, text = "name: prod") => {
      const [base] = parseDeployments(`${text}\nauto_discovery: true\n`, { file, trusted: false });
      const findings = { directories, overrides: new Map(), rootName: "repo" };
      return expandDiscovery(base ?? assert.fail(), findings).stacks.map(({ declared }) =>
        declared.deployment.name
      );
    };
    assert.deepEqual(names(".doco-cd.yaml"), ["prod", "other", "prod"]);
    assert.deepEqual(names(".stackwright.yaml"), ["repo", "other", "prod"]);
    assert.deepEqual(names(".doco-cd.yaml", ""), ["repo", "other", "repo"]);
  });

  it("an override in another repository neither destroys nor chooses the context", () => {
    const { stacks, warnings } = expandDiscovery(baseOf("context: nas"), {
      directories: [{ path: "a", override: "a/.stackwright.yaml" }],
      overrides: new Map([[
        "a/.stackwright.yaml",
        "context: other\ndestroy: {enabled: true, remove_volumes: true}\npause: true\n",
      ]]),
      rootName: "repo",
      isElsewhere: true,
    });
    const { deployment } = stacks[0]?.declared ?? assert.fail();
    assert.equal(deployment.context, "nas");
    assert.equal(deployment.destroy.enabled, false);
    assert.equal(deployment.pause, true);
    assert.deepEqual(warnings.map(({ path }) => path).sort(), ["context", "destroy"]);
  });

  it("an override in another repository names no files beside the configuration", () => {
    const { stacks, warnings } = expandDiscovery(baseOf("env_files: [base.env]"), {
      directories: [
        { path: "apps/a", override: "apps/a/.stackwright.yaml" },
        { path: "apps/b", override: "apps/b/.stackwright.yaml" },
      ],
      overrides: new Map([
        [
          "apps/a/.stackwright.yaml",
          "env_files: ['remote:a.env', secrets/prod.env]\nexternal_secrets_files: [s.yaml]\n",
        ],
        ["apps/b/.stackwright.yaml", "env_files: ['remote:b.env']\ntimeout: 5m\n"],
      ]),
      rootName: "repo",
      isElsewhere: true,
    });
    const [a, b] = stacks.map(({ declared }) => declared);
    assert.deepEqual(a?.deployment.envFiles, ["base.env"]);
    assert.deepEqual(a?.deployment.externalSecretsFiles, []);
    assert.equal(a?.given.has("external_secrets_files"), false);
    assert.deepEqual(b?.deployment.envFiles, ["remote:b.env"]);
    assert.equal(b?.deployment.timeoutSeconds, 300);
    assert.deepEqual(warnings.map(({ file, path, line }) => `${file}:${line} ${path}`), [
      "apps/a/.stackwright.yaml:1 env_files",
      "apps/a/.stackwright.yaml:2 external_secrets_files",
    ]);
  });

  const invalid: readonly (readonly [what: string, override: string, says: RegExp])[] = [
    ["an unknown key", "timeoot: 1m", /shop\/\.stackwright\.yaml:1:1: timeoot: unknown key/],
    ["two documents", "timeout: 1m\n---\ntimeout: 2m", /exactly one document/],
    ["no YAML", "a: [", /\.stackwright\.yaml:1/],
    ["a bad name", "name: Shop A", /\.stackwright\.yaml:1:7: name: .*write "shop-a"/],
    ["env files outside", "env_files: [../../../x.env]", /:1:13: env_files\[0\]: .*outside/],
    ["rules between fields", "reconciliation: {restart_window: 0s}", /restart_window/],
  ];
  for (const [what, override, says] of invalid) {
    it(`${what} costs the stack alone and has a position`, () => {
      const { stacks, failures } = expandDiscovery(baseOf(), {
        directories: [
          { path: "apps/shop", override: "apps/shop/.stackwright.yaml" },
          { path: "apps/other" },
        ],
        overrides: new Map([["apps/shop/.stackwright.yaml", override]]),
        rootName: "repo",
      });
      assert.deepEqual(stacks.map((each) => each.directory), ["apps/other"]);
      assert.equal(failures[0]?.name, "shop");
      assert.match(failures[0]?.error.message ?? "", says);
    });
  }

  it("an override that is a link costs the stack", () => {
    const { failures } = expandDiscovery(baseOf(), {
      directories: [{ path: "a", override: "a/.stackwright.yaml" }],
      overrides: new Map(),
      rootName: "repo",
    });
    assert.match(failures[0]?.error.message ?? "", /must be a file, not a link/);
  });

  it("leaves the base as it was", () => {
    const base = baseOf("environment: {A: '1'}");
    const before = JSON.stringify(base.deployment);
    const directories = [{ path: "a", override: "a/.stackwright.yaml" }];
    const overrides = new Map([["a/.stackwright.yaml", "environment: {A: '2'}\nprofiles: [x]"]]);
    const findings = { directories, overrides, rootName: "repo" };
    const first = expandDiscovery(base, findings);
    assert.equal(JSON.stringify(base.deployment), before);
    const declared = ({ stacks }: typeof first) => stacks.map((each) => each.declared);
    assert.deepEqual(declared(expandDiscovery(base, findings)), declared(first));
  });
});

describe("discoverDirectories() of very many files", () => {
  const listing = (count: number, path: (index: number) => string) =>
    new Map(Array.from({ length: count }, (_, index) => [path(index), { kind: "file" }]));
  const scope = { workingDir: ".", depth: 0 };
  const within = async (mostSeconds: number, work: () => void) =>
    assert.ok(await takesAtMost(mostSeconds * 1000, work));

  it("takes no longer the more names a compose file may have", () =>
    within(1, () => {
      const composeFiles = Array.from({ length: 1000 }, (_, index) => `c${index}.yaml`);
      const files = listing(100_000, (index) => `s${index}/file`);
      assert.deepEqual(discoverDirectories(files, { ...scope, composeFiles }), []);
    }));

  it("looks at no more of a path than at what is a part of a name", async () => {
    const names = Array.from({ length: 500 }, (_, index) => `${"d/".repeat(index)}x`);
    const deep = listing(16_000, (index) => `${"d/".repeat(1000)}f${index}`);
    await within(1, () => {
      assert.deepEqual(discoverDirectories(deep, { ...scope, composeFiles: names }), []);
    });
    const chains = listing(16_000, (index) => `p${index >> 6}/${"d/".repeat(500 + index % 64)}x`);
    for (const [depth, composeFiles] of [[0, names], [1, names], [1, names.slice(-1)]] as const) {
      await within(1, () => {
        assert.throws(() => discoverDirectories(chains, { ...scope, depth, composeFiles }), {
          code: "config_invalid",
        });
      });
    }
  });

  it("is refused where there are more stacks than anybody deploys", () =>
    within(1, () => {
      const deep = listing(50_000, (index) => `${"d/".repeat(80)}${index}/x`);
      const names = Array.from({ length: 80 }, (_, index) => `${"d/".repeat(index)}x`);
      const rules = { ...scope, composeFiles: ["x", ...names] };
      assert.throws(() => discoverDirectories(deep, rules), {
        code: "config_invalid",
        message: /^auto_discovery: too many files below \. have a name of compose_files/,
      });
    }));
});
