import {
  type Release,
  type ReleaseService,
  type ServiceExpectation,
  stackKey,
} from "../../../src/model/mod.ts";

/** One container that is always restarted. */
export const ALWAYS: ServiceExpectation = {
  replicas: 1,
  restarts: true,
  mayFinish: false,
  oneShot: false,
  autostart: true,
};

/** A service of a release. */
export function serviceOf(name: string, fields: Partial<ReleaseService> = {}): ReleaseService {
  return {
    name,
    digest: `${name}-1`,
    inputs: {},
    expectation: ALWAYS,
    image: `${name}:1`,
    builds: false,
    follows: {},
    dependsOn: [],
    ...fields,
  };
}

/** A release of the stack `shop` with these services. */
export function releaseOf(
  id: string,
  services: readonly ReleaseService[],
  more: Partial<Release> = {},
): Release {
  return {
    key: stackKey("", "shop"),
    revision: {
      source: { kind: "git", url: "https://h.example/o/r", name: "h.example/o/r" },
      reference: "refs/heads/main",
      id,
    },
    target: "",
    timeoutSeconds: 180,
    digest: `release-${id}`,
    services,
    closure: { configuration: "c", complete: true, paths: {} },
    live: { files: {}, directories: [] },
    model: {
      name: "shop",
      services: Object.fromEntries(services.map((each) => [each.name, { image: each.image }])),
    },
    invocation: { environment: {}, envFiles: [], profiles: [] },
    ...more,
  };
}
