import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { livePaths, makeRelease, type ReleaseParts, treeUses } from "../../../src/compose/mod.ts";
import { COMPOSE_LABELS, LABELS } from "../../../src/model/mod.ts";

const revision = {
  source: { kind: "git", url: "https://h/acme/shop", name: "h/acme/shop" },
  reference: "refs/heads/main",
  id: "a".repeat(40),
} as const;

/** The parts of a release of one stack; what a test is about is changed. */
function parts(changed: Partial<ReleaseParts>): ReleaseParts {
  return {
    key: { context: "default", name: "shop" },
    revision,
    target: "",
    timeoutSeconds: 60,
    discovered: false,
    rendered: { name: "shop", services: { web: { image: "x" } } },
    invocation: { directory: "/t", files: [], envFiles: [], profiles: [], environment: {} },
    tree: "/t",
    stackDirectory: "/s",
    uses: [],
    inPlace: new Map(),
    live: livePaths([], new Set(), () => false),
    liveManifest: {},
    closure: { configuration: "", complete: true, paths: {} },
    foreignResources: new Set(),
    buildArguments: {},
    contentOf: () => "",
    digest: (text) => String(text.length),
    ...changed,
  } as ReleaseParts;
}

/** By the last one the tools of a swarm know what goes with a stack that is removed. */
const OURS = [
  ...Object.values(LABELS),
  "com.docker.stack.namespace",
  "com.docker.swarm.service.id",
];

describe("makeRelease()", () => {
  it("builds a service anew for what the builds are made from that its own takes, also in a circle", () => {
    const build = (name: string, base?: string) => ({
      build: {
        context: `/t/${name}`,
        dockerfile_inline: "FROM a",
        ...(base === undefined ? {} : { additional_contexts: { base } }),
      },
    });
    const rendered = {
      name: "shop",
      services: {
        "a.b": build("a", "service:c"),
        c: build("c"),
        d: build("d", "target:a_b"),
        e: build("e", "service:f"),
        f: build("f", "service:e"),
        g: { image: "x" },
      },
    };
    const uses = treeUses(rendered, "/t");
    const digests = (changed: string) => {
      const { services } = makeRelease(parts({
        ...{ rendered, uses, digest: (text) => text },
        inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
        contentOf: (path) => path === changed ? "new" : "old",
      }));
      return new Map(services.map(({ name, digest }) => [name, digest]));
    };
    const before = digests("");
    const others = (changed: string) =>
      [...digests(changed)].filter(([name, digest]) => digest !== before.get(name))
        .map(([name]) => name).join(" ");
    assert.deepEqual(["a", "c", "d", "e", "f"].map(others), [
      "a.b d",
      "a.b c d",
      "d",
      "e f",
      "e f",
    ]);
  });

  describe("the image of another service's build", () => {
    const X = { image: "app:1", build: { context: "/t/x", tags: ["app:tag"] } };
    const hook = { pre_start: [{ image: "app:1", command: ["true"] }] };
    const mount = { volumes: [{ type: "image", source: "app:1", target: "/m" }] };
    const PART = "image:x:app:1";
    /** A service, with that part of its digest which is of the build of `x`. */
    const rows: readonly (readonly [
      title: string,
      service: Readonly<Record<string, unknown>>,
      part: string | undefined,
      builds: boolean,
      x?: unknown,
    ])[] = [
      ["its own", { image: "app:1" }, PART, true],
      ["its own, never pulled", { image: "app:1", pull_policy: "never" }, PART, true],
      ["its own, by another spelling", { image: "docker.io/library/app:1" }, "", true],
      ["its own, by a further tag", { image: "app:tag" }, "image:x:app:tag", true],
      ["its own, by the default name", { image: "shop-x" }, "", true, {
        build: { context: "/t/x" },
      }],
      ["a hook's", { image: "other", ...hook }, PART, false],
      ["one that is mounted", { image: "other", ...mount }, PART, false],
      ["a hook's, of a service with a build", { build: { context: "/t/y" }, ...hook }, PART, true],
      ["one of another tag", { image: "app:2" }, undefined, false],
      ["one that nobody builds", { image: "app:1" }, undefined, false, { image: "app:1" }],
      ["its own build's", { image: "app:1", build: { context: "/t/y" } }, undefined, true],
      ["its own build's, in a hook", { ...X, ...hook }, undefined, true],
    ];
    const made = (y: unknown, x: unknown, more: Partial<ReleaseParts> = {}) => {
      const rendered = { name: "shop", services: { x, y } };
      const { services } = makeRelease(parts({
        ...{ rendered, uses: treeUses(rendered, "/t"), digest: (text) => text },
        inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
        contentOf: () => "old",
        ...more,
      }));
      const [, service] = services;
      assert.equal(service?.name, "y");
      return service;
    };
    for (const [title, y, wanted, builds, x = X] of rows) {
      it(`is ${wanted === undefined ? "no " : ""}input of a service: ${title}`, () => {
        const before = made(y, x);
        const found = Object.keys(before.inputs).filter((each) => each.startsWith("image:"));
        const part = wanted === "" ? `image:x:${before.image}` : wanted;
        assert.deepEqual(found, part === undefined ? [] : [part]);
        assert.equal(before.builds, builds);
        const differs = (one: Partial<ReleaseParts>, other: unknown = x) =>
          made(y, other, one).digest !== before.digest;
        const changed = { contentOf: (path: string) => path === "x" ? "new" : "old" };
        assert.equal(differs(changed), part !== undefined || y === rows.at(-1)?.[1]);
        if (part === undefined || title.includes("service with a build")) return;
        assert.ok(differs({ buildArguments: { WORD: "1" } }), "build.args");
        const { build } = x as typeof X;
        assert.ok(differs({}, { ...x as typeof X, platform: "linux/arm64" }), "platform");
        assert.ok(differs({}, { ...x as typeof X, build: { ...build, target: "t" } }), "build");
        assert.ok(!differs({}, { ...x as typeof X, command: ["other"] }), "what is no input");
      });
    }

    it("is none in a swarm, where nothing is built", () => {
      const swarm = {};
      const { inputs, builds } = made({ image: "app:1", ...hook }, X, { swarm });
      assert.deepEqual([Object.keys(inputs), builds], [["definition"], false]);
    });

    it("is one input of hundreds, which hundreds build", () => {
      const names = Array.from({ length: 300 }, (_, index) => `s${index}`);
      const services = Object.fromEntries(names.flatMap((name) => [
        [name, { image: "app", build: { context: `/t/${name}` } }],
        [`${name}-user`, { image: "app" }],
      ]));
      const rendered = { name: "shop", services };
      let digested = 0;
      const digest = (text: string) => String(digested += text.length);
      const release = makeRelease(parts({
        ...{ rendered, uses: treeUses(rendered, "/t"), digest },
        inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
      }));
      assert.equal(
        Object.keys(release.services[1]?.inputs ?? {}).join(),
        "definition,image:s0:app",
      );
      assert.ok(digested < 1e6, `${digested} characters were digested`);
    });
  });

  describe("a secret of a build", () => {
    const build = { context: "/t/x", secrets: [{ source: "tok", target: "t" }] };
    const made = (
      secrets: Readonly<Record<string, unknown>>,
      { environment = {}, of = "", ...more }: {
        environment?: Readonly<Record<string, string>>;
        of?: string;
      } & Partial<ReleaseParts> = {},
    ) => {
      const services = {
        x: { image: "app", build },
        y: { image: "app" },
        z: { build: { context: "/t/z", additional_contexts: { base: "service:x" } } },
      };
      const rendered = { name: "shop", services, secrets };
      return makeRelease(parts({
        ...{
          rendered,
          uses: treeUses(rendered, "/t"),
          digest: (text) => `<${text.length}>${text}`,
        },
        inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
        invocation: {
          directory: "/t",
          files: [],
          envFiles: [],
          profiles: [],
          environment,
        } as never,
        closure: { configuration: of, complete: true, paths: {} },
        ...more,
      })).services;
    };
    const OF_TOK = { tok: { environment: "TOK" } };
    const TOK = { environment: { TOK: "one", OTHER: "one" } };
    const changes: readonly (readonly [
      title: string,
      before: ReturnType<typeof made>,
      after: ReturnType<typeof made>,
      changed?: string,
    ])[] = [
      ["its value", made(OF_TOK, TOK), made(OF_TOK, { environment: { TOK: "two", OTHER: "one" } })],
      ["its variable", made(OF_TOK, TOK), made({ tok: { environment: "OTHER" } }, TOK)],
      ["a dotenv file", made(OF_TOK, { of: "1" }), made(OF_TOK, { of: "2" })],
      ["its variable of a dotenv file", made(OF_TOK), made({ tok: { environment: "OTHER" } })],
      ["where it comes from", made({ tok: { file: "/t/f" } }), made(OF_TOK, TOK)],
      ["its file", made({ tok: { file: "/t/f" } }), made({ tok: { file: "/t/g" } })],
      [
        "another variable",
        made(OF_TOK, TOK),
        made(OF_TOK, { environment: { TOK: "one", OTHER: "two" } }),
        "",
      ],
      [
        "all variables, of a secret from a file",
        made({ tok: { file: "/t/f" } }, { of: "1" }),
        made({ tok: { file: "/t/f" } }, { of: "2" }),
        "",
      ],
      [
        "a secret that no build takes",
        made(OF_TOK, TOK),
        made({ ...OF_TOK, no: { environment: "OTHER" } }, TOK),
        "",
      ],
    ];
    for (const [title, before, after, changed = "x y z"] of changes) {
      it(`builds ${changed === "" ? "nothing" : "all that is of it"} for ${title}`, () =>
        assert.equal(
          before.filter(({ digest }, index) => digest !== after[index]?.digest)
            .map(({ name }) => name).join(" "),
          changed,
        ));
    }

    it("is named in the parts of a digest, which of one from a file are as they were", () => {
      const keys = (services: ReturnType<typeof made>) =>
        Object.keys(services[0]?.inputs ?? {}).filter((each) => !/^build:x\//.test(each)).sort()
          .join(" ");
      assert.equal(keys(made(OF_TOK, TOK)), "build:x build_secrets definition variable:TOK");
      assert.equal(keys(made(OF_TOK)), "build:x build_secrets definition variables");
      assert.equal(keys(made({ tok: { file: "/t/f" } })), "build:f build:x definition");
    });

    it("is no input in a swarm", () =>
      assert.equal(
        Object.keys(made(OF_TOK, { ...TOK, swarm: {} })[0]?.inputs ?? {})
          .filter((each) => !each.startsWith("build:")).join(),
        "definition",
      ));
  });

  it("serves files with a dollar sign in their names, of which compose prints two", () => {
    const mounts = ["a$$b", "w$$/x"].map((name) => (
      { type: "bind", source: `/t/${name}`, target: `/${name}`, read_only: name === "a$$b" }
    ));
    const rendered = { name: "shop", services: { web: { image: "x", volumes: mounts } } };
    const uses = treeUses(rendered, "/t");
    assert.deepEqual(uses.map(({ path }) => path), ["a$b", "w$/x"]);
    const live = livePaths(uses, new Set(), () => true);
    const { model } = makeRelease(
      parts({
        rendered,
        uses,
        live,
        inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
      }),
    );
    const { web } = model.services as Record<string, { volumes: { source: string }[] }>;
    assert.deepEqual(web?.volumes.map(({ source }) => source), [
      "/s/current/a$$b",
      "/s/live/w$$/x",
    ]);
  });

  it("says all that it adds as compose prints it: a dollar of ours names no variable", () => {
    const [tree, stackDirectory] = ["/d$x/t", "/d$x/s"];
    const file = "/d$$x/t/a$$b";
    const rendered = {
      name: "shop",
      services: {
        web: {
          image: "x",
          build: { context: file, dockerfile_inline: "FROM x" },
          volumes: [{ type: "bind", source: file, target: "/x", read_only: true }],
        },
      },
      secrets: { s: { file } },
      volumes: { v: { driver_opts: { device: file } } },
    };
    const uses = treeUses(rendered, tree);
    assert.deepEqual(uses.map(({ kind, path }) => [kind, path]), [
      ["bind", "a$b"],
      ["build", "a$b"],
    ]);
    const source = { kind: "git", url: "file:///e${NOPE:-}", name: "local/e${NOPE:-}" } as const;
    const { model } = makeRelease(parts({
      ...{ rendered, uses, tree, stackDirectory, revision: { ...revision, source } },
      live: livePaths(uses, new Set(), () => true),
      inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
    }));
    const { services, secrets, volumes } = model as Record<string, Record<string, unknown>>;
    const web = services?.["web"] as typeof rendered.services.web & { labels: unknown };
    assert.equal(web.volumes[0]?.source, "/d$$x/s/current/a$$b");
    assert.equal(web.build.context, "/d$$x/s/current/a$$b");
    assert.deepEqual(secrets?.["s"], { file: "/d$$x/s/current/a$$b" });
    assert.match(JSON.stringify(volumes), /"device":"\/d\$\$x\/s\/live\/a\$\$b"/);
    for (const each of [web, volumes?.["v"]]) {
      const { labels } = each as { labels: Record<string, string> };
      assert.equal(labels[LABELS.sourceName], "local/e$${NOPE:-}");
    }
    assert.equal(
      (web.labels as Record<string, string>)[LABELS.sourceConfiguration],
      "local/e$${NOPE:-}",
    );
  });

  it("labels objects as ours, whatever labels of ours an author wrote", () => {
    const forged = Object.fromEntries(OURS.map((name) => [name, "forged"]));
    const labels = { ...forged, "stackwright.deployment.autostart": "true", mine: "1" };
    const { model } = makeRelease(parts({
      rendered: {
        name: "shop",
        services: { web: { image: "x", labels } },
        networks: { default: { name: "shop_default", labels }, other: { name: "other", labels } },
        volumes: { data: { name: "shop_data", labels } },
      },
      foreignResources: new Set(["other"]),
    }));
    const text = JSON.stringify(model);
    assert.ok(!text.includes("forged"), text);
    const { web } = model.services as Record<string, { labels: Record<string, string> }>;
    assert.equal(web?.labels[LABELS.sourceName], "h/acme/shop");
    // Also where it is the same: a label that is not given would be that of the image.
    assert.equal(web?.labels[LABELS.sourceConfiguration], "h/acme/shop");
    assert.equal(web?.labels["com.docker.swarm.service.id"], "");
    assert.equal(web?.labels["mine"], "1");
    assert.equal(web?.labels["stackwright.deployment.autostart"], "true");
  });

  it("leaves no label of an owner to volumes that mounts make, or to services of a swarm", () => {
    const owners = [...OURS, ...Object.values(COMPOSE_LABELS)];
    const labels = { ...Object.fromEntries(owners.map((name) => [name, "forged"])), mine: "1" };
    const volumes = [
      { type: "volume", target: "/a", volume: { labels, nocopy: true } },
      { type: "volume", source: "data", target: "/b", volume: {} },
    ];
    const ours = Object.fromEntries(OURS.map((name) => [name, "forged"]));
    const deploy = { replicas: 2, labels: { ...ours, mine: "2" }, endpoint_mode: "vip" };
    const { model } = makeRelease(parts({
      rendered: { name: "shop", services: { web: { image: "x", volumes, deploy } } },
    }));
    const { web } = model.services as Record<string, Record<string, unknown>>;
    assert.deepEqual(web?.["volumes"], [
      { type: "volume", target: "/a", volume: { labels: { mine: "1" }, nocopy: true } },
      { type: "volume", source: "data", target: "/b", volume: {} },
    ]);
    assert.deepEqual(web?.["deploy"], { labels: { mine: "2" }, endpoint_mode: "vip" });
  });

  it("names the source of the configuration where that is another", () => {
    const source = { kind: "git", url: "https://h/ops", name: "h/ops" } as const;
    const { model } = makeRelease(parts({ configuration: { ...revision, source } }));
    assert.match(JSON.stringify(model), /"stackwright\.source\.configuration":"h\/ops"/);
  });
});
