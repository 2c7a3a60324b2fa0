import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { errors, LABELS, MANAGER, STACK_NAMESPACE, stackKey } from "../../../src/model/mod.ts";
import type { PipelineParts } from "../../../src/pipeline/parts.ts";
import { requireOwnership } from "../../../src/pipeline/stack_owner.ts";
import type { Target } from "../../../src/prepare/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryLedger } from "../../fakes/memory_ledger.ts";
import { releaseOf } from "../record/releases.ts";

const KEY = stackKey("", "shop");
const OURS = releaseOf(KEY, "a".repeat(40)).revision.source.name;
const THEIRS = "host/them/app";
const labels = (source: string) => ({
  [STACK_NAMESPACE]: "shop",
  [LABELS.manager]: MANAGER,
  [LABELS.sourceName]: source,
  [LABELS.sourceConfiguration]: source,
});

const FOUND = "host/found/apps";
const FROM_ELSEWHERE = /from host\/them\/app, so .* not deployed from .* where it was discovered/;
const POLICY = { delete: false, removeVolumes: false, removeImages: false };

/** Asks for the stack beside a swarm with a secret of that name; without a leader it tells none. */
async function ask(
  { ran, as, of, isAdopted = false, found, volume, kept }: {
    ran: "containers" | "swarm" | "never";
    as: "containers" | "swarm";
    of: string | "no leader";
    isAdopted?: boolean;
    /** The repository in which the owner's configuration discovered the stack. */
    found?: string;
    /** What a volume of the stack's name was deployed from. */
    volume?: string;
    /** What a stack was deployed from whose data a destroy kept for another owner. */
    kept?: string;
  },
) {
  const ledger = createMemoryLedger(createFakeClock());
  const owner = { source: OURS, reference: "" };
  ledger.owners.settle(KEY, owner);
  if (isAdopted) ledger.handOver(KEY, owner);
  const release = releaseOf(KEY, "a".repeat(40), ran === "swarm" ? { swarm: {} } : {});
  if (ran !== "never") ledger.succeed(ledger.beginDeploy(release), {}, "done");
  const parts = {
    ledger,
    options: { reachedAs: () => [], dataDir: "/data" },
    files: {
      readIfExists: () =>
        Promise.resolve(
          kept && new TextEncoder().encode(JSON.stringify({
            live: { files: {}, directories: [] },
            keptFor: { source: "host/former", reference: "", repository: kept },
          })),
        ),
    },
    host: {
      engine: {
        info: () => Promise.resolve({ swarm: "manager" }),
        listVolumes: () =>
          Promise.resolve(volume ? [{ name: "shop_data", labels: labels(volume) }] : []),
        listNetworks: () => Promise.resolve([]),
        swarm: {
          objects: (kind: string) => {
            const leaderless = "500 rpc error: The swarm does not have a leader.";
            if (of === "no leader") return Promise.reject(errors.engine_refused(leaderless));
            const name = "shop_key_12345678";
            const secret = { id: "1", name, version: 1, labels: labels(of) };
            return Promise.resolve(kind === "secrets" ? [secret] : []);
          },
        },
      },
    },
  };
  const target = {
    ...{ key: KEY, origin: "automatic", configuration: release.revision },
    ...(as === "swarm" ? { swarm: {} } : {}),
    ...(found && {
      discovered: { key: KEY, owner, directory: "shop", repository: found, policy: POLICY },
    }),
  };
  const web = { name: "shop-web-1", labels: labels(OURS) };
  await requireOwnership(
    parts as unknown as PipelineParts,
    target as unknown as Target,
    { containers: ran === "never" ? [] : [web] } as unknown as Parameters<
      typeof requireOwnership
    >[2],
    new AbortController().signal,
  );
}

describe("requireOwnership()", () => {
  const refused = { code: "conflict", message: /has a secret of host\/them\/app/ };

  it("refuses a first deployment where something of the name is another's, if the swarm tells", async () => {
    for (const as of ["containers", "swarm"] as const) {
      await assert.rejects(ask({ ran: "never", as, of: THEIRS }), refused);
      await ask({ ran: "never", as, of: OURS });
    }
    await ask({ ran: "never", as: "containers", of: "no leader" });
  });

  it("asks again when containers become a swarm's stack: it may have had no leader when they began", async () => {
    await assert.rejects(ask({ ran: "containers", as: "swarm", of: THEIRS }), refused);
    await assert.rejects(ask({ ran: "containers", as: "swarm", of: "no leader" }), {
      code: "engine_refused",
    });
    await ask({ ran: "containers", as: "swarm", of: OURS });
    await ask({ ran: "containers", as: "swarm", of: THEIRS, isAdopted: true });
  });

  it("asks no more of a stack that goes on as it was", async () => {
    for (const how of ["containers", "swarm"] as const) {
      await ask({ ran: how, as: how, of: THEIRS });
    }
  });

  it("gives a repository in which a stack is discovered that was handed over nothing from elsewhere", async () => {
    const given = { ran: "never", as: "containers", isAdopted: true } as const;
    for (const volume of [THEIRS, undefined]) {
      for (const [of, kept] of [[FOUND, THEIRS], [THEIRS, FOUND], [FOUND, FOUND]] as const) {
        const there = { ...given, of, kept, ...(volume && { volume }) };
        await ask(there);
        const found = ask({ ...there, found: FOUND });
        if (volume === undefined && of === kept) await found;
        else await assert.rejects(found, { code: "conflict", message: FROM_ELSEWHERE });
      }
    }
  });
});
