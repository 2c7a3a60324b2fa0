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
      "a release that a person puts back removes what came after it",
      { kind: "put_back", deployed: FORMER, images: {}, ran: {} },
      "create db; remove old",
    ],
    [
      "a release that a person puts back runs the image that it ran",
      { kind: "put_back", deployed: FORMER, images: { web: "sha256:older" }, ran: {} },
      "create db; recreate web; remove old",
    ],
    [
      "a release that failed leaves nothing that it added",
      { kind: "taken_back", failed: [...FORMER], removeOrphans: false },
      "create db; remove old",
    ],
  ];
  for (const [what, why, message] of rows) {
    it(what, () => assert.equal(planFor(WANTED, OBSERVED, why).message, message));
  }

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
        { kind: "put_back", deployed, images: older, ran: newer },
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
        const { services } = planFor([web], { containers: [ours("web")] }, why);
        assert.deepEqual(services.map((each) => each.because), [because]);
      });
    }
  });

  it("says of a first release that it is the first", () => {
    const services: readonly ReleaseService[] = [serviceOf("db")];
    const why = { kind: "wanted", deployed: undefined, policy } as const;
    const { services: [db] } = planFor(services, { containers: [] }, why);
    assert.deepEqual(db?.because, ["first deployment"]);
  });
});
