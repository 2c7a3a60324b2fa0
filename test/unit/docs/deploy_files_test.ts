import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { parsePollConfig } from "../../../src/config/mod.ts";
import { programEnvironment } from "../../../src/deploy/mod.ts";
import { EXIT } from "../../../src/cli/io.ts";
import { SETTINGS_TABLE } from "../../../src/settings/mod.ts";

const ROOT = new URL("../../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf8");
const SETTINGS: ReadonlySet<string> = new Set(
  SETTINGS_TABLE.flatMap(({ name }) => [name, `${name}_FILE`]),
);

describe("docs/compose.yaml", () => {
  const { services, configs } = parse(read("docs/compose.yaml"));
  const { environment, volumes, configs: used, secrets } = services.stackwright;

  it("starts without a file that the engine would make a directory of", () => {
    for (const volume of volumes as string[]) assert.match(volume, /^\//, volume);
    assert.deepEqual(used, [{ source: "poll", target: environment.POLL_CONFIG_FILE }]);
    assert.deepEqual(secrets, ["api_secret"]);
  });

  it("brings a list of repositories that can be read, also with its example", () => {
    const { content } = configs.poll;
    assert.deepEqual(parsePollConfig(content, { file: "poll" }), []);
    const example = content.replaceAll(/^# (?!A)/gm, "");
    assert.equal(parsePollConfig(example, { file: "poll" }).length, 1);
  });

  it("names settings that there are", () => {
    for (const name of Object.keys(environment)) assert.ok(SETTINGS.has(name), name);
  });
});

describe("Containerfile", () => {
  it("starts the service, and leaves no volume without a name", () => {
    const text = read("Containerfile");
    assert.match(text, /^CMD \["serve"\]$/m);
    assert.doesNotMatch(text, /^VOLUME/m);
  });
});

describe("docs/stackwright.service", () => {
  const text = read("docs/stackwright.service");

  it("starts again after everything but a wrong setting", () => {
    assert.match(text, /^Restart=on-failure$/m);
    assert.match(text, new RegExp(`^RestartPreventExitStatus=${EXIT.configuration}$`, "m"));
  });

  it("gives builds a directory that they may write, which compose gets to know", () => {
    assert.match(text, /^CacheDirectory=stackwright$/m);
    assert.match(text, /^Environment=BUILDX_CONFIG=%C\/stackwright\/buildx$/m);
    const env = programEnvironment({ BUILDX_CONFIG: "/var/cache/stackwright/buildx" });
    assert.equal(env["BUILDX_CONFIG"], "/var/cache/stackwright/buildx");
  });
});

describe("README's first deployment", () => {
  const block = (name: string) =>
    new RegExp(`<!-- ${name} terminal -->\\n\\n\`\`\`sh\\n([^]*?)\`\`\``).exec(read("README.md"))
      ?.[1] ?? "";
  const settings = /cat > stackwright\.env <<END\n([^]*?)\nEND\n/.exec(block("first"))?.[1] ?? "";

  it("writes settings that there are, with a list of repositories that can be read", () => {
    const values = new Map(
      settings.split("\n").map((line) => {
        const [name = "", ...rest] = line.split("=");
        return [name, rest.join("=").replaceAll(/^'|'$/g, "")];
      }),
    );
    for (const name of values.keys()) assert.ok(SETTINGS.has(name), name);
    const entries = parsePollConfig(values.get("POLL_CONFIG") ?? "", { file: "README.md" });
    assert.equal(entries.length, 1);
  });

  it("reads them in both terminals", () => {
    for (const name of ["first", "second"]) {
      assert.ok(block(name).includes("set -a; . ./stackwright.env; set +a\n"), name);
    }
  });
});
