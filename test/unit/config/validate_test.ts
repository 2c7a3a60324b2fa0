import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatProblem } from "../../../src/model/mod.ts";
import { type Checkout, validateCheckout } from "../../../src/config/mod.ts";

/** Content of a file that stands for a link. */
const LINK = "a link";

function checkout(files: Record<string, string>, base = ""): Checkout {
  const inBase = Object.keys(files).filter((path) => path.startsWith(base));
  return {
    name: "checkout",
    holds: (path) =>
      Promise.resolve(
        Object.keys(files).some((each) => each === path || each.startsWith(`${path}/`)),
      ),
    list: (path) =>
      Promise.resolve(
        new Map(
          Object.entries(files).filter(([each]) => path === "." || each.startsWith(`${path}/`))
            .map(([each, text]) => [each, { kind: text === LINK ? "symlink" : "file" }]),
        ),
      ),
    names: () => Promise.resolve(inBase.map((path) => path.slice(base.length))),
    exists: (path) => Promise.resolve(Object.hasOwn(files, path)),
    read: (path) => Promise.resolve(files[path]),
  };
}

async function problems(files: Record<string, string>): Promise<string[]> {
  return (await validateCheckout(checkout(files))).problems.map(formatProblem);
}

describe("validateCheckout", () => {
  it("validateCheckout() finds nothing wrong with files that are right", async () => {
    const files = {
      ".stackwright.yaml": "name: a\nworking_dir: app\nenv_files: [../c.env]\n---\n" +
        "name: b\ncompose_files: [x.yaml]\n",
      ".stackwright.prod.yml": "name: a\nworking_dir: app\n",
      "app/docker-compose.yml": "",
      "x.yaml": "",
      "c.env": "",
    };
    const validation = await validateCheckout(checkout(files));
    const { stacks, ...rest } = validation;
    assert.deepEqual(stacks.map((each) => each.deployment.name), ["a", "a", "b"]);
    assert.deepEqual(rest, {
      files: [".stackwright.prod.yml", ".stackwright.yaml"],
      problems: [],
      warnings: [],
    });
  });

  const services = (text: string) =>
    `services:\n  db: {image: a}\n  web:\n    image: a\n    ${text}\n`;
  const one = { ".stackwright.yaml": "name: a\n" };
  const two = { ".stackwright.yaml": "name: a\ncompose_files: [compose.yaml, b.yaml]\n" };

  it("validateCheckout() finds names that no file of a stack defines", async () => {
    const found: readonly (readonly [text: string, problem: string])[] = [
      ["depends_on: [db, dbb]", `5:22: services.web.depends_on: no service is called "dbb"`],
      [
        "depends_on: {dbb: {condition: service_started}}",
        `5:23: services.web.depends_on: no service is called "dbb"`,
      ],
      // Compose refuses this too; it is for services whose profile is off.
      [
        "depends_on: {dbb: {required: false, condition: service_started}}",
        `5:23: services.web.depends_on: no service is called "dbb"`,
      ],
      ["networks: [default, back]", `5:25: services.web.networks: no network is called "back"`],
      ["networks: {back: }", `services.web.networks: no network is called "back"`],
      [
        "volumes: ['data:/data', './x:/x']",
        `5:15: services.web.volumes: no volume is called "data"`,
      ],
      [
        "volumes: [{type: volume, source: data, target: /data}]",
        `5:15: services.web.volumes: no volume is called "data"`,
      ],
      ["configs: [site]", `5:15: services.web.configs: no config is called "site"`],
      ["secrets: [{source: key}]", `5:15: services.web.secrets: no secret is called "key"`],
    ];
    for (const [text, problem] of found) {
      const [said, ...more] = await problems({ ...one, "compose.yaml": services(text) });
      assert.deepEqual([more, said?.endsWith(problem.replace(/^\d+:\d+: /, ""))], [[], true], said);
      if (/^\d/.test(problem)) assert.equal(said, `compose.yaml:${problem}`);
    }
    const split = { "compose.yaml": services("networks: [back]"), "b.yaml": services("image: b") };
    assert.equal((await problems({ ...two, ...split })).length, 1);
  });

  it("validateCheckout() leaves names alone that may be defined, or need not be", async () => {
    const fine = [
      "depends_on: ['${DB}']",
      "depends_on: [dbb]\n    profiles: [old]",
      "networks: [default]",
      "volumes: [/data, data, './x:/x', '~/x:/x', '${DATA}:/data', 'c:/x:/y', '/x:/x']",
      "volumes: [{type: bind, source: data, target: /data}, {type: tmpfs, target: /tmp}]",
      "volumes: [{type: volume, target: /data}]",
      "depends_on: !override [dbb]",
      "depends_on: !reset [dbb]",
      "extends: {file: other.yaml, service: web}\n    depends_on: [dbb]",
    ];
    for (const text of fine) {
      const files = { ...one, "compose.yaml": services(text), "other.yaml": "services: {}\n" };
      assert.deepEqual(await problems(files), [], text);
    }
    const uses = services("depends_on: [dbb]\n    volumes: ['data:/data']");
    const defines = "services: {dbb: {image: a}}\nvolumes: {data: {external: true}}\n";
    assert.deepEqual(await problems({ ...two, "compose.yaml": uses, "b.yaml": defines }), []);
    for (const include of ["b.yaml", "{path: b.yaml}", "'${B}'", "../b.yaml", "oci://a.test/b"]) {
      const files = { ...one, "compose.yaml": `include: [${include}]\n${uses}`, "b.yaml": defines };
      assert.ok(!(await problems(files)).some((each) => each.includes("is called")), include);
    }
    const missing = await problems({ ...two, "compose.yaml": uses });
    assert.deepEqual(missing.map((each) => each.includes("is called")), [false]);
    const secret = { "b.yaml": "sops: {mac: a}\nx: ENC[AES256_GCM,a]\n" };
    assert.deepEqual(
      (await problems({ ...two, "compose.yaml": uses, ...secret })).filter((each) =>
        each.includes("is called")
      ),
      [],
    );
  });

  it("validateCheckout() finds a service whose profile is off, unless something may turn it on", async () => {
    const compose = "services: {a: {image: a, links: [b]}, b: {image: a, profiles: [p]}}\n";
    const found = async (more: Record<string, string> = {}, config = "") => {
      const files = { ".stackwright.yaml": `name: a\n${config}`, "compose.yaml": compose, ...more };
      return (await problems(files)).map((each) => each.split(",")[0]);
    };
    const off = 'compose.yaml:1:34: services.a.links: no profile of service "b" is active';
    assert.deepEqual(await found(), [off]);
    assert.deepEqual(await found({ ".env": "A=b\n" }, "profiles: [q]\n"), [off]);
    assert.deepEqual(await found({}, "profiles: [p]\n"), []);
    assert.deepEqual(await found({ ".env": "COMPOSE_PROFILES=p\n" }), []);
    assert.deepEqual(await found({ "c.env": "COMPOSE_PROFILES=p\n" }, "env_files: [c.env]\n"), []);
    assert.deepEqual(await found({}, "environment: {COMPOSE_PROFILES: p}\n"), []);
    assert.deepEqual(await found({}, "external_secrets: {COMPOSE_PROFILES: a}\n"), []);
    const secret = { ".env": "sops_version=3\nsops_mac=ENC[AES256_GCM,a]\nX=ENC[AES256_GCM,a]\n" };
    assert.deepEqual(await found(secret), []);
  });

  it("validateCheckout() finds configs and secrets whose file is not there", async () => {
    const files = {
      ".stackwright.yaml": "name: a\nworking_dir: app\n",
      "app/compose.yaml": "include: [more/c.yaml]\nservices: {a: {image: a, configs: [c, d]}}\n" +
        "configs: {c: {file: ./gone}, d: {file: dir}, unused: {file: nowhere}}\n",
      "app/dir/file": "",
      "app/more/c.yaml": "services: {b: {image: a, secrets: [s, t]}}\n" +
        "secrets: {s: {file: ../s.txt}, t: {file: t.txt}}\n",
      "app/s.txt": "",
    };
    assert.deepEqual(await problems(files), [
      "app/compose.yaml:3:21: configs.c.file: app/gone is no file or directory of the repository",
      "app/more/c.yaml:2:42: secrets.t.file: app/more/t.txt is no file or directory of the repository",
    ]);
    const undone = { ...files, "app/dir/file": "", "app/more/c.yaml": "x-a: !reset null\n" };
    assert.deepEqual(await problems(undone), []);
  });

  it("validateCheckout() finds services without image, and builds in no directory", async () => {
    const files = {
      ".stackwright.yaml": "name: a\nworking_dir: app\ncompose_files: [compose.yaml, more.yaml]\n",
      "app/compose.yaml": "services:\n  a: {build: ./gone}\n  b: {build: {context: lost}}\n" +
        "  c: {build: dir/}\n  d: {build: ./gone}\n  e: {build: ./gone, profiles: [p]}\n" +
        "  f: {build: github.com/a/b}\n  g: {build: 'https://a.b/c'}\n  h: {build: './$X'}\n" +
        "  i: {command: a}\n  j: {command: a}\n  k: {command: a, profiles: [p]}\n  l: {build: .}\n" +
        "  m: {provider: {type: a}}\n  n: {build: {dockerfile_inline: 'FROM a', context: dir/x}}\n",
      "app/more.yaml": "services: {d: {build: ./dir}, j: {image: a}}\n",
      "app/dir/Dockerfile": "",
    };
    const none = "is no directory of the repository to build in";
    const found = [
      "app/compose.yaml:10:6: services.i: expected image or build: it has neither",
      `app/compose.yaml:2:14: services.a.build: app/gone ${none}`,
      `app/compose.yaml:3:24: services.b.build.context: app/lost ${none}`,
      `app/compose.yaml:15:53: services.n.build.context: app/dir/x ${none}`,
    ];
    const all = await problems(files);
    assert.deepEqual(all.toSorted(), found.toSorted());
    const modules = await problems({ ...files, ".gitmodules": "" });
    assert.deepEqual(modules, found.slice(0, 1), "a submodule may be there later");
    const undone = { ...files, "app/more.yaml": "x-a: !reset null\n" };
    assert.deepEqual(await problems(undone), []);
  });

  it("validateCheckout() reports every problem of every file", async () => {
    const files = {
      ".stackwright.yaml": "name: a\ncompose_files: [x.yaml, y.yaml]\nenv_files: [.env, e.env]\n" +
        "---\nname: c\nworking_dir: none\n",
      ".stackwright.t.yaml": "name: b\ntiemout: 1\n---\nname: b\n---\nname: b\n",
      "y.yaml": "",
    };
    assert.deepEqual(await problems(files), [
      '.stackwright.t.yaml:2:1: tiemout: unknown key "tiemout"; did you mean "timeout"?',
      ".stackwright.t.yaml:6:7 (document 3): name: another deployment in the default context is " +
      'called "b" too (the first is on line 4)',
      ".stackwright.yaml:2:16: compose_files: x.yaml does not exist",
      ".stackwright.yaml:3:12: env_files: e.env does not exist",
      ".stackwright.yaml:6:14 (document 2): working_dir: none does not exist",
    ]);
  });

  it("validateCheckout() leaves what it cannot see alone", async () => {
    const files = {
      ".stackwright.yaml": "name: a\nrepository_url: https://h/r\nenv_files: ['remote:e', l]\n" +
        "---\nauto_discovery: true\nrepository_url: https://h/r\n---\nname: c\noci: {verify: true}\n",
      "compose.yaml": "",
    };
    assert.deepEqual(await problems(files), [
      ".stackwright.yaml:3:12: env_files: l does not exist",
    ]);
    const { warnings } = await validateCheckout(checkout(files));
    assert.deepEqual(warnings.map(({ line, path }) => [line, path]), [[9, "oci"]]);
    // What only another branch has is not in this checkout.
    const branch = {
      ".stackwright.yaml": "name: a\nreference: dev\nworking_dir: dev\nenv_files: [e]\n",
    };
    assert.deepEqual(await problems(branch), []);
  });

  it("validateCheckout() warns of mounts that are refused where nothing is there", async () => {
    const mount = (source: string, bind: unknown = {}) => ({
      type: "bind",
      source,
      target: "/t",
      bind,
    });
    const volumes = [
      ...[mount("./gone"), mount("../a"), mount("./b", { create_host_path: true }), mount("./$X")],
      ...[mount("/srv"), "./short:/t", { type: "bind", source: "./long", target: "/t" }],
      ...[mount("./off", { create_host_path: false }), mount("dir"), mount("./dir")],
    ];
    const files = {
      ".stackwright.yaml": "name: a\nworking_dir: app\n",
      a: "",
      "app/dir/file": "",
      "app/compose.yaml": JSON.stringify({
        services: { web: { image: "a", volumes }, maybe: { profiles: ["p"], volumes } },
      }),
    };
    // Not once for each mount: a directory may hold thousands of files.
    const list = () => assert.fail("everything was listed");
    const { problems, warnings } = await validateCheckout({ ...checkout(files), list });
    assert.deepEqual(problems, []);
    assert.deepEqual(warnings.map(({ path, message }) => [path, message.split(" ")[0]]), [
      ["services.web.volumes[0]", "app/gone"],
      ["services.web.volumes[7]", "app/off"],
    ]);
  });

  it("validateCheckout() warns of compose files beside the first default name, which doco-cd merged", async () => {
    const files = {
      ".doco-cd.yml": "name: a\n---\nname: b\ncompose_files: [compose.yaml, docker-compose.yml]\n",
      "compose.yaml": "services: {}\n",
      "docker-compose.yml": "services: {}\n",
    };
    const { warnings } = await validateCheckout(checkout(files));
    assert.deepEqual(warnings.map(formatProblem), [
      "docker-compose.yml: not used: compose.yaml comes first; to merge the two, list both in compose_files",
    ]);
  });

  it("validateCheckout() says when there is no configuration", async () => {
    assert.match((await problems({ "compose.yaml": "" }))[0] ?? "", /no deployment configuration/);
  });

  it("validateCheckout() searches the configured directory", async () => {
    const files = { "ops/.stackwright.yaml": "name: a\n", "compose.yaml": "" };
    const validation = await validateCheckout(checkout(files, "ops/"), { baseDir: "/ops" });
    assert.deepEqual([validation.files, validation.problems], [["ops/.stackwright.yaml"], []]);
  });
});

describe("validateCheckout and auto-discovery", () => {
  const base = "working_dir: apps\nauto_discovery: {enabled: true, depth: 1}\n";

  it("validateCheckout() counts what is discovered and reads its overrides", async () => {
    const files = {
      ".stackwright.yaml": `name: own\nworking_dir: own\n---\n${base}`,
      "own/compose.yaml": "",
      "apps/a/compose.yaml": "",
      "apps/a/.stackwright.yaml": "compose_files: [x.yaml]\nreference: v1\n",
      "apps/a/x.yaml": "",
      "apps/b/compose.yml": "",
      "apps/deep/er/compose.yaml": "",
      "apps/deep/er/.stackwright.yaml": "nmae: never read\n",
    };
    const found = await validateCheckout(checkout(files));
    assert.deepEqual(found.problems, []);
    assert.deepEqual([found.files, found.stacks.map((each) => each.deployment.name)], [
      [".stackwright.yaml", "apps/a/.stackwright.yaml"],
      ["own", "a", "b"],
    ]);
    assert.deepEqual(found.warnings.map(formatProblem), [
      "apps/a/.stackwright.yaml:2:12: reference: ignored: a discovered stack takes this from the " +
      "configuration that discovers it",
    ]);
  });

  const rows: readonly (readonly [string, Record<string, string>, string[]])[] = [
    ["an unknown key of an override, and goes on with the next", {
      "apps/a/compose.yaml": "",
      "apps/a/.stackwright.yaml": "nmae: x\n",
      "apps/b/compose.yaml": "",
      "apps/b/.stackwright.yml": "pause: maybe\n",
    }, [
      'apps/a/.stackwright.yaml:1:1: nmae: unknown key "nmae"; did you mean "name"?',
      'apps/b/.stackwright.yml:1:8: pause: expected true or false, found the text "maybe"',
    ]],
    ["files that an override names and that are not there", {
      "apps/a/compose.yaml": "",
      "apps/a/.stackwright.yaml": "compose_files: [gone.yaml]\nenv_files: [a.env]\n",
    }, [
      "apps/a/.stackwright.yaml:1:16: compose_files: apps/a/gone.yaml does not exist",
      "apps/a/.stackwright.yaml:2:12: env_files: apps/a/a.env does not exist",
    ]],
    ["inherited files that are not there, with the place of the base", {
      ".stackwright.yaml": `${base}env_files: [base.env]\n`,
      "apps/a/compose.yaml": "",
      "apps/b/compose.yaml": "",
      "apps/b/base.env": "",
    }, [".stackwright.yaml:3:12: env_files: apps/a/base.env does not exist"]],
    ["rules between fields that only the merged configuration breaks", {
      "apps/a/compose.yaml": "",
      "apps/a/.stackwright.yaml": "env_files: [../../../x.env]\n",
    }, ["apps/a/.stackwright.yaml:1:13: env_files[0]: the file is outside the root"]],
    ["a directory that cannot be a name", { "apps/My App/compose.yaml": "" }, [
      'apps/My App/: name: "My App" is no compose project name: lower-case letters, digits, - ' +
      'and _, starting with a letter or digit; write "my-app"',
    ]],
    ["an override that is a link", {
      "apps/a/compose.yaml": "",
      "apps/a/.stackwright.yaml": LINK,
    }, ["apps/a/.stackwright.yaml: expected a file, found a link"]],
    ["two directories with one name", {
      "apps/a/compose.yaml": "",
      "apps/b/compose.yaml": "",
      "apps/b/.stackwright.yaml": "name: a\n",
    }, [
      "apps/b/.stackwright.yaml:1:7: name: deployment a is configured 2 times (in apps/a, apps/b)",
    ]],
    ["a working directory that is not there", {}, [
      ".stackwright.yaml:1:14: working_dir: apps does not exist, so that nothing can be " +
      "discovered in it",
    ]],
  ];
  for (const [what, files, expected] of rows) {
    it(`validateCheckout() reports ${what}`, async () => {
      const found = await problems({ ".stackwright.yaml": base, ...files });
      assert.deepEqual(found.length, expected.length, found.join("\n"));
      for (const [index, text] of expected.entries()) {
        assert.ok(found[index]?.startsWith(text), `${found[index]}\nis not\n${text}`);
      }
    });
  }

  it("validateCheckout() leaves encrypted files alone, and says so", async () => {
    const encrypted =
      "name: ENC[AES256_GCM,data:x,type:str]\nsops:\n  mac: ENC[AES256_GCM,data:y]\n";
    const files = {
      ".stackwright.yaml": base,
      ".stackwright.t.yaml": encrypted,
      "apps/My App/compose.yaml": "",
      "apps/My App/.stackwright.yaml": encrypted,
      "apps/b/compose.yaml": "",
    };
    const found = await validateCheckout(checkout(files));
    assert.deepEqual([found.problems, found.stacks.length], [[], 1]);
    const message = "it is encrypted, so that it is checked only where it is deployed";
    assert.deepEqual(found.warnings.map(formatProblem), [
      `.stackwright.t.yaml: ${message}`,
      `apps/My App/.stackwright.yaml: ${message}`,
    ]);
  });

  it("validateCheckout() follows what compose files name, and reports what is not there", async () => {
    const files = {
      ".stackwright.yaml": "name: a\nworking_dir: app\n",
      "app/compose.yaml": "include: [more/compose.yaml, gone.yaml]\n" +
        "services: {a: {extends: {file: base.yaml, service: a}, env_file: [a.env, b.env]}}\n",
      "app/more/compose.yaml": "include: [../compose.yaml]\nservices: {c: {env_file: c.env}}\n",
      "app/a.env": "",
    };
    assert.deepEqual(await problems(files), [
      "app/compose.yaml: include: app/gone.yaml does not exist",
      "app/compose.yaml: extends: app/base.yaml does not exist",
      "app/compose.yaml:2:66: services.a.env_file: app/b.env does not exist",
      "app/more/compose.yaml:2:26: services.c.env_file: app/more/c.env does not exist",
    ]);
  });

  it("validateCheckout() asks for no dotenv file that another compose file may take back", async () => {
    const files = {
      ".stackwright.yaml": "name: a\ncompose_files: [a.yaml, b.yaml]\n",
      "a.yaml": "services: {a: {env_file: gone.env}}\n",
      "b.yaml": "services: {a: {env_file: !reset []}}\n",
    };
    assert.deepEqual(await problems(files), []);
  });

  it("validateCheckout() asks for no file of what is taken away", async () => {
    const files = { ".stackwright.yaml": "name: a\ndestroy: true\nenv_files: [gone.env]\n" };
    assert.deepEqual(await problems(files), []);
  });

  it("validateCheckout() does not take the base for an override of a stack beside it", async () => {
    const files = {
      ".stackwright.yaml": "auto_discovery: true\n",
      "compose.yaml": "",
      "a/compose.yaml": "",
    };
    const found = await validateCheckout(checkout(files));
    assert.deepEqual([found.stacks.length, found.problems], [2, []]);
  });
});
