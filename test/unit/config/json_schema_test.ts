import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ajv } from "ajv";
import {
  deploymentJsonSchema,
  type JsonSchema,
  parseDeployments,
  pollEntrySchema,
  published,
} from "../../../src/config/mod.ts";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { parseInlineDeployments } from "../../fakes/inline_deployments.ts";

function validator(schema: JsonSchema) {
  const ajv = new Ajv({ strict: true });
  ajv.addKeyword("x-service-version");
  return ajv.compile(schema);
}

const validate = validator(deploymentJsonSchema("1.2.3"));

function accepts(value: unknown): boolean {
  try {
    parseInlineDeployments([value], "corpus");
    return true;
  } catch (error) {
    assert.ok(isStackwrightError(error, "config_invalid"), `not ours: ${error}`);
    return false;
  }
}

/** The part of the schema that describes a dotted path of keys. */
function part(path: string): JsonSchema {
  let schema = deploymentJsonSchema("1.2.3");
  for (const key of path.split(".")) {
    const options = [schema, ...((schema["anyOf"] ?? []) as JsonSchema[])];
    const object = options.find((option) => option["properties"] !== undefined);
    schema = (object?.["properties"] as Record<string, JsonSchema>)[key] ?? assert.fail(path);
  }
  return schema;
}

describe("deploymentJsonSchema", () => {
  it("deploymentJsonSchema() is a draft-07 document with the marker of the release", () => {
    const schema = deploymentJsonSchema("1.2.3");
    assert.equal(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert.equal(schema["additionalProperties"], false);
    assert.equal(typeof schema["title"], "string");
    assert.equal(schema["required"], undefined);
    for (const version of ["1.2.3", "v1.2.3", "1.2.3-dev+4f1c", " v1.2.3 "]) {
      assert.equal(deploymentJsonSchema(version)["x-service-version"], "v1.2.3");
    }
    assert.equal(deploymentJsonSchema("dev")["x-service-version"], "v0.0.0");
  });

  const defaults: [string, unknown][] = [
    ["name", undefined],
    ["source", "git"],
    ["version", "service.v1"],
    ["repository_url", ""],
    ["webhook_filter", ""],
    ["reference", ""],
    ["working_dir", "."],
    ["context", ""],
    [
      "compose_files",
      ["compose.yaml", "compose.yml", "container-compose.yml", "container-compose.yaml"],
    ],
    ["environment", undefined],
    ["env_files", [".env"]],
    ["remove_orphans", true],
    ["prune_images", true],
    ["swarm", undefined],
    ["swarm.config_retention", undefined],
    ["wait_running_jobs", true],
    ["force_recreate", false],
    ["force_image_pull", false],
    ["timeout", "3m"],
    ["build", undefined],
    ["build.args", undefined],
    ["build.force_image_pull", false],
    ["build.quiet", false],
    ["build.no_cache", false],
    ["git_depth", 0],
    ["destroy", undefined],
    ["destroy.enabled", false],
    ["destroy.remove_volumes", true],
    ["destroy.remove_images", true],
    ["profiles", []],
    ["external_secrets", undefined],
    ["external_secrets_files", []],
    ["auto_discovery", undefined],
    ["auto_discovery.enabled", false],
    ["auto_discovery.depth", 0],
    ["auto_discovery.delete", false],
    ["auto_discovery.remove_volumes", false],
    ["auto_discovery.remove_images", true],
    ["retry", undefined],
    ["retry.limit", undefined],
    ["retry.delay", undefined],
    ["pause", false],
    ["reconciliation", undefined],
    ["reconciliation.enabled", true],
    ["reconciliation.events", ["unhealthy"]],
    ["reconciliation.restart_timeout", "10s"],
    ["reconciliation.restart_signal", ""],
    ["reconciliation.restart_limit", 5],
    ["reconciliation.restart_window", "5m"],
    ["oci", undefined],
    ["oci.verify", undefined],
  ];
  for (const [path, value] of defaults) {
    it(`deploymentJsonSchema() publishes the default of ${path} and a description`, () => {
      assert.deepEqual(part(path)["default"], value);
      assert.match(String(part(path)["description"]), /\S/);
    });
  }

  const keywords: [string, string, unknown][] = [
    ["git_depth", "minimum", 0],
    ["swarm.config_retention", "minimum", -1],
    ["swarm.secret_retention", "minimum", -1],
    ["auto_discovery.depth", "minimum", 0],
    ["retry.limit", "minimum", 0],
    ["retry.delay", "minimum", 0],
    ["reconciliation.restart_timeout", "minimum", 0],
    ["reconciliation.restart_limit", "minimum", 0],
    ["reconciliation.restart_window", "minimum", 0],
    ["compose_files", "minItems", 1],
    ["source", "enum", ["git", "oci", ""]],
  ];
  for (const [path, keyword, value] of keywords) {
    it(`deploymentJsonSchema() publishes ${keyword} of ${path}`, () => {
      const options = part(path)["anyOf"] as JsonSchema[];
      assert.ok(
        options.some((option) => JSON.stringify(option[keyword]) === JSON.stringify(value)),
      );
    });
  }

  it("deploymentJsonSchema() publishes the words of events and the length of store_ref", () => {
    const text = JSON.stringify(deploymentJsonSchema("1.2.3"));
    assert.ok(text.includes('["die","destroy","update","stop","kill","oom","unhealthy","remove"'));
    assert.ok(text.includes('"minLength":1'));
    assert.ok(!text.includes("9007199254740991"));
  });

  it("deploymentJsonSchema() closes every object with properties", () => {
    const open: string[] = [];
    const visit = (node: unknown, path: string) => {
      if (typeof node !== "object" || node === null) return;
      const schema = node as JsonSchema;
      const isObject = schema["type"] === "object" && schema["properties"] !== undefined;
      if (isObject && schema["additionalProperties"] !== false) open.push(path);
      for (const [key, value] of Object.entries(node)) visit(value, `${path}/${key}`);
    };
    visit(deploymentJsonSchema("1.2.3"), "");
    assert.deepEqual(open, []);
  });

  it("deploymentJsonSchema() has examples that it and the parser accept", () => {
    const examples = deploymentJsonSchema("1.2.3")["examples"] as unknown[];
    assert.ok(examples.length > 0);
    for (const example of examples) {
      assert.ok(validate(example), JSON.stringify(validate.errors));
      assert.ok(accepts(example), JSON.stringify(example));
      const text = JSON.stringify(example);
      assert.equal(parseDeployments(text, { file: "f", trusted: true }).length, 1);
    }
  });

  it("published() makes the poll schema pass strict validation", () => {
    const check = validator(published(pollEntrySchema));
    assert.ok(check({ url: "https://h/r", interval: "3m", deployments: [{ name: "a" }] }));
    assert.ok(!check({ url: "https://h/r", branch: "main" }));
    assert.ok(!check({}));
  });
});

/** Values put into every place of a document; none of them breaks a rule only code can express. */
const VALUES: unknown[] = [
  null,
  true,
  false,
  0,
  1,
  7,
  -1,
  -2,
  1.5,
  "",
  "git",
  " OCI ",
  "a",
  "3m",
  "10",
  "-5s",
  "1d",
  " 90 ",
  "die",
  " Delete ",
  [],
  ["a"],
  ["die", "OOM"],
  [1, true],
  [[]],
  [{}],
  {},
  { a: "b" },
  { a: 1, b: null },
  { a: [] },
  { enabled: true },
  { enabled: null },
  { enabled: "yes" },
  { bogus: 1 },
];

const PATHS = [
  "source",
  "version",
  "reference",
  "context",
  "environment",
  "env_files",
  "remove_orphans",
  "prune_images",
  "swarm",
  "swarm.enabled",
  "swarm.config_retention",
  "swarm.secret_retention",
  "swarm.bogus",
  "wait_running_jobs",
  "force_recreate",
  "force_image_pull",
  "timeout",
  "build",
  "build.args",
  "build.force_image_pull",
  "build.quiet",
  "build.no_cache",
  "git_depth",
  "destroy",
  "destroy.enabled",
  "destroy.remove_volumes",
  "destroy.remove_images",
  "profiles",
  "external_secrets",
  "external_secrets.A",
  "external_secrets.A.store_ref",
  "auto_discovery",
  "auto_discovery.enabled",
  "auto_discovery.depth",
  "auto_discovery.delete",
  "auto_discovery.remove_volumes",
  "auto_discovery.remove_images",
  "retry",
  "retry.limit",
  "retry.delay",
  "pause",
  "reconciliation",
  "reconciliation.enabled",
  "reconciliation.events",
  "reconciliation.restart_timeout",
  "reconciliation.restart_limit",
  "oci",
  "oci.verify",
  "oci.keyless_identities",
  "oci.public_keys",
  "oci.ignore_tlog",
  "bogus",
];

function withValue(path: string, value: unknown): Record<string, unknown> {
  const keys = path.split(".");
  const inner = keys.slice(1).reduceRight((below, key) => ({ [key]: below }), value);
  return { name: "a", [keys[0] ?? ""]: inner };
}

describe("the schema and the parser", () => {
  for (const path of PATHS) {
    it(`the schema and the parser judge every value of ${path} alike`, () => {
      for (const value of VALUES) {
        // An empty path in a list is refused by the parser only.
        const document = withValue(path, value);
        assert.equal(accepts(document), validate(document), JSON.stringify(document));
      }
    });
  }

  it("the schema and the parser agree on the version of artifacts", () => {
    for (const source of ["oci", " OCI ", "git", "", null]) {
      for (const version of ["", " ", "service.v1", " service.v1 ", "v2", 1, true, null, []]) {
        const document = { name: "a", source, version };
        assert.equal(accepts(document), validate(document), JSON.stringify(document));
      }
    }
  });

  it("the schema never accepts less than the parser, whatever two fields say", () => {
    let accepted = 0;
    for (const first of PATHS) {
      for (const second of ["timeout", "destroy", "reconciliation.restart_window"]) {
        for (const value of VALUES) {
          const document = { ...withValue(first, value), ...withValue(second, value) };
          if (!accepts(document)) continue;
          accepted++;
          assert.ok(validate(document), JSON.stringify(document));
        }
      }
    }
    assert.ok(accepted > 100, String(accepted));
  });
});
