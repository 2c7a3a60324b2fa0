import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { beyondBounds } from "../../src/compose/model_bounds.ts";
import { isSample } from "../fakes/sample.ts";
import { COPIED } from "./copied_models.ts";
import { SATURATED } from "./saturated_models.ts";
import { takesAtMost } from "./processor_time.ts";
import { saturatedOf, SATURATING } from "./saturated_functions.ts";

/** The longest processor time for which one function may keep everything else waiting. */
const MOST_MS = 1000;
const ALL = { ...SATURATED, ...COPIED };
/** The result of work that may refuse, which is right, too: what counts is the time. */
function whateverItSays(work: () => unknown): unknown {
  try {
    const done = work();
    return done instanceof Promise ? done.catch(() => {}) : done;
  } catch {
    return undefined;
  }
}

/** What is tried where not everything is. */
const FEW = ["every list of one service"];
const isFew = isSample || "Bun" in globalThis;

describe("projects that have as much as they may", () => {
  for (const name of isFew ? FEW : Object.keys(ALL)) {
    it(`do not stop the service with ${name}`, async () => {
      const model = { name: "shop", ...ALL[name]?.() };
      assert.equal(beyondBounds(model), undefined);
      assert.ok(JSON.stringify(model).length < 4.5 * 1024 * 1024);
      const made = saturatedOf(model);
      const slow: string[] = [];
      for (const [called, call] of Object.entries(SATURATING)) {
        const work = () => whateverItSays(() => call(made));
        if (!await takesAtMost(MOST_MS, work)) slow.push(called);
      }
      assert.deepEqual(slow, [], `they take longer than ${MOST_MS} ms`);
    });
  }
});

/** Types of what a project has any number of. */
const LARGE =
  /\b(?:ComposeModel|JsonObject|ObservedStack|ReleaseParts|DigestInputs|StackParts|ContainerParts)\b|readonly (?:ReleaseService|ServicePlan|TreeUse|ServiceClaims|HostPort|ObservedContainer|ChangedNetwork)\[\]|\bRelease, "model"/;
const ROOMS = ["compose", "config", "deploy", "plan", "prepare"];

/** What is not called with such projects, and why. */
const EXCUSED: Readonly<Record<string, string>> = {
  writtenData: "asks the disk for each mount",
  othersCame: "compares one name of each container",
  withOldData: "asks the engine for each thing that it looks at",
  withEmptyBeginnings: "asks the engine for each thing that it looks at",
  newVolumes: "asks the engine once, and looks at each mount once",
  sharedPlaces: "looks at each mount once",
  mountsOf: "looks at each mount once",
  saidOfBack: "looks at each service once",
  bringOldData: "asks the engine for each thing that it looks at",
  withMovedMounts: "asks the engine for each thing that it looks at",
  runningModel: "asks the engine for each thing that it looks at",
  othersByService: "looks at each container once",
  idleOrphans: "looks at each container once",
  leftAlone: "looks at each container once",
  withStarted: "looks at each service and container once",
  besideModel: "looks at each service once",
  noteServices: "looks at each service once",
  servicesBuilt: "called with tagsOf and namesBuilt, looks at each service once",
  withBuildTags: "looks at each service once",
  wanted: "is withBuildPaths(), which is tried",
  wantedBuilds: "is withBuildArguments() and withOwnCaches(), which are tried",
  withKnownMounts: "looks at each mount once",
  startAll: "asks the engine for each thing that it looks at",
  stopAll: "asks the engine for each thing that it looks at",
  hooksPassedOver: "looks at each service once",
  othersOrphans: "looks at each container once",
  removedBy: "looks at each service once",
  haltedOrphans: "is clashing(), which is tried, and asks the engine",
  policiesOf: "asks the engine for each thing that it looks at",
  requireRoomBeside: "is clashes(), which is tried",
  requireNoClash: "is claimsOf() and clashes(), which are tried",
  networksThere: "asks the engine for each thing that it looks at",
  lookForDrift: "asks the engine for each thing that it looks at",
  removeNetworks: "asks the engine for each thing that it looks at",
  tryNetworks: "asks the engine for each thing that it looks at",
  imagesToPoint: "asks the engine for each thing that it looks at",
  findOldData: "has pauses of its own",
  startStopped: "asks the engine for each thing that it looks at",
  awaitedJobs: "asks the engine for each thing that it looks at",
  readContents: "asks the engine for each thing that it looks at",
  requireApart: "asks the engine for each thing that it looks at",
  requireNamedMounts: "asks the engine for each thing that it looks at",
  takenByPrograms: "asks the kernel, and looks ports up",
  notNames: "has pauses of its own",
  composeStarts: "called with hasUnmappedFile, for each service",
  requireSafeModel: "asks the engine for each thing that it looks at",
  existingVolumes: "asks the engine once, and looks at each volume once",
  requireOwnNetworks: "asks the engine once, and looks at each network once",
  requireOwnVolumes: "asks the engine once, and looks at each volume once",
  requireImages: "asks the engine for each thing that it looks at",
  requireFilesArrive: "asks the engine for each thing that it looks at",
  refreshSideImages: "asks the engine for each thing that it looks at",
  imagesToRecord: "asks the engine for each thing that it looks at",
  placeOfFile: "looks at one value",
  objectAt: "looks at one value",
  objectsAt: "looks at one value",
  textAt: "looks at one value",
  servicesOf: "looks at one value",
  serviceOf: "looks at one value",
  labelsOf: "looks at one value",
  resourcesOf: "looks at one value",
  allResourcesOf: "looks at two values",
  resourceUses: "looks at one service",
  resourceName: "looks at one value",
  containerName: "looks at one value",
  containerNames: "makes a name for each container",
  imageReference: "looks at one value",
  networksByPriority: "looks at one value",
  fileUses: "looks at one value",
  isValue: "looks at one value",
  ulimits: "looks at one value",
  resourceLimits: "looks at one value",
  objectBase: "looks at one value",
  textMapAt: "looks at one value",
  wordsAt: "looks at one value",
  capabilities: "looks at one value",
  environmentOf: "looks at one value",
  updateRules: "looks at one value",
  requireNoNewNetworks: "looks at one value",
  changedNames: "looks at one value",
  summarise: "looks at one value",
  mapMounts: "looks at one service",
  mapServices: "does to each service what its callers, which are tried, do",
  starting: "compares one value of each service",
  requireNotOurGroup: "compares one value of each service",
  healthBody: "a part of containerWish",
  hostBody: "a part of containerWish",
  mountBodies: "a part of containerWish",
  taskBody: "a part of serviceBody",
  taskContainer: "a part of serviceBody",
  taskMounts: "a part of serviceBody",
  replaceReasons: "a part of planFor",
  withFewReasons: "a part of planFor",
  leftByAdoption: "tried in saturated_stack_test.ts",
  requireFew: "tried in saturated_stack_test.ts",
  conditionState: "called with conditionsOf",
};

describe("whatever reads a project", () => {
  it("is tried with one that has as much as it may, or said why not", async () => {
    const found: string[] = [];
    for (const room of ROOMS) {
      const directory = new URL(`../../src/${room}/`, import.meta.url);
      for (const file of await readdir(directory, { recursive: true })) {
        if (!file.endsWith(".ts")) continue;
        const text = await readFile(new URL(file, directory), "utf8");
        for (const match of text.matchAll(/^export (?:async )?function\*? (\w+)/gm)) {
          const signature = text.slice(match.index, text.indexOf("\n}", match.index));
          const head = signature.slice(0, bodyOf(signature));
          if (LARGE.test(head)) found.push(match[1] ?? "");
        }
      }
    }
    const known = new Set([...Object.keys(SATURATING), ...Object.keys(EXCUSED)]);
    assert.ok(found.length > 100, String(found.length));
    assert.deepEqual(found.filter((name) => !known.has(name)), []);
    // And nobody is excused who is not there any more, or tried all the same.
    const there = new Set(found);
    const tried = Object.keys(EXCUSED).filter((name) => !there.has(name) || name in SATURATING);
    assert.deepEqual(tried, []);
  });
});

/** Where the parameters of a function end. */
function bodyOf(signature: string): number {
  let open = 0;
  for (let at = signature.indexOf("("); at < signature.length; at++) {
    if (signature[at] === "(") open++;
    else if (signature[at] === ")" && --open === 0) return at;
  }
  return signature.length;
}
