import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  buildArguments,
  programEnvironment,
  readiness,
  renderVariables,
} from "../../../src/deploy/mod.ts";
import {
  expectationOf,
  ignoredUses,
  livePaths,
  rewriteModel,
  treeUses,
  withBuildArguments,
  withOwnCaches,
} from "../../../src/compose/mod.ts";
import { configArguments, upArguments } from "../../../src/deploy/compose/command.ts";
import { dependenciesOf, followsOf, inOrder } from "../../../src/compose/follows.ts";
import { releaseServices } from "../../../src/compose/service_digest.ts";
import { isStackwrightError, type ReleaseService } from "../../../src/model/mod.ts";

const TREE = "/data/trees/abc";
const PROJECT = {
  name: "shop",
  directory: "/dir",
  files: ["-"],
  envFiles: ["/t/.env"],
  profiles: ["p"],
};
const COMMON =
  "compose --ansi never --progress plain --project-name shop --project-directory /dir " +
  "--file -";
/** What is rendered already needs no variables and no profiles. */
const ACT = `${COMMON} --env-file /dev/null`;

/** A model as compose renders it, with one service of each kind of mount. */
function model(web: Record<string, unknown> = {}) {
  return {
    name: "shop",
    services: {
      web: {
        image: "app",
        volumes: [
          { type: "bind", source: `${TREE}/site`, target: "/site", read_only: true, bind: {} },
          {
            type: "bind",
            source: `${TREE}/data`,
            target: "/data",
            bind: { create_host_path: true },
          },
          { type: "bind", source: "/etc/localtime", target: "/etc/localtime", read_only: true },
        ],
        configs: [{ source: "main" }],
        ...web,
      },
    },
    configs: { main: { name: "shop_main", file: `${TREE}/main.conf` } },
  };
}

describe("compose arguments", () => {
  it("config, up and build are these command lines", () => {
    const words = (args: readonly string[]) => args.join(" ");
    assert.equal(
      words(configArguments(PROJECT)),
      `${COMMON} --env-file /t/.env --profile p config --format json`,
    );
    assert.equal(
      words(upArguments(PROJECT, { mode: "replace", scale: { web: 2 }, noStart: false })),
      `${ACT} up --detach --no-deps --no-build --pull never --force-recreate --scale web=2 web`,
    );
    assert.equal(
      words(upArguments(PROJECT, { mode: "complete", scale: { a: 1, b: 0 }, noStart: true })),
      `${ACT} up --no-start --no-deps --no-build --pull never --no-recreate ` +
        `--scale a=1 --scale b=0 a b`,
    );
    const build = { services: ["a"], pull: true, noCache: true, quiet: true };
    assert.equal(
      words(buildArguments(PROJECT, build)),
      `${ACT} build --pull --no-cache --quiet a`,
    );
  });
});

describe("withBuildArguments()", () => {
  it("puts arguments over those of each build, and leaves the rest alone", () => {
    const model = {
      services: {
        a: { build: { context: "/c", args: { A: "1", B: null } } },
        b: { build: { context: "/c", args: ["A=1=2", "C"] } },
        c: { image: "x" },
      },
    };
    assert.deepEqual(withBuildArguments(model, { A: "a$b", D: "" }), {
      services: {
        a: { build: { context: "/c", args: { A: "a$$b", B: null, D: "" } } },
        b: { build: { context: "/c", args: { A: "a$$b", C: null, D: "" } } },
        c: { image: "x" },
      },
    });
  });
});

describe("withOwnCaches()", () => {
  it("names the caches of each build, also where it gives them a name itself", () => {
    const name = (own: string) => ({ BUILDKIT_CACHE_MOUNT_NS: `ours:${own}` });
    const model = {
      services: {
        a: { build: { context: "/c", args: { A: "1" } } },
        b: { build: { context: "/c", args: ["BUILDKIT_CACHE_MOUNT_NS=x", "C"] } },
        c: { build: { context: "/c", args: { BUILDKIT_CACHE_MOUNT_NS: null } } },
        d: { image: "x" },
      },
    };
    assert.deepEqual(withOwnCaches(model, (own) => `ours:${own}`), {
      services: {
        a: { build: { context: "/c", args: { A: "1", ...name("") } } },
        b: { build: { context: "/c", args: { C: null, ...name("x") } } },
        c: { build: { context: "/c", args: name("") } },
        d: { image: "x" },
      },
    });
  });
});

describe("renderVariables()", () => {
  for (const name of ["PATH", "LD_PRELOAD", "DOCKER_HOST", "COMPOSE_FILE", "HOME"]) {
    it(`refuses ${name}, which steers the program`, () => {
      assert.throws(
        () => renderVariables({}, { [name]: "x" }),
        (error) => isStackwrightError(error, "config_invalid") && error.message.includes(name),
      );
    });
  }

  it("passes what a compose file may interpolate, and never our settings", () => {
    const program = programEnvironment({
      PATH: "/bin",
      API_SECRET: "s",
      HTTP_PROXY: "http://u:p@x",
    });
    const plugin = { DOCKER_CLI_PLUGIN_ORIGINAL_CLI_COMMAND: "docker" };
    assert.deepEqual(program, { PATH: "/bin", ...plugin });
    assert.deepEqual(renderVariables(program, { DATA: "/srv" }), {
      environment: {
        PATH: "/bin",
        DATA: "/srv",
        ...plugin,
        COMPOSE_EXPERIMENTAL_GIT_REMOTE: "false",
        COMPOSE_EXPERIMENTAL_OCI_REMOTE: "false",
        PWD: "",
      },
      byFile: {},
    });
  });

  it("gives a program nothing that is too long for it, alone or taken together", () => {
    const long = "x".repeat(140_000);
    const one = renderVariables({}, { LONG: long, SHORT: "1" });
    assert.deepEqual(one.byFile, { LONG: long });
    assert.equal(one.environment["SHORT"], "1");
    const many = Object.fromEntries(
      Array.from({ length: 14 }, (_, index) => [`V${index}`, "x".repeat(10_000)]),
    );
    assert.deepEqual(renderVariables({}, many).byFile, many);
    // The kernel counts more of each than its name and its value.
    const short = Object.fromEntries(Array.from({ length: 12_000 }, (_, at) => [`V${at}`, ""]));
    assert.deepEqual(renderVariables({}, short).byFile, short);
  });

  it("starts no program with what a library, a helper or a shell obeys", () => {
    const names = [
      ...["AWS_CONFIG_FILE", "AWS_REGION", "BASH_ENV", "ENV", "SHELLOPTS", "PS4", "IFS", "CDPATH"],
      ...["http_proxy", "HTTPS_PROXY", "NO_PROXY", "GOFLAGS", "GODEBUGX", "GLIBC_TUNABLES", "TZ"],
      ...["GCONV_PATH", "PYTHONPATH", "PERL5OPT", "NODE_OPTIONS", "OTEL_EXPORTER_OTLP_ENDPOINT"],
      ...["DOCKER_DEFAULT_PLATFORM", "KUBECONFIG", "GIT_SSH_COMMAND", "ZDOTDIR", "LC_ALL"],
      ...["MIMALLOC_MAX_VABITS", "MALLOC_ARENA_MAX", "MallocStackLogging", "DYLD_INSERT_LIBRARIES"],
      ...["JavaScriptCoreUseJIT", "BUN_OPTIONS", "DENO_DIR", "NODE_PATH", "UV_THREADPOOL_SIZE"],
    ];
    const variables = Object.fromEntries(names.map((name) => [name, "x"]));
    const { environment, byFile } = renderVariables({}, { ...variables, WORD: "1" });
    assert.deepEqual(Object.keys(byFile), names);
    assert.deepEqual(Object.keys(environment).filter((name) => !/^COMPOSE_EXP/.test(name)), [
      "WORD",
      "PWD",
    ]);
  });

  it("tells the program which PWD it has, so that it takes none for it", () => {
    const pwd = (variables: Readonly<Record<string, string>>) => {
      const { environment, byFile } = renderVariables({}, variables);
      assert.equal(byFile["PWD"], undefined);
      return environment["PWD"];
    };
    assert.equal(pwd({}), "");
    assert.equal(pwd({ PWD: "own" }), "own");
    assert.equal(pwd({ PWD: "own", LONG: "x".repeat(140_000) }), "own");
  });

  it("refuses a PWD that Go may take for its working directory, and shows none of it", () => {
    for (const PWD of ["/proc/self/cwd", "/", "//proc/thread-self/cwd", "/own place"]) {
      assert.throws(
        () => renderVariables({}, { PWD }),
        (error) =>
          isStackwrightError(error, "config_invalid") && !error.message.includes(PWD) &&
          /^PWD .* is an absolute path/.test(error.message),
      );
    }
    // Go takes no others.
    for (const PWD of ["", ".", "proc/self/cwd", " /proc/self/cwd", "./../x"]) {
      assert.equal(renderVariables({}, { PWD }).environment["PWD"], PWD);
    }
  });
});

describe("treeUses(), livePaths(), rewriteModel()", () => {
  it("lead reads through current, writes through live, and leave the host alone", () => {
    const uses = treeUses(model(), TREE);
    assert.deepEqual(uses.map(({ kind, path, writable }) => [kind, path, writable]), [
      ["bind", "site", false],
      ["bind", "data", true],
      ["config", "main.conf", false],
    ]);
    const live = livePaths(uses, new Set(), (path) => path !== "data");
    assert.deepEqual([live.tracked, live.untracked], [[], ["data"]]);
    const rewritten = rewriteModel(model(), {
      tree: TREE,
      stackDirectory: "/data/releases/default/shop",
      placeOf: live.placeOf,
    }) as ReturnType<typeof model>;
    assert.deepEqual(rewritten.services.web.volumes.map((each) => each.source), [
      "/data/releases/default/shop/current/site",
      "/data/releases/default/shop/live/data",
      "/etc/localtime",
    ]);
    assert.equal(rewritten.configs.main.file, "/data/releases/default/shop/current/main.conf");
  });

  it("name each place of a Dockerfile of a build's context, and what is read beside it: links may lead out", () => {
    const built = (build: object) =>
      treeUses({ services: { web: { build } } }, "/t").map(({ path, required, within }) =>
        `${path}${required ? "!" : ""}${within === undefined ? "" : ` within ${within}`}`
      );
    const all = (name: string, more = " within app") =>
      ["", ".dockerignore", ".rego"].map((ending) => `${name}${ending}${more}`);
    assert.deepEqual(built({ context: "/t/app" }), [
      ...["app!", ...all("app/Dockerfile"), ...all("app/dockerfile")],
    ]);
    assert.deepEqual(built({ context: "/t/app", dockerfile: "df/web" }), [
      ...["app!", ...all("app/df/web")],
    ]);
    assert.deepEqual(built({ context: "/t/app", dockerfile: "../web" }), [
      ...["app!", "web!", "web.dockerignore", "web.rego within app"],
    ]);
    assert.deepEqual(built({ context: "/t/app", dockerfile_inline: "FROM a" }), ["app!"]);
  });

  it("lead named volumes through live, whoever mounts them how: others may mount them to write", () => {
    const volume = (source: string) => ({
      type: "volume",
      source,
      target: `/${source}`,
      read_only: true,
    });
    const at = (path: string) => ({ driver_opts: { o: "bind", device: `${TREE}/${path}` } });
    const rendered = {
      ...model({ volumes: [volume("seen"), volume("same")] }),
      volumes: {
        seen: { name: "one", ...at("site") },
        same: { name: "one" },
        unused: { name: "two", ...at("main.conf") },
      },
    };
    const live = livePaths(treeUses(rendered, TREE), new Set(), () => true);
    const rewritten = rewriteModel(rendered, {
      tree: TREE,
      stackDirectory: "/s",
      placeOf: live.placeOf,
    }) as typeof rendered;
    const { seen, unused } = rewritten.volumes;
    assert.equal(seen.driver_opts.device, "/s/live/site");
    assert.equal(unused.driver_opts.device, "/s/live/main.conf");
    assert.equal(rewritten.configs.main.file, "/s/current/main.conf");
  });

  it("all containers see the same bytes where one may write: overlapping paths are live", () => {
    const use = (path: string, writable: boolean) => ({
      service: "a",
      kind: "bind" as const,
      item: "",
      path,
      writable,
      required: false,
    });
    const table: readonly [string, string, boolean][] = [
      ["data", "data", true],
      ["data", "data/sub", true],
      ["data/sub", "data", true],
      ["data", "data2", false],
      [".", "anything", true],
    ];
    for (const [written, read, expected] of table) {
      const live = livePaths([use(written, true), use(read, false)], new Set(), () => true);
      assert.equal(live.isLive(read), expected, `${read} beside a writable ${written}`);
    }
  });

  it("replicas, develop and an empty deploy are no part of a service", () => {
    const plain = rewriteModel(model(), {
      tree: TREE,
      stackDirectory: "/s",
      placeOf: (path) => `current/${path}`,
    });
    const scaled = rewriteModel(
      model({
        scale: 3,
        deploy: { replicas: 3, resources: {}, placement: {} },
        develop: { watch: [] },
      }),
      { tree: TREE, stackDirectory: "/s", placeOf: (path) => `current/${path}` },
    );
    assert.deepEqual(scaled, plain);
  });
});

describe("releaseServices()", () => {
  const digestsOf = (rendered: ReturnType<typeof model>, contents: Record<string, string> = {}) => {
    const services = releaseServices({
      rendered,
      model: rewriteModel(rendered, {
        tree: TREE,
        stackDirectory: "/s",
        placeOf: (path) => `current/${path}`,
      }),
      uses: treeUses(rendered, TREE),
      inPlace: ignoredUses(rendered, treeUses(rendered, TREE)),
      contentOf: (path) => contents[path] ?? "same",
      variables: "",
      environment: {},
      buildArguments: "",
      buildsImages: true,
      digest: (text) => `<${text}>`,
    });
    return Object.fromEntries(services.map((each) => [each.name, each.digest]));
  };
  const base = digestsOf(model());
  const changing: readonly [string, Record<string, string>][] = [
    ["an environment value", digestsOf(model({ environment: { A: "2" } }))],
    ["the content of a mounted directory", digestsOf(model(), { site: "other" })],
    ["the content of a config", digestsOf(model(), { "main.conf": "other" })],
    [
      "the definition of a config",
      digestsOf({ ...model(), configs: { main: { name: "x", file: "" } } }),
    ],
  ];
  for (const [what, digests] of changing) {
    it(`changes with ${what}`, () => assert.notEqual(digests["web"], base["web"]));
  }
  describe("of a service that is built", () => {
    const built = (build: Record<string, unknown>) =>
      ({ ...model(), services: { web: { build } } }) as unknown as ReturnType<typeof model>;
    const context = `${TREE}/app`;
    const changes = (build: Record<string, unknown>, path: string) =>
      digestsOf(built(build), { [path]: "other" })["web"] !== digestsOf(built(build))["web"];

    it("changes with a Dockerfile outside of the context, however it is written", () => {
      const dockerfiles = ["../docker/app.Dockerfile", `${TREE}/docker/app.Dockerfile`];
      for (const dockerfile of dockerfiles) {
        const build = { context, dockerfile };
        assert.ok(changes(build, "docker/app.Dockerfile"), dockerfile);
        assert.ok(changes(build, "docker/app.Dockerfile.dockerignore"), dockerfile);
        assert.ok(changes(build, "app"), dockerfile);
      }
      assert.ok(changes({ context: "https://host/a.git", dockerfile: `${TREE}/d` }, "d"));
    });
    it("has its Dockerfile in the context otherwise, or somewhere else altogether", () => {
      const uses = (build: Record<string, unknown>) =>
        treeUses(built(build), TREE).filter((each) => each.within === undefined)
          .map((each) => each.path);
      assert.deepEqual(uses({ context, dockerfile: "docker/Dockerfile" }), ["app"]);
      assert.deepEqual(uses({ context, dockerfile: `${context}/Dockerfile` }), ["app"]);
      assert.deepEqual(uses({ context: TREE, dockerfile: "docker/Dockerfile" }), ["."]);
      assert.deepEqual(uses({ context: "https://host/a.git", dockerfile: "../Dockerfile" }), []);
      assert.deepEqual(uses({ context, dockerfile: "../../elsewhere/Dockerfile" }), ["app"]);
    });
    it("needs the Dockerfile to exist, not its list of what to ignore", () => {
      const rendered = built({ context, dockerfile: "../app.Dockerfile" });
      assert.deepEqual(treeUses(rendered, TREE).map((each) => [each.path, each.required]), [
        ["app", true],
        ["app.Dockerfile", true],
        ["app.Dockerfile.dockerignore", false],
        ["app.Dockerfile.rego", false],
      ]);
    });
  });
  it("does not change with the number of replicas, the order of keys, or a file nobody mounts", () => {
    assert.deepEqual(digestsOf(model({ deploy: { replicas: 5 } })), base);
    const { image, ...rest } = model().services.web;
    assert.deepEqual(digestsOf({ ...model(), services: { web: { ...rest, image } } }), base);
    assert.deepEqual(digestsOf(model(), { "other.txt": "other" }), base);
  });
  describe("with recreate.ignore", () => {
    const labels = (ignore: string, signal?: string) => ({
      labels: {
        "stackwright.deployment.recreate.ignore": ignore,
        ...(signal === undefined ? {} : {
          "stackwright.deployment.recreate.ignore.signal": signal,
        }),
      },
    });
    const ignoring = model(labels("{configs: [main], bindMounts: [/site]}", "SIGHUP"));
    const made = (contents: Record<string, string>) => {
      const uses = treeUses(ignoring, TREE);
      const inPlace = ignoredUses(ignoring, uses);
      const live = livePaths(uses, inPlace.uses, () => true);
      const services = releaseServices({
        rendered: ignoring,
        model: rewriteModel(ignoring, { tree: TREE, stackDirectory: "/s", placeOf: live.placeOf }),
        uses,
        inPlace,
        contentOf: (path) => contents[path] ?? "same",
        variables: "",
        environment: {},
        buildArguments: "",
        buildsImages: true,
        digest: (text) => `<${text}>`,
      });
      return { live, service: services[0] };
    };

    it("keeps the digest, tells what is there, and serves it from live", () => {
      const before = made({});
      const after = made({ site: "other", "main.conf": "other" });
      assert.equal(after.service?.digest, before.service?.digest);
      assert.deepEqual(after.service?.inPlace, {
        files: { site: "other", "main.conf": "other" },
        signal: "SIGHUP",
      });
      assert.deepEqual(["site", "data", "main.conf"].map(after.live.isLive), [true, true, true]);
      assert.notEqual(made({ data: "other" }).service?.digest, before.service?.digest);
    });
    it("changes the digest once when the label comes or goes", () => {
      assert.notEqual(made({}).service?.digest, base["web"]);
    });
    for (const wrong of ["configs: [mian]", "bindMounts: [/etc/localtime]", "secrets: [main]"]) {
      it(`refuses ${wrong}, which is nothing the service mounts from the repository`, () => {
        const rendered = model(labels(wrong));
        assert.throws(
          () => ignoredUses(rendered, treeUses(rendered, TREE)),
          (error) =>
            isStackwrightError(error, "config_invalid") &&
            /^service web: label/.test(error.message),
        );
      });
    }
    const old = (ignore: string) =>
      model({ labels: { "cd.doco.deployment.recreate.ignore": ignore } });
    const items = (rendered: ReturnType<typeof model>) => {
      const found = ignoredUses(rendered, treeUses(rendered, TREE));
      return { items: [...found.uses].map(({ item }) => item), warnings: found.warnings };
    };
    for (
      const [what, ignore, wrong] of [
        ["a config that is no file", "configs: [inline, main]", "configs inline"],
        ["a secret that is no file", "{configs: [main], secrets: [env]}", "secrets env"],
        ["a path of the host", "{configs: [main], bindMounts: [/etc/localtime]}", "/etc/localtime"],
        ["what it does not mount", "configs: [main, other]", "configs other"],
        ["what is above a mount", "{configs: [main], bindMounts: [/]}", "bindMounts / is"],
      ] as const
    ) {
      it(`takes ${what} under doco-cd's label, without effect and with a warning`, () => {
        const found = items(old(ignore));
        assert.deepEqual(found.items, ["main"]);
        assert.equal(found.warnings.length, 1);
        assert.match(found.warnings[0] ?? "", /^service web: label cd\.doco\.deployment\.recreate/);
        assert.ok(found.warnings[0]?.includes(wrong), found.warnings[0]);
      });
    }
    it("knows a mount with and without a slash at its end, and doco-cd's idle scope", () => {
      assert.deepEqual(items(old("bindMounts: [/site/]")), { items: ["/site"], warnings: [] });
      assert.deepEqual(items(model(labels("bindMounts: [/site//]"))).items, ["/site"]);
      assert.deepEqual(items(old("volumes: [data]")), { items: [], warnings: [] });
    });
    it("names the label that is there when it cannot be read", () => {
      for (const prefix of ["cd.doco", "stackwright"]) {
        const rendered = model({ labels: { [`${prefix}.deployment.recreate.ignore`]: "x: []" } });
        assert.throws(
          () => items(rendered),
          ({ message }) => message.includes(`label ${prefix}.deployment.recreate.ignore: "x"`),
        );
      }
    });
  });
  it("changes exactly the services that take the changed variable as a secret", () => {
    const services = {
      one: { image: "app", secrets: [{ source: "first" }] },
      two: { image: "app", secrets: [{ source: "second" }], configs: [{ source: "third" }] },
      other: { image: "app", secrets: [{ source: "elsewhere" }] },
      none: { image: "app" },
    };
    const rendered = {
      ...model(),
      services,
      configs: { third: { environment: "THIRD" } },
      secrets: {
        first: { environment: "FIRST" },
        second: { environment: "SECOND" },
        elsewhere: { environment: "FROM_A_FILE" },
      },
    } as unknown as ReturnType<typeof model>;
    const made = (environment: Record<string, string>, variables = "v") =>
      Object.fromEntries(
        releaseServices({
          rendered,
          model: rendered,
          uses: [],
          inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
          contentOf: () => "same",
          variables,
          environment,
          buildArguments: "",
          buildsImages: true,
          digest: (text) => `<${text}>`,
        }).map((each) => [each.name, each.digest]),
      );
    const base = { FIRST: "1", SECOND: "2", THIRD: "3" };
    const before = made(base);
    const changed = (after: Record<string, string>) =>
      Object.keys(services).filter((name) => after[name] !== before[name]);
    assert.deepEqual(changed(made({ ...base, FIRST: "x" })), ["one"]);
    assert.deepEqual(changed(made({ ...base, SECOND: "x" })), ["two"]);
    assert.deepEqual(changed(made({ ...base, THIRD: "x" })), ["two"]);
    assert.deepEqual(changed(made({ ...base, UNUSED: "x" })), []);
    assert.deepEqual(changed(made(base, "other")), ["other"]);
  });
  it("changes a follower with what it follows", () => {
    const both = (value: string) => {
      const { web } = model({ environment: { A: value } }).services;
      const side = { image: "app", network_mode: "service:web" };
      return digestsOf({ ...model(), services: { web, side } } as ReturnType<typeof model>);
    };
    assert.notEqual(both("1")["side"], both("2")["side"]);
  });
});

describe("followsOf(), dependenciesOf(), inOrder()", () => {
  it("find shared namespaces, volumes_from and restart: true", () => {
    const service = {
      network_mode: "service:a",
      pid: "service:b",
      ipc: "service:c",
      volumes_from: ["d:ro", "container:x"],
      depends_on: { e: { restart: true }, f: { restart: false } },
    };
    assert.deepEqual(Object.keys(followsOf(service)).sort(), ["a", "b", "c", "d", "e"]);
    assert.deepEqual(dependenciesOf(service), ["a", "b", "c", "d", "e", "f"]);
  });
  it("know services of any name", () => {
    const depends = JSON.parse(
      `{"__proto__": {"restart": true}, "constructor": {"restart": true}}`,
    );
    const names = ["__proto__", "constructor"];
    assert.deepEqual(Object.keys(followsOf({ depends_on: depends })).sort(), names);
    for (const shared of [{ ipc: "service:__proto__" }, { volumes_from: ["__proto__:ro"] }]) {
      assert.deepEqual(Object.keys(followsOf(shared)), ["__proto__"]);
      assert.deepEqual(dependenciesOf(shared), ["__proto__"]);
    }
  });
  it("put dependencies first, and break a cycle rather than hang", () => {
    const before: Record<string, string[]> = { web: ["api"], api: ["db"], db: ["web"] };
    assert.deepEqual(inOrder(["web", "api", "db"], (name) => before[name] ?? []).sort(), [
      "api",
      "db",
      "web",
    ]);
    assert.deepEqual(inOrder(["web", "db"], (name) => name === "web" ? ["db"] : []), ["db", "web"]);
  });
});

describe("expectationOf()", () => {
  const table: readonly [Record<string, unknown>, boolean, boolean, number][] = [
    [{}, false, true, 1],
    [{ restart: "no" }, false, true, 1],
    [{ restart: "always" }, true, false, 1],
    [{ restart: "unless-stopped" }, true, false, 1],
    [{ restart: "on-failure:3" }, false, true, 1],
    [{ deploy: { restart_policy: { condition: "any" } } }, true, false, 1],
    [{ deploy: { restart_policy: { condition: "none" } } }, false, true, 1],
    [{ deploy: { replicas: 0 } }, false, true, 0],
    [{ scale: 4 }, false, true, 4],
  ];
  for (const [definition, restarts, mayFinish, replicas] of table) {
    it(`reads ${JSON.stringify(definition)}`, () => {
      const expectation = expectationOf("web", { services: { web: definition } });
      const { oneShot: _one, autostart: _auto, ...rest } = expectation;
      assert.deepEqual(rest, { restarts, mayFinish, replicas });
    });
  }
  it("waits for the end of a service that others need completed", () => {
    const job = {
      job: {},
      web: { depends_on: { job: { condition: "service_completed_successfully" } } },
    };
    assert.equal(expectationOf("job", { services: job }).oneShot, true);
    assert.equal(expectationOf("web", { services: job }).oneShot, false);
  });
});

describe("readiness()", () => {
  const service: ReleaseService = {
    name: "web",
    digest: "d",
    inputs: {},
    expectation: { replicas: 1, restarts: false, mayFinish: true, oneShot: false, autostart: true },
    image: "",
    builds: false,
    follows: {},
    dependsOn: [],
  };
  const container = {
    id: "1",
    name: "web-1",
    service: "web",
    state: "running" as const,
    health: "none" as const,
    exitCode: undefined,
    imageId: "",
    labels: {},
  };
  const table: readonly [
    string,
    Record<string, unknown>,
    Partial<ReleaseService["expectation"]>,
  ][] = [
    ["ready", {}, {}],
    ["ready", { health: "healthy" }, {}],
    ["waiting", { health: "starting" }, {}],
    ["failed", { health: "unhealthy" }, {}],
    ["waiting", { state: "created" }, {}],
    ["waiting", { state: "restarting", exitCode: 1 }, {}],
    ["failed", { state: "dead" }, {}],
    ["ready", { state: "exited", exitCode: 0 }, {}],
    ["failed", { state: "exited", exitCode: 3 }, {}],
    ["failed", { state: "exited", exitCode: 0 }, { mayFinish: false, restarts: true }],
    ["waiting", {}, { oneShot: true }],
    ["ready", { state: "exited", exitCode: 0 }, { oneShot: true, mayFinish: false }],
    ["waiting", {}, { replicas: 2 }],
  ];
  for (const [expected, fields, expectation] of table) {
    it(`is ${expected} for ${JSON.stringify({ ...fields, ...expectation })}`, () => {
      const asked = { ...service, expectation: { ...service.expectation, ...expectation } };
      const found = readiness([asked], { containers: [{ ...container, ...fields }] });
      assert.equal(found.kind, expected);
    });
  }
});
