import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LABELS, type ReleaseService } from "../../../src/model/mod.ts";
import { planFor, type Why } from "../../../src/plan/mod.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";
import { serviceOf } from "../deploy/releases.ts";

const policy = { removeOrphans: false };
/** What runs: `web` as wanted, `old` of a release that is gone, `db` missing. */
const OBSERVED = { containers: ["web", "old"].map((name) => ours(name)) };
const WANTED = [serviceOf("db"), serviceOf("web")];
const FORMER = [serviceOf("old"), serviceOf("web")];

function ours(name: string) {
  return runningContainer("shop", name, {
    labels: { [LABELS.manager]: "stackwright", [LABELS.digest]: `${name}-1` },
  });
}

describe("planFor()", () => {
  const rows: readonly (readonly [string, Why, string])[] = [
    [
      "what a source wants leaves orphans where they are to stay",
      { kind: "wanted", deployed: FORMER, policy },
      "create db",
    ],
    [
      "what a source wants removes orphans where it says so",
      { kind: "wanted", deployed: FORMER, policy: { ...policy, removeOrphans: true } },
      "create db; remove old",
    ],
    [
      "what a source wants is replaced by force",
      { kind: "wanted", deployed: FORMER, policy: { ...policy, forced: "asked" } },
      "create db; recreate web",
    ],
    [
      "a name that has moved replaces its service",
      { kind: "wanted", deployed: FORMER, policy, images: { web: "sha256:newer" } },
      "create db; recreate web",
    ],
    ["a repair brings back what is missing and removes nothing", { kind: "repaired" }, "create db"],
    [
      "a rollout that is finished later leaves orphans where it was to leave them",
      { kind: "resumed", deployed: FORMER, removeOrphans: false },
      "create db",
    ],
    [
      "a rollout that is finished later removes orphans where it was to remove them",
      { kind: "resumed", deployed: FORMER, removeOrphans: true },
      "create db; remove old",
    ],
    [
      "a release that a person puts back removes orphans where the deployment does",
      { kind: "put_back", deployed: WANTED, removeOrphans: true, images: {}, ran: {} },
      "create db; remove old",
    ],
    [
      "a release that a person puts back leaves older orphans where they are to stay",
      { kind: "put_back", deployed: WANTED, removeOrphans: false, images: {}, ran: {} },
      "create db",
    ],
    [
      "a release that a person puts back removes what the one that is left had added",
      { kind: "put_back", deployed: FORMER, removeOrphans: false, images: {}, ran: {} },
      "create db; remove old",
    ],
    [
      "a rollback that is finished later removes what the release that is left had added",
      { kind: "resumed", deployed: FORMER, removeOrphans: false, undone: FORMER },
      "create db; remove old",
    ],
    [
      "a release that a person puts back runs the image that it ran",
      {
        kind: "put_back",
        deployed: FORMER,
        removeOrphans: false,
        images: { web: "sha256:older" },
        ran: {},
      },
      "create db; recreate web; remove old",
    ],
    [
      "a release that failed leaves nothing that it added",
      { kind: "taken_back", failed: [...FORMER], removeOrphans: false },
      "create db; remove old",
    ],
  ];
  for (const [what, why, message] of rows) {
    it(what, () => assert.equal(planFor({ services: WANTED }, OBSERVED, why).message, message));
  }

  describe("for services whose profiles are not active", () => {
    const theirs = ["db", "left"].map((name) => runningContainer("shop", name, { labels: {} }));
    const wanted = { services: [serviceOf("web")], inactive: ["db", "old"] };
    const removing = { removeOrphans: true };
    const plans = (why: Why, { containers }: typeof OBSERVED) =>
      planFor(wanted, { containers }, why).services.map(({ name, action, because }) =>
        `${name}: ${action}: ${because}`
      );
    const alone =
      "db: keep: its profile is not active, and Stackwright did not make it: it is left alone";
    const web = "web: keep: its inputs are unchanged";
    const before = { containers: [...OBSERVED.containers, ...theirs] };
    for (
      const [what, why] of [
        ["what a source wants", { kind: "wanted", deployed: FORMER, policy: removing }],
        ["a release that a person puts back", {
          kind: "put_back",
          deployed: FORMER,
          ...removing,
          images: {},
          ran: {},
        }],
        ["a rollout that is finished later", { kind: "resumed", deployed: FORMER, ...removing }],
      ] as const
    ) {
      it(`${what} leaves what others made, and removes what Stackwright did`, () =>
        assert.deepEqual(plans(why, before), [
          web,
          alone,
          "left: remove: the service is no longer in the compose files",
          "old: remove: its profile is not active any more",
        ]));
    }

    it("what others made is no reason for a deployment, nor one that they made all of", () => {
      const why = { kind: "wanted", deployed: wanted.services, policy: removing } as const;
      const { kind } = planFor(wanted, { containers: [ours("web"), ...theirs] }, why);
      assert.equal(kind, "skip");
      const first = { kind: "wanted", deployed: undefined, policy: removing } as const;
      const [web, ...left] = plans(first, { containers: theirs });
      assert.equal(web, "web: create: first deployment");
      assert.deepEqual(left, [
        alone,
        "left: keep: not in the compose files, and not made by Stackwright: kept",
      ]);
    });
  });

  describe("for an image beside a service's own", () => {
    const web = serviceOf("web", { sideImages: ["tool:1"] });
    const [older, newer] = [{ "web/tool:1": "sha256:older" }, { "web/tool:1": "sha256:newer" }];
    const deployed = [web];
    const rows: readonly (readonly [string, Why, readonly string[]])[] = [
      [
        "replaces the service where its name has moved, and says why",
        { kind: "wanted", deployed, policy, images: newer, ran: older },
        ["image tool:1, of a hook or mounted, moved from older to newer"],
      ],
      [
        "replaces it where a person puts a release back that ran another",
        { kind: "put_back", deployed, removeOrphans: false, images: older, ran: newer },
        ["image tool:1, of a hook or mounted, moved from newer to older"],
      ],
      [
        "keeps it where it is the same",
        { kind: "wanted", deployed, policy, images: older, ran: older },
        ["its inputs are unchanged"],
      ],
      [
        "keeps it where nobody knows what it ran, or nobody asked",
        { kind: "wanted", deployed, policy, images: newer },
        ["its inputs are unchanged"],
      ],
    ];
    for (const [what, why, because] of rows) {
      it(what, () => {
        const { services } = planFor({ services: [web] }, { containers: [ours("web")] }, why);
        assert.deepEqual(services.map((each) => each.because), [because]);
      });
    }
  });

  it("says of a first release that it is the first", () => {
    const services: readonly ReleaseService[] = [serviceOf("db")];
    const why = { kind: "wanted", deployed: undefined, policy } as const;
    const { services: [db] } = planFor({ services }, { containers: [] }, why);
    assert.deepEqual(db?.because, ["first deployment"]);
  });
});
