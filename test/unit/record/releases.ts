import type { Release, StackKey } from "../../../src/model/mod.ts";

/** A secret that releases of {@link releaseOf} carry in their model and variables. */
export const CANARY = "canary-4711-nest";

/** A release of stack `key` at commit `id`, with {@link CANARY} wherever secrets may be. */
export function releaseOf(key: StackKey, id: string, more: Partial<Release> = {}): Release {
  return {
    key,
    revision: {
      source: { kind: "git", url: `https://bot:${CANARY}@h.example/o/r`, name: "h.example/o/r" },
      reference: "refs/heads/main",
      id,
    },
    target: "",
    timeoutSeconds: 180,
    digest: `digest-${id}`,
    services: [{
      name: "web",
      digest: `web-${id}`,
      inputs: { definition: "d1", "file:web/page.html": "f1" },
      expectation: {
        replicas: 1,
        restarts: true,
        mayFinish: false,
        oneShot: false,
        autostart: true,
      },
      image: "web:1",
      builds: false,
      follows: {},
      dependsOn: [],
    }],
    inactive: ["off"],
    closure: {
      configuration: "c1",
      complete: true,
      paths: { "compose.yaml": "o1", ".env": "absent" },
    },
    live: { files: { "data/seed": "100644 o2" }, directories: ["data/out"] },
    model: { services: { web: { image: "web:1", environment: { PASSWORD: CANARY } } } },
    unused: { volumes: { data: { name: CANARY } } },
    invocation: { environment: { TOKEN: CANARY }, envFiles: [".env"], profiles: ["a"] },
    ...more,
  };
}
