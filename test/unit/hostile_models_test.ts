import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { ignoredUses, servicesOf, tooLargeProject } from "../../src/compose/mod.ts";
import { beyondBounds } from "../../src/compose/model_bounds.ts";
import { releaseServices } from "../../src/compose/service_digest.ts";
import { readJobLabels } from "../../src/config/mod.ts";
import type { ComposeModel } from "../../src/model/mod.ts";
import { takesAtMost } from "./processor_time.ts";

/**
 * Projects whose every part is as large as it may be, and is named by as many services as there may be:
 * a limit for each label, definition and value says nothing about all of them together.
 */
const MOST_MS = 1000;
const SERVICES = 490;

type Json = Record<string, unknown>;
const services = (count: number, each: Json): Json =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`s${at}`, { image: "a", scale: 0, ...each }]),
  );
const project = (parts: Json) => ({ name: "shop", ...parts }) as ComposeModel;
const large = Object.fromEntries(
  Array.from({ length: 28 }, (_, at) => [`l${at}`, "a b ".repeat(29_000)]),
);
const names = Array.from({ length: 17_500 }, (_, at) => at.toString(36).padStart(3, "0"));

/** The release's services, unless the project is refused. */
function released(model: ComposeModel, environment: Record<string, string> = {}): unknown {
  return tooLargeProject(model) ?? releaseServices({
    rendered: model,
    model,
    uses: [],
    inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
    contentOf: (path) => path,
    variables: "",
    environment,
    buildArguments: "",
    buildsImages: true,
    digest: (text) => createHmac("sha256", "key").update(text).digest("hex"),
  });
}

const files = Array.from({ length: 60 }, (_, at) => ({ source: `c${at}`, target: `/c${at}` }));
const mount = { type: "volume", source: "big", target: "/big" };

/** What is done with each, and the project. */
const MODELS: Readonly<Record<string, readonly [(model: ComposeModel) => unknown, Json]>> = {
  "a network that all services name": [released, {
    services: services(SERVICES, { networks: { big: null } }),
    networks: { big: { name: "big", labels: large } },
  }],
  "a volume that one service mounts everywhere": [released, {
    services: services(1, {
      volumes: Array.from({ length: 2000 }, (_, at) => ({ ...mount, target: `/${at}` })),
    }),
    volumes: { big: { name: "big", labels: large } },
  }],
  "definitions as large as all services may name": [released, {
    services: services(SERVICES, { networks: { big: null } }),
    networks: { big: { name: "big", labels: { text: "a".repeat(34_000) } } },
  }],
  "configs of one long variable": [
    (model) => released(model, { BIG: "v".repeat(120_000) }),
    {
      services: services(SERVICES, { configs: files }),
      configs: Object.fromEntries(files.map(({ source }) => [source, { environment: "BIG" }])),
    },
  ],
  "labels that are read as YAML": [(model) => ignoredUses(model, []), {
    services: services(52, {
      labels: { "cd.doco.deployment.recreate.ignore": `{volumes: {${names.join(",")}}}` },
    }),
  }],
  "durations and lists of jobs": [
    (model) => {
      for (const each of Object.values(servicesOf(model))) {
        readJobLabels(each["labels"] as Record<string, string>, { project: "shop", service: "a" });
      }
    },
    {
      services: services(16, {
        labels: {
          "stackwright.job.enabled": "true",
          "stackwright.job.schedule": "0 0 * * *",
          "stackwright.job.max_duration": `${"0s".repeat(120_000)}1s`,
        },
      }),
    },
  ],
};

describe("a project that names its largest parts as often as it may", () => {
  for (const [name, [work, parts]] of Object.entries(MODELS)) {
    it(`does not stop the service: ${name}`, async () => {
      const model = project(parts);
      assert.equal(beyondBounds(model), undefined);
      const attempt = () => {
        try {
          return work(model);
        } catch {
          // Refusing is right, too: what counts is the time.
          return undefined;
        }
      };
      assert.ok(await takesAtMost(MOST_MS, attempt), `it takes longer than ${MOST_MS} ms`);
    });
  }
});
