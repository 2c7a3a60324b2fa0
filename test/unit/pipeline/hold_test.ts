import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseDeployments } from "../../../src/config/mod.ts";
import { Compose } from "../../../src/deploy/mod.ts";
import {
  askingSource,
  isStackwrightError,
  LABELS,
  type ObservedContainer,
  type Release,
  type SourceRequest,
  stackKey,
} from "../../../src/model/mod.ts";
import { decideHeld, type PipelineParts } from "../../../src/pipeline/mod.ts";
import { releaseFailedBefore } from "../../../src/pipeline/hold.ts";
import type { Hold } from "../../../src/plan/mod.ts";
import { createSyncWindows } from "../../../src/plan/mod.ts";
import { createImages, RenderedModels, type Target } from "../../../src/prepare/mod.ts";
import { InstanceKey, Ledger } from "../../../src/record/mod.ts";
import {
  createFairLimiter,
  createIds,
  createLimiter,
  createRedactor,
  createTurns,
  createWatchedLock,
  noMeter,
  Shares,
  systemFiles,
} from "../../../src/system/mod.ts";
import { createExternalSecrets } from "../../../src/secrets/mod.ts";
import { NewestCommits } from "../../../src/source/mod.ts";
import { createFakeClock } from "../../fakes/fake_clock.ts";
import { createMemoryEngine, runningContainer } from "../../fakes/memory_engine.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";
import { releaseOf, serviceOf } from "../deploy/releases.ts";

const SHOP = stackKey("", "shop");
const DEPLOYED = releaseOf("old", [serviceOf("db"), serviceOf("web")]);
const SIGNAL = new AbortController().signal;
const HOLD: Hold = { reason: "paused", message: "deployment shop is paused", services: [] };

function ours(name: string, more: Partial<ObservedContainer> = {}): ObservedContainer {
  return runningContainer("shop", name, {
    ...more,
    labels: {
      [LABELS.manager]: "stackwright",
      [LABELS.sourceName]: DEPLOYED.revision.source.name,
      [LABELS.digest]: `${name}-1`,
      ...more.labels,
    },
  });
}

/** A stack whose release `old` is deployed, and what pulls were made. */
async function withShop(
  work: (shop: Awaited<ReturnType<typeof createShop>>) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "swt-hold-"));
  const shop = createShop(directory);
  try {
    await work(shop);
  } finally {
    shop.parts.ledger.close();
    await rm(directory, { recursive: true, force: true });
  }
}

function createShop(directory: string) {
  const clock = createFakeClock();
  const key = new InstanceKey(new Uint8Array(32).fill(7));
  const log = createRecordingLog();
  const engine = createMemoryEngine([ours("db"), ours("web")]);
  engine.images = { "db:1": "sha256:db", "web:1": "sha256:web" };
  const commands: string[] = [];
  const unused = () => assert.fail("a held target needs this of no source");
  const ledger = new Ledger(join(directory, "state.db"), {
    key,
    clock,
    ids: createIds(clock),
    redact: String,
  });
  const shop = {
    clock,
    engine,
    ledger,
    commands,
    materialise: () => Promise.resolve("/trees/old"),
  };
  const compose = new Compose({
    commands: {
      run({ argv }) {
        commands.push(argv.slice(argv.indexOf("pull")).join(" "));
        return Promise.resolve({ code: 0, stdout: new Uint8Array(), stderr: "" });
      },
      start: unused,
    },
    programEnvironment: {},
    log,
    scratch: { files: systemFiles, prefix: "/nowhere/" },
  });
  const secrets = createExternalSecrets({ provider: undefined, redactor: createRedactor() });
  const about = { meter: noMeter, secrets, files: systemFiles, clock, log };
  const parts: PipelineParts = {
    ...about,
    host: {
      engine,
      info: unused,
      compose,
      backend: () => ({ up: unused }),
      images: createImages({
        ...about,
        engine,
        compose,
        commands: { run: unused },
        pulls: { begin: () => () => {}, all: () => [], forget: () => {} },
        programEnvironment: {},
        clientConfigFile: join(directory, "none.json"),
      }),
      sharesFiles: true,
      isHere: () => Promise.resolve(true),
      copiesFiles: false,
      dataDir: directory,
      own: () => Promise.resolve(undefined),
      localPath: unused,
    },
    hosts: { of: unused, has: unused },
    listeners: [],
    source: {
      resolve: unused,
      lastKnown: unused,
      read: unused,
      entries: unused,
      list: unused,
      isAncestor: unused,
      materialise: () => shop.materialise(),
      close: unused,
    },
    trees: { collect: unused },
    rendered: new RenderedModels(),
    imagesAhead: new Map(),
    turns: createTurns(clock),
    handedOver: () => new Set(),
    encrypted: {
      reveal: () => Promise.resolve({ identities: new Map(), secrets: new Set(), failures: [] }),
    },
    ledger,
    key,
    commands: { run: unused, start: unused },
    windows: createSyncWindows([]),
    mentioned: new Set(),
    newest: new NewestCommits(ledger.found, clock),
    preparing: createLimiter(1),
    shares: new Shares(clock, 1),
    deploying: createLimiter(1),
    looks: createFairLimiter(1),
    stackLock: createWatchedLock(),
    options: {
      dataDir: directory,
      allowLocalRepositoryUrl: false,
      configBaseDir: ".",
      passedVariables: {},
      cloneDepth: 0,
      rollback: true,
      watchMs: 2000,
      configRetention: 0,
      secretRetention: 0,
      imageRetention: 0,
      filesRetention: 0,
      queuesDeferred: false,
      polled: [],
      nextPoll: () => undefined,
      protectedPaths: [],
    },
  };
  deploy(ledger, DEPLOYED);
  return { ...shop, parts, shop };
}

function deploy(ledger: Ledger, release: Release): void {
  ledger.succeed(ledger.beginDeploy(release), { db: "sha256:db", web: "sha256:web" }, "good");
}

function targetOf(more: Partial<Target> = {}): Target {
  const [declared] = parseDeployments("name: shop\n", { file: "x.yaml", trusted: false });
  assert.ok(declared);
  return {
    key: SHOP,
    declared,
    deployment: declared.deployment,
    revision: { ...DEPLOYED.revision, id: "new" },
    configuration: { ...DEPLOYED.revision, id: "new" },
    configTarget: "",
    trigger: "poll",
    origin: "automatic",
    progress: () => {},
    ...more,
  };
}

/** The decision as a short text. */
async function decided(parts: PipelineParts, target = targetOf()): Promise<string> {
  const decision = await decideHeld(parts, target, HOLD, SIGNAL);
  return decision.kind === "skip"
    ? `skip: ${decision.hold.message}`
    : `repair release ${decision.recorded.number}: ${decision.plan.message}`;
}

const ONLY_HELD = "skip: deployment shop is paused";

describe("decideHeld()", () => {
  it("leaves a stack alone of which everything runs", () =>
    withShop(async ({ parts, engine }) => {
      assert.equal(await decided(parts), ONLY_HELD);
      assert.deepEqual(engine.calls, []);
    }));

  it("leaves a stack alone that has no release, or one of another owner", () =>
    withShop(async ({ parts, engine, ledger }) => {
      engine.containers = [];
      const { source } = DEPLOYED.revision;
      const other = { ...DEPLOYED.revision, source: { ...source, name: "h.example/o/other" } };
      assert.equal(await decided(parts, targetOf({ configuration: other })), ONLY_HELD);
      const moved = await decided(parts, targetOf({ revision: other }));
      assert.equal(moved, "repair release 1: create db, web");
      ledger.destroyed(ledger.beginDestroy(SHOP, {}), "gone");
      assert.equal(await decided(parts), ONLY_HELD);
    }));

  it("leaves what runs alone that is a former owner's", () =>
    withShop(async ({ parts, engine, ledger }) => {
      engine.containers = [];
      const { source } = DEPLOYED.revision;
      const heirs = { ...DEPLOYED.revision, source: { ...source, name: "h.example/o/heir" } };
      ledger.handOver(SHOP, { source: heirs.source.name, reference: "" });
      const target = targetOf({ configuration: heirs });
      assert.equal(await decided(parts, target), ONLY_HELD);
      assert.deepEqual(engine.calls, []);
      ledger.handOver(SHOP, { source: source.name, reference: "" });
      assert.equal(await decided(parts), "repair release 1: create db, web");
    }));

  const drifts: readonly (readonly [string, ObservedContainer[], string | RegExp])[] = [
    ["a missing container", [ours("db")], "create web"],
    ["all containers missing", [], "create db, web"],
    ["a stopped one", [ours("db"), ours("web", { state: "exited", exitCode: 1 })], "start web"],
    [
      "one container too many",
      [ours("db"), ours("web"), ours("web", { id: "second", name: "shop-web-2" })],
      "scale web",
    ],
    [
      "a container of another configuration",
      [ours("db"), ours("web", { labels: { [LABELS.digest]: "else" } })],
      // What no release of ours made.
      /^repair release 1: recreate web; another Stackwright.* made container shop-web-1/,
    ],
  ];
  for (const [what, containers, message] of drifts) {
    it(`repairs ${what} of the release that is deployed`, () =>
      withShop(async ({ parts, engine }) => {
        engine.containers = containers;
        const said = typeof message === "string" ? `repair release 1: ${message}` : message;
        const decision = await decided(parts);
        if (typeof said === "string") assert.equal(decision, said);
        else assert.match(decision, said);
        assert.deepEqual(engine.calls, [], "nothing is touched by deciding");
      }));
  }

  it("removes no service, whoever made it", () =>
    withShop(async ({ parts, engine }) => {
      engine.containers.push(ours("more"));
      assert.equal(await decided(parts), ONLY_HELD);
    }));

  it("leaves the mixed state of another release that failed, not a failed repair", () =>
    withShop(async ({ parts, engine, ledger }) => {
      engine.containers = [ours("db")];
      ledger.fail(ledger.beginDeploy(releaseOf("bad", [serviceOf("web")])), "failed", "bad");
      assert.equal(await decided(parts), ONLY_HELD);
      deploy(ledger, DEPLOYED);
      ledger.fail(ledger.beginDeploy(DEPLOYED), "failed", "no luck");
      assert.equal(await decided(parts), "repair release 3: create web");
    }));

  it("is not kept by the failure of another release, and does not forget it", () =>
    withShop(async ({ parts, engine, ledger, clock }) => {
      engine.containers = [ours("db")];
      const failure = {
        release: "other",
        source: askingSource(DEPLOYED),
        message: "no",
        at: clock.now(),
        automatic: true,
      };
      ledger.failures.fail(SHOP, failure);
      const decision = await decideHeld(parts, targetOf(), HOLD, SIGNAL);
      assert.deepEqual([decision.kind, decision.kind === "repair" && decision.remembers], [
        "repair",
        false,
      ]);
    }));

  it("waits after a repair that failed, but not when a person asks", () =>
    withShop(async ({ parts, engine, ledger, clock }) => {
      engine.containers = [ours("db")];
      ledger.failures.fail(SHOP, {
        release: DEPLOYED.digest,
        source: askingSource(DEPLOYED),
        message: "no",
        at: clock.now(),
        automatic: true,
      });
      assert.match(await decided(parts), /needs create web, which failed before/);
      assert.match(await decided(parts, targetOf({ origin: "manual" })), /^repair/);
      await clock.advance(10_000);
      assert.match(await decided(parts), /^repair/);
    }));

  it("stays held when the engine does not answer, and when the files are gone", () =>
    withShop(async ({ parts, engine, shop }) => {
      engine.onList = () => {
        throw new Error("no engine");
      };
      assert.equal(await decided(parts), `${ONLY_HELD}; whether it runs is not known: no engine`);
      engine.onList = () => {};
      engine.containers = [ours("db")];
      shop.materialise = () => Promise.reject(new Error("gone"));
      assert.match(await decided(parts), /release 1 needs create web, but its files are neither/);
    }));

  it("fetches an image that is gone, leaves a name that moved, and refuses what was built", () =>
    withShop(async ({ parts, engine, ledger, commands }) => {
      engine.containers = [];
      engine.images = { "db:1": "sha256:other", "sha256:db": "sha256:db" };
      assert.match(await decided(parts), /^repair/);
      // Nobody builds it here: its container is made by its id.
      assert.deepEqual(engine.calls, []);
      assert.deepEqual(commands.map((each) => each.split(" ").at(-1)), ["web"]);
      deploy(ledger, releaseOf("old", [serviceOf("db"), serviceOf("web", { builds: true })]));
      await assert.rejects(
        decided(parts),
        (error) =>
          isStackwrightError(error, "build_failed") && /web:1.* is gone/.test(error.message),
      );
    }));

  it("refuses where another source took the name", () =>
    withShop(async ({ parts, engine }) => {
      engine.containers = [ours("db", { labels: { [LABELS.sourceName]: "h.example/o/thief" } })];
      await assert.rejects(decided(parts), (error) => isStackwrightError(error, "conflict"));
    }));
});

describe("releaseFailedBefore()", () => {
  it("says when what failed is tried again, and whether anything does that by itself", () =>
    withShop(({ parts, ledger, clock }) => {
      const failure = { release: "bad", source: DEPLOYED.revision.source.name, automatic: true };
      ledger.failures.fail(SHOP, { ...failure, message: "web ended", at: clock.now() });
      const place = { kind: "git" as const, url: "https://h.example/o/r", reference: "main" };
      const request: SourceRequest = { ...place, target: "", deployments: [] };
      const said = (next: Date | undefined, polled: readonly SourceRequest[]) => {
        const options = { ...parts.options, polled, nextPoll: () => next };
        return releaseFailedBefore({ ...parts, options }, targetOf(), "bad", request);
      };
      const known = "; this release failed once (web ended); ";
      const timed = `${known}the first poll or webhook after 2026-03-10T11:00:10Z tries it again`;
      assert.equal(
        said(undefined, [request]),
        `${known}nothing tries it again by itself, only a push or a person does`,
      );
      assert.equal(said(clock.now(), [request]), timed);
      assert.equal(said(undefined, []), timed, "it comes by webhooks");
      return Promise.resolve();
    }));
});
