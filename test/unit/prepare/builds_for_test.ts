import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ReleaseService, ServiceAction, ServicePlan } from "../../../src/model/mod.ts";
import { buildsFor, imagesBuilt, stayingFor } from "../../../src/prepare/builds_for.ts";

const build = { context: "." };
const hook = { pre_start: [{ image: "app:1", command: ["true"] }] };

/** Services with what a plan does to each, and the images that their containers run. */
type Case = readonly [
  title: string,
  services: Readonly<
    Record<string, readonly [definition: object, action: ServiceAction, ran?: string]>
  >,
  expected: { readonly builds?: string; readonly again?: Readonly<Record<string, string>> },
  missing?: string,
];

const X = { image: "app:1", build };
const Y = { image: "app:1" };
const Z = { image: "tool:1", ...hook };
const NONE = { ...X, scale: 0 };

const CASES: readonly Case[] = [
  ["a first deployment", { x: [X, "create"], y: [Y, "create"] }, { builds: "x" }],
  ["a changed build", { x: [X, "recreate", "old"], y: [Y, "recreate", "old"] }, { builds: "x" }],
  ["another change", { x: [X, "keep", "a"], y: [Y, "recreate", "b"] }, { again: { y: "a" } }],
  ["one that is started", { x: [X, "start", "a"], y: [Y, "create"] }, { again: { y: "a" } }],
  [
    "one whose image has no name",
    { x: [X, "start", "a"], y: [Y, "create"] },
    { builds: "x" },
    "app:1",
  ],
  ["more replicas", { x: [X, "keep", "a"], y: [Y, "scale", "b"] }, { again: { y: "b" } }],
  ["more of both", { x: [X, "scale", "a"], y: [Y, "scale", "b"] }, { again: { x: "a", y: "b" } }],
  ["a start", { x: [X, "keep", "a"], y: [Y, "start", "b"] }, {}],
  ["a start without a name", { x: [X, "keep", "a"], y: [Y, "start", "b"] }, {
    again: { y: "a" },
  }, "app:1"],
  ["one that has no container", { x: [NONE, "keep"], y: [Y, "create"] }, { builds: "x" }],
  ["one whose containers go", { x: [NONE, "scale", "old"], y: [Y, "create"] }, { builds: "x" }],
  [
    "a user that stays of one that has none",
    { x: [NONE, "keep"], y: [Y, "create"], z: [Y, "keep", "c"] },
    { again: { y: "c" } },
  ],
  ["a hook", { x: [X, "keep", "a"], z: [Z, "recreate", "t"] }, { again: { "z/app:1": "a" } }],
  ["a hook of a start", { x: [X, "keep", "a"], z: [Z, "start", "t"] }, {
    again: { "z/app:1": "a" },
  }],
  ["a hook, built for it alone", { x: [NONE, "keep"], z: [Z, "create"] }, { builds: "x" }],
  ["a hook's start, of what is there", { x: [NONE, "keep"], z: [Z, "start", "t"] }, {}],
  [
    "a hook's start, of what is not",
    { x: [NONE, "keep"], z: [Z, "start", "t"] },
    { builds: "x" },
    "app:1",
  ],
  ["what is pulled", { x: [X, "keep", "a"], z: [{ image: "tool:1" }, "recreate", "t"] }, {}],
  [
    "a further tag",
    {
      x: [{ ...X, build: { ...build, tags: ["app:2"] } }, "keep", "a"],
      y: [{ image: "app:2" }, "create"],
    },
    { again: { y: "a" } },
  ],
  ["one of two builds", { a: [X, "create"], b: [X, "create"], y: [Y, "create"] }, {
    builds: "a b",
  }],
  ["an image that is gone", { x: [X, "keep", "gone"], y: [Y, "create"] }, { builds: "x" }],
];

describe("buildsFor()", () => {
  for (const [title, services, { builds = "", again = {} }, missing = ""] of CASES) {
    it(`has the images of ${title}`, () => {
      const all = Object.entries(services);
      const model = { name: "shop", services: Object.fromEntries(all.map(([n, [d]]) => [n, d])) };
      const release = {
        model,
        services: all.map(([name, [definition]]) => {
          const { image, scale = 1, ...other } = definition as {
            image: string;
            scale?: number;
            pre_start?: unknown;
          };
          return {
            ...{ name, image, expectation: { replicas: scale } },
            ...(other.pre_start === undefined ? {} : { sideImages: ["app:1"] }),
          } as unknown as ReleaseService;
        }),
      };
      const plan = {
        services: all.map(([name, [, action]]): ServicePlan => ({ name, action, because: [] })),
      };
      const ran = Object.fromEntries(
        all.flatMap(([name, [, , id]]) => id === undefined || id === "gone" ? [] : [[name, id]]),
      );
      const built = imagesBuilt(release);
      const acting = new Set(
        all.filter(([, [definition, action]]) => action !== "keep" && !("scale" in definition)).map(
          ([name]) => name,
        ),
      );
      const needed = built.filter(({ service }) => acting.has(service));
      const staying = stayingFor(release, { plan, built, needed });
      const isMissing = (image: string) => image === missing;
      const found = buildsFor(needed, plan, { isMissing, staying, ran });
      assert.deepEqual([[...found.builds].sort().join(" "), found.again], [builds, again]);
    });
  }
});
