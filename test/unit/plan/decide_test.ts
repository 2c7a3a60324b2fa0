import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  COMPOSE_LABELS,
  LABELS,
  MANAGER,
  type ObservedContainer,
  type ReleaseService,
} from "../../../src/model/mod.ts";
import { decide, type DecideInput } from "../../../src/plan/mod.ts";

function service(name: string, fields: Partial<ReleaseService> = {}): ReleaseService {
  return {
    name,
    digest: `${name}-1`,
    inputs: { definition: `${name}-definition-1` },
    expectation: { replicas: 1, restarts: false, mayFinish: true, oneShot: false, autostart: true },
    image: "app:1",
    builds: false,
    follows: {},
    dependsOn: [],
    ...fields,
  };
}

function container(name: string, fields: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: `${name}-id`,
    name: `stack-${name}-1`,
    service: name,
    state: "running",
    health: "none",
    exitCode: undefined,
    imageId: "sha256:image",
    labels: { [LABELS.manager]: MANAGER, [LABELS.digest]: `${name}-1` },
    ...fields,
  };
}

function placed(place: Partial<ReleaseService["place"]> = {}): ReleaseService {
  return service("web", { place: { containerName: "", networks: [], ...place } });
}

function numbered(fields: Partial<ObservedContainer> = {}): ObservedContainer {
  const { labels } = container("web");
  const number = { [COMPOSE_LABELS.project]: "stack", [COMPOSE_LABELS.number]: "1" };
  return container("web", { labels: { ...labels, ...number }, networkNames: [], ...fields });
}

function input(fields: Partial<DecideInput>): DecideInput {
  return {
    desired: [service("web")],
    observed: { containers: [container("web")] },
    previous: [service("web")],
    policy: { removeOrphans: true },
    images: {},
    ...fields,
  };
}

const always = { replicas: 1, restarts: true, mayFinish: false, oneShot: false, autostart: true };

/** What is wanted and what runs, and what is to be done about it. */
const TABLE: readonly {
  readonly when: string;
  readonly given: Partial<DecideInput>;
  readonly actions: Readonly<Record<string, string>>;
  readonly because?: RegExp;
}[] = [
  { when: "everything is as it should be", given: {}, actions: { web: "keep" } },
  {
    when: "a file changed that the service wants in place",
    given: {
      desired: [service("web", { inPlace: { files: { a: "blob:222" }, signal: "SIGHUP" } })],
      previous: [service("web", { inPlace: { files: { a: "blob:111" }, signal: "SIGHUP" } })],
    },
    actions: { web: "reload" },
    because: /mounted a changed; it is updated in place, and SIGHUP is sent/,
  },
  {
    when: "nobody knows which files in place it was started with",
    given: {
      desired: [service("web", { inPlace: { files: { a: "blob:222" } } })],
      previous: undefined,
    },
    actions: { web: "reload" },
  },
  {
    when: "a file in place and the definition changed",
    given: {
      desired: [service("web", { digest: "web-2", inPlace: { files: { a: "blob:222" } } })],
      previous: [service("web", { inPlace: { files: { a: "blob:111" } } })],
    },
    actions: { web: "recreate" },
  },
  {
    when: "a file in place changed while the container was down",
    given: {
      desired: [
        service("web", { expectation: always, inPlace: { files: { a: "blob:222" } } }),
      ],
      observed: { containers: [container("web", { state: "exited" })] },
      previous: [
        service("web", { expectation: always, inPlace: { files: { a: "blob:111" } } }),
      ],
    },
    actions: { web: "recreate" },
  },
  {
    when: "nothing was ever deployed",
    given: { observed: { containers: [] }, previous: undefined },
    actions: { web: "create" },
    because: /^first deployment$/,
  },
  {
    when: "a service is new",
    given: { desired: [service("web"), service("worker")] },
    actions: { web: "keep", worker: "create" },
    because: /new in this release/,
  },
  {
    when: "a container is gone",
    given: { observed: { containers: [] } },
    actions: { web: "create" },
    because: /its container is missing/,
  },
  {
    when: "the definition changed",
    given: {
      desired: [service("web", { digest: "web-2", inputs: { definition: "web-definition-2" } })],
    },
    actions: { web: "recreate" },
    because: /^its definition changed$/,
  },
  {
    when: "a mounted file changed",
    given: {
      desired: [service("web", { digest: "web-2", inputs: { "file:site": "directory:bbbb" } })],
      previous: [service("web", { inputs: { "file:site": "directory:aaaa" } })],
    },
    actions: { web: "recreate" },
    because: /^mounted site changed$/,
  },
  {
    when: "a container has a digest nobody knows",
    given: {
      observed: {
        containers: [container("web", { labels: { [LABELS.digest]: "strange" } })],
      },
    },
    actions: { web: "recreate" },
    because: /was made from something else than the release/,
  },
  {
    when: "a container was made by somebody else",
    given: { observed: { containers: [container("web", { labels: {} })] }, previous: undefined },
    actions: { web: "recreate" },
    because: /not made by Stackwright/,
  },
  {
    when: "every container is to be replaced",
    given: { policy: { forced: "force_recreate is set", removeOrphans: true } },
    actions: { web: "recreate" },
    because: /force_recreate is set/,
  },
  {
    when: "the image moved under its tag",
    given: { images: { web: "sha256:newer" } },
    actions: { web: "recreate" },
    because: /image app:1 moved from image to newer/,
  },
  {
    when: "the image is the one that runs",
    given: { images: { web: "sha256:image" } },
    actions: { web: "keep" },
  },
  {
    when: "containers are too few",
    given: { desired: [service("web", { expectation: { ...always, replicas: 3 } })] },
    actions: { web: "scale" },
    because: /1 of 3 containers exist/,
  },
  {
    when: "no container is wanted and none exists",
    given: {
      desired: [service("web", { expectation: { ...always, replicas: 0 } })],
      observed: { containers: [] },
    },
    actions: { web: "keep" },
  },
  {
    when: "no task of a swarm's service is wanted, and there is no such service",
    given: {
      desired: [service("web", { expectation: { ...always, replicas: 0 } })],
      observed: { containers: [], idle: [] },
    },
    actions: { web: "create" },
  },
  {
    when: "no task of a swarm's service is wanted, and its service is of another release",
    given: {
      desired: [service("web", { expectation: { ...always, replicas: 0 } })],
      observed: {
        containers: [],
        idle: [{ service: "web", labels: { [LABELS.digest]: "other" } }],
      },
    },
    actions: { web: "recreate" },
  },
  {
    when: "no task of a swarm's service is wanted, and its service is there",
    given: {
      desired: [service("web", { expectation: { ...always, replicas: 0 } })],
      observed: {
        containers: [],
        idle: [{ service: "web", labels: { [LABELS.digest]: service("web").digest } }],
      },
    },
    actions: { web: "keep" },
  },
  {
    when: "no container is wanted and one exists",
    given: { desired: [service("web", { expectation: { ...always, replicas: 0 } })] },
    actions: { web: "scale" },
  },
  {
    when: "a service that is always restarted is stopped",
    given: {
      desired: [service("web", { expectation: always })],
      observed: { containers: [container("web", { state: "exited", exitCode: 0 })] },
    },
    actions: { web: "start" },
    because: /stack-web-1 is exited/,
  },
  {
    when: "a service that may finish has finished",
    given: { observed: { containers: [container("web", { state: "exited", exitCode: 0 })] } },
    actions: { web: "keep" },
  },
  {
    when: "a container was made and never started",
    given: { observed: { containers: [container("web", { state: "created" })] } },
    actions: { web: "start" },
  },
  {
    when: "a container is not to be started by a deployment",
    given: {
      desired: [service("web", { expectation: { ...always, autostart: false } })],
      observed: { containers: [container("web", { state: "created" })] },
    },
    actions: { web: "keep" },
  },
  {
    when: "a container was paused",
    given: {
      desired: [service("web"), service("app", { follows: { web: "shares the network of web" } })],
      observed: { containers: [container("app"), container("web", { state: "paused" })] },
      previous: [service("web"), service("app")],
    },
    actions: { web: "start", app: "keep" },
    because: /container stack-web-1 is paused/,
  },
  {
    when: "a container was renamed",
    given: { desired: [placed()], observed: { containers: [numbered({ name: "mine" })] } },
    actions: { web: "start" },
    because: /container mine was renamed from stack-web-1/,
  },
  {
    when: "a container with a chosen name was renamed",
    given: {
      desired: [placed({ containerName: "site" })],
      observed: { containers: [numbered()] },
    },
    actions: { web: "start" },
    because: /container stack-web-1 was renamed from site/,
  },
  {
    when: "a container was disconnected",
    given: {
      desired: [placed({ networks: ["inner", "outer"] })],
      observed: { containers: [numbered({ networkNames: ["inner", "other"] })] },
    },
    actions: { web: "recreate" },
    because: /container stack-web-1 is not in network outer any more/,
  },
  {
    when: "a job that ended well was disconnected",
    given: {
      desired: [placed({ networks: ["inner"] })],
      observed: {
        containers: [numbered({ networkNames: [], state: "exited", exitCode: 0 })],
      },
    },
    actions: { web: "keep" },
  },
  {
    when: "a network is named by its id, and another one was connected by hand",
    given: {
      desired: [placed({ networks: ["f00d"] })],
      observed: {
        containers: [numbered({ networkNames: ["outer", "proxy"], networkIds: ["f00dcafe", "1"] })],
      },
    },
    actions: { web: "keep" },
  },
  {
    when: "a release does not say where its containers are",
    given: { observed: { containers: [numbered({ name: "mine", networkNames: [] })] } },
    actions: { web: "keep" },
  },
  {
    when: "a followed service is replaced",
    given: {
      desired: [
        service("db", { digest: "db-2" }),
        service("web", { follows: { db: "shares it" } }),
      ],
      observed: { containers: [container("db"), container("web")] },
      previous: [service("db"), service("web")],
    },
    actions: { db: "recreate", web: "recreate" },
    because: /shares it, and db is replaced/,
  },
  {
    when: "a service of ours is no longer wanted",
    given: { observed: { containers: [container("old"), container("web")] } },
    actions: { web: "keep", old: "remove" },
    because: /no longer in the compose files/,
  },
  {
    when: "a service of a swarm without tasks is no longer wanted, and another one is",
    given: {
      desired: [service("web", { expectation: { ...service("web").expectation, replicas: 0 } })],
      observed: { containers: [], idle: [container("old"), container("web")] },
    },
    actions: { web: "keep", old: "remove" },
    because: /no longer in the compose files/,
  },
  {
    when: "such a service is to stay",
    given: {
      observed: { containers: [container("web")], idle: [container("old")] },
      policy: { removeOrphans: false },
    },
    actions: { web: "keep" },
  },
  {
    when: "such a service is a stranger's in a stack that nobody managed",
    given: {
      desired: [],
      observed: { containers: [], idle: [container("old", { labels: {} })] },
      previous: undefined,
    },
    actions: { old: "keep" },
  },
  {
    when: "orphans are to stay",
    given: {
      observed: { containers: [container("old"), container("web")] },
      policy: { removeOrphans: false },
    },
    actions: { web: "keep" },
  },
  {
    when: "a deployment that came to no end has stopped what ran before",
    given: {
      desired: ["web", "batch"].map((name) => service(name)),
      observed: {
        containers: ["web", "batch", "old"].map((name) =>
          container(name, { state: "exited", exitCode: 0 })
        ),
      },
      policy: { removeOrphans: false },
      ranBefore: ["web", "old"],
    },
    actions: { web: "start", batch: "keep" },
    because: /ran before a deployment that came to no end/,
  },
  {
    when: "a replica still runs of what ran before a deployment that came to no end",
    given: {
      desired: [service("web", { expectation: { ...service("web").expectation, replicas: 2 } })],
      observed: {
        containers: [container("web"), container("web", { state: "exited", exitCode: 0 })],
      },
      ranBefore: ["web"],
    },
    actions: { web: "keep" },
  },
  {
    when: "only a stranger's container is in the project",
    given: { observed: { containers: [container("old", { labels: {} }), container("web")] } },
    actions: { web: "keep", old: "keep" },
  },
];

describe("decide()", () => {
  for (const { when, given, actions, because } of TABLE) {
    it(`says ${JSON.stringify(actions)} when ${when}`, () => {
      const plan = decide(input(given));
      assert.deepEqual(
        Object.fromEntries(plan.services.map((each) => [each.name, each.action])),
        actions,
      );
      const changes = plan.services.filter((each) => each.action !== "keep");
      assert.equal(plan.kind, changes.length === 0 ? "skip" : "deploy");
      for (const each of plan.services) {
        assert.ok(each.because.length > 0, `${each.name} has a reason`);
      }
      if (because !== undefined) {
        assert.ok(
          changes.some((each) => each.because.some((reason) => because.test(reason))),
          JSON.stringify(changes),
        );
      }
    });
  }

  it("gives the same plan whatever order the engine lists containers in", () => {
    const containers = [container("b"), container("a"), container("web", { labels: {} })];
    const forward = decide(input({ observed: { containers } }));
    const backward = decide(input({ observed: { containers: [...containers].reverse() } }));
    assert.deepEqual(forward, backward);
  });
});
