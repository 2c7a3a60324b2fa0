import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatProblem } from "../../../src/model/mod.ts";
import { type Checkout, validateCheckout } from "../../../src/config/mod.ts";

function checkout(files: Record<string, string>, base = ""): Checkout {
  const inBase = Object.keys(files).filter((path) => path.startsWith(base));
  return {
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
    assert.deepEqual(validation, {
      files: [".stackwright.prod.yml", ".stackwright.yaml"],
      deployments: 3,
      problems: [],
      warnings: [],
    });
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
      ".stackwright.yaml:5:1 (document 2): compose_files: none has no compose file: compose.yaml, " +
      "compose.yml, container-compose.yml, container-compose.yaml, docker-compose.yaml, " +
      "docker-compose.yml",
    ]);
  });

  it("validateCheckout() leaves what it cannot see alone", async () => {
    const files = {
      ".stackwright.yaml": "name: a\nrepository_url: https://h/r\nenv_files: ['remote:e', l]\n" +
        "---\nauto_discovery: true\n---\nname: c\noci: {verify: true}\n",
      "compose.yaml": "",
    };
    assert.deepEqual(await problems(files), [
      ".stackwright.yaml:3:12: env_files: l does not exist",
    ]);
    const { warnings } = await validateCheckout(checkout(files));
    assert.deepEqual(warnings.map(({ line, path }) => [line, path]), [[8, "oci"]]);
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
