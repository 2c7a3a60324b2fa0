import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configReference } from "../../../scripts/lib/config_reference.ts";
import { settingsReference } from "../../../scripts/lib/settings_reference.ts";
import { deploymentSchema } from "../../../src/config/deployment_schema.ts";
import { pollEntrySchema } from "../../../src/config/poll_schema.ts";
import { NOT_YET, SETTINGS_TABLE } from "../../../src/settings/mod.ts";

describe("configReference", () => {
  it("configReference() has a row for every key of every schema", () => {
    const text = configReference();
    const keys = [...Object.keys(deploymentSchema.shape), ...Object.keys(pollEntrySchema.shape)];
    for (const key of [...keys, "no_cache", "restart_window", "subject_regexp", "store_ref"]) {
      assert.ok(text.includes(`| \`${key}\` |`), key);
    }
    assert.ok(text.includes('| `timeout` | duration | `"3m"` |'));
    assert.ok(text.includes("| `git_depth` | whole number ≥ 0 | `0` |"));
    assert.ok(
      text.split("\n").filter((line) => line.startsWith("|")).every((line) =>
        line.replaceAll("\\|", "").split("|").length === 6
      ),
    );
  });
});

describe("settingsReference", () => {
  it("settingsReference() has a row for each variable with its default and other names", () => {
    const text = settingsReference();
    for (const { name } of SETTINGS_TABLE) assert.ok(text.includes(`| \`${name}\``), name);
    assert.ok(text.includes("| `HTTP_PORT` | integer | `8080` |"));
    assert.ok(text.includes("`API_SECRET`, `API_SECRET_FILE`"));
    assert.ok(text.includes("Also `DATA_MOUNT_PATH`."));
    const names = SETTINGS_TABLE.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  it("settingsReference() lists each of them with what happens while it is set", () => {
    const [, text = ""] = settingsReference().split("## Not in this version");
    for (const { name, refused } of NOT_YET) {
      const row = text.split("\n").find((line) => line.startsWith(`| \`${name}\``)) ?? "";
      assert.match(
        row,
        refused ? /\| error( when true| with `enabled: true`| unless `\w+`)? \|/ : /\| warning/,
      );
    }
  });
});
