import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import {
  type Compose,
  containerLabels,
  containerWish,
  lookForDrift,
  notMapped,
  notMappedResource,
  SERVICE_KEYS,
  tarOf,
  wantedNetworks,
  wantedVolumes,
  withPlainDollars,
} from "../../src/deploy/mod.ts";
import { objectAt, servicesOf } from "../../src/compose/mod.ts";
import { releaseServices } from "../../src/compose/service_digest.ts";
import { asRecord, type JsonRecord } from "../../src/docker/json.ts";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import { COMPOSE_LABELS, type ComposeModel, formatDrift } from "../../src/model/mod.ts";
import { listedDrift } from "../../src/plan/mod.ts";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import {
  type ComposeCommand,
  composePlugins,
  createComposeCommand,
} from "../fakes/compose_command.ts";
import { createComposeProgram } from "../fakes/compose_program.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { comparable, comparableResource } from "./inspected.ts";
import { CHOICES, projectText, randomServices, versionNumber } from "./service_generator.ts";

const never = new AbortController().signal;
const real = await findRealEngine();
/** How many services are tried; `./scripts/test all` tries many. */
const SERVICES = Number(process.env["DIFFERENTIAL_SERVICES"] ?? 24);
const AT_ONCE = 24;
const SEED = Number(process.env["DIFFERENTIAL_SEED"] ?? 1);

for (const plugin of composePlugins()) {
  describe(`containers made by us and by compose (${plugin || "installed"})`, {
    skip: real.unavailable ?? false,
  }, () => {
    for (let from = 0; from < SERVICES; from += AT_ONCE) {
      it(`are the same, services of seed ${SEED + from}`, async () => {
        await ensureBusyboxImage();
        const site = await createSite(plugin);
        try {
          await compare(site, { seed: SEED + from, count: Math.min(AT_ONCE, SERVICES - from) });
        } finally {
          await site.close();
        }
      });
    }
  });
}

describe("values of configs and secrets", { skip: real.unavailable ?? false }, () => {
  it("are in the container before it starts, with owner and mode", async () => {
    await ensureBusyboxImage();
    const site = await createSite("");
    const { engine, project } = site;
    const labels = { [COMPOSE_LABELS.project]: project };
    const body = {
      ...{ Image: BUSYBOX_IMAGE, AttachStdout: true, AttachStderr: true, Labels: labels, Env: [] },
      HostConfig: { NetworkMode: "none" },
    };
    try {
      const wish = { name: `${project}-value`, platform: "", body, connect: {} };
      const id = await engine.makeContainer(wish, never);
      const file = { path: "/new/é/place", content: "déjà vu\n", mode: 0o440, uid: 7, gid: 8 };
      await engine.unpackInto(id, tarOf([file, { ...file, path: "/b", content: "" }], 1e9), never);
      const path = `/containers/${id}/archive`;
      const query = { path: "/new/é/place" };
      const answer = await engine.api.call({ method: "GET", path, query }, never);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer.body) chunks.push(chunk);
      const archive = Buffer.concat(chunks);
      const field = (at: number, length: number) =>
        Number.parseInt(archive.toString("latin1", at, at + length).replace(/[\0 ]+$/, ""), 8);
      assert.deepEqual([field(100, 8) & 0o7777, field(108, 8), field(116, 8)], [0o440, 7, 8]);
      assert.equal(archive.toString("utf8", 512, 512 + field(124, 12)), file.content);
    } finally {
      await site.close();
    }
  });
});

describe("the services that are compared", () => {
  it("have every key that is mapped", () => {
    const missing = Object.keys(SERVICE_KEYS).filter((key) =>
      !["image", "depends_on", "volumes_from"].includes(key) && CHOICES[key] === undefined
    );
    assert.deepEqual(missing, []);
    for (const [key, shape] of Object.entries(SERVICE_KEYS)) {
      if (shape === "all" || key === "depends_on" || key === "devices") continue;
      const inner = "each" in shape ? shape.each : shape.keys;
      const text = JSON.stringify(CHOICES[key]?.map(({ value }) => value));
      // Short forms of a mount or config are printed as these.
      const unseen = Object.keys(inner).filter((name) => !text.includes(`"${name}":`));
      assert.deepEqual(unseen, [], key);
    }
  });
});

/** An engine, a compose, and a project of its own. */
interface Site {
  readonly engine: EngineClient;
  readonly command: ComposeCommand;
  readonly compose: Compose;
  readonly host: string;
  readonly directory: string;
  readonly project: string;
  close(): Promise<void>;
}

async function createSite(plugin: string): Promise<Site> {
  if (real.unavailable !== undefined) throw new Error(real.unavailable);
  const command = await createComposeCommand(plugin);
  const directory = await fs.mkdtemp(join(tmpdir(), "swt-"));
  await fs.mkdir(join(directory, "exists"));
  await fs.writeFile(join(directory, "s.txt"), "s");
  await fs.writeFile(join(directory, "some.env"), "FROM_FILE=1\n");
  await fs.writeFile(join(directory, "some.labels"), "from.file=1\n");
  const host = `unix://${real.socketPath}`;
  const engine = createEngine({ host });
  const project = `swt-${crypto.randomUUID().slice(0, 8)}`;
  const compose = createComposeProgram(command, directory, { DOCKER_HOST: host });
  return {
    engine,
    command,
    compose,
    host,
    directory,
    project,
    async close() {
      await removeAll({ engine, project });
      engine.close();
      await command.close();
      await fs.rm(directory, { recursive: true });
    },
  };
}

async function compare(
  site: Site,
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<void> {
  const { project, directory, compose, command, host } = site;
  const composeVersion = await compose.version(never);
  const version = versionNumber(composeVersion);
  const { apiVersion: api } = await site.engine.info(never);
  const services = randomServices(BUSYBOX_IMAGE, { seed, count, version, api, prefix: project });
  const file = join(directory, "compose.json");
  await fs.writeFile(file, projectText(project, services));
  const files = [file];
  const call = { name: project, directory, files, envFiles: [], profiles: ["*"] };
  const rendered = await compose.render({ project: call, variables: {} }, never);
  const model = withPlainDollars(rendered);

  const up = ["--profile", "*", "-p", project, "--project-directory", directory, "-f", file];
  const result = await command.run(host, [...up, "up", "--no-start", "--no-build"]);
  assert.equal(result.code, 0, result.output);
  const theirs = await look(site);
  await removeAll(site);
  await make(site, model, { files, composeVersion });
  const ours = await look(site);
  for (let count = 0; count < LOOKS; count++) {
    assert.deepEqual(await driftOf(site, rendered), []);
  }

  const unmapped = Object.keys(servicesOf(model)).filter((name) => notMapped(model, name));
  assert.deepEqual(unmapped.map((name) => notMapped(model, name)), []);
  assert.equal(notMappedResource(model), undefined);
  assert.deepEqual(Object.keys(ours), Object.keys(theirs));
  const different = Object.entries(ours).flatMap(([name, mine]) => {
    const service = name.match(/r\d{3}/)?.[0] ?? "";
    const found = differences(mine, theirs[name] ?? {});
    return found.length === 0 ? [] : [{ name, found, service: services[service] }];
  });
  assert.equal(different.length, 0, JSON.stringify(different, null, 1));
}

/** How often what nobody changed is looked at. */
const LOOKS = 10;

/** What seems to be changed by hand of the site's containers. */
async function driftOf({ engine, project }: Site, model: ComposeModel): Promise<string[]> {
  const containers = await engine.listContainers({ [COMPOSE_LABELS.project]: project }, never);
  const services = releaseServices({
    ...{ rendered: model, model, uses: [], environment: {} },
    ...{ variables: "", buildArguments: "", buildsImages: true },
    inPlace: { uses: new Set(), signals: new Map(), warnings: [] },
    contentOf: () => "",
    digest: (text) => text,
  });
  const drift = [
    // Nothing was started.
    ...listedDrift({ services }, { containers }).filter(({ field }) => field !== "state"),
    ...(await lookForDrift(engine, { model, services }, { containers }, never)).fields,
  ];
  return drift.map(formatDrift);
}

function differences(
  ours: Readonly<Record<string, unknown>>,
  theirs: Readonly<Record<string, unknown>>,
): string[] {
  const paths = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort();
  return paths.filter((path) => ours[path] !== theirs[path])
    .map((path) => `${path}: ours ${ours[path]}, of compose ${theirs[path]}`);
}

/** Makes everything of a model as the executor does, and starts nothing. */
async function make(
  { engine, project, directory }: Site,
  model: ComposeModel,
  { files, composeVersion }: { readonly files: readonly string[]; readonly composeVersion: string },
): Promise<void> {
  const { apiVersion: api } = await engine.info(never);
  const networks = wantedNetworks(model, api);
  for (const { body } of networks) await engine.makeNetwork(body, never);
  for (const { body } of wantedVolumes(model)) await engine.makeVolume(body, never);
  const ids = new Map<string, string>();
  const idOf = (service: string) => ids.get(service) ?? "";
  const imageId = await engine.imageId(BUSYBOX_IMAGE, never) ?? "";
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    const { replicas } = objectAt(definition, "deploy");
    const count = Number(definition["scale"] ?? replicas ?? 1);
    for (let number = 1; number <= count; number++) {
      const base = { model, service, number, idOf };
      const labels = containerLabels({
        ...base,
        project,
        imageId,
        directory,
        files,
        composeVersion,
      });
      const wish = containerWish({
        ...base,
        api,
        labels,
        variables: {},
        inherited: [],
        imageVolumes: new Set(),
      });
      const id = await engine.makeContainer(wish, never);
      if (number === 1) ids.set(service, id);
    }
  }
}

async function get({ engine }: Pick<Site, "engine">, path: string): Promise<JsonRecord> {
  return asRecord(await engine.api.json({ method: "GET", path }, never));
}

/** Everything of the project by kind and name. */
async function look(site: Site): Promise<Record<string, Record<string, unknown>>> {
  const { engine, project } = site;
  const labels = { [COMPOSE_LABELS.project]: project };
  const containers = await engine.listContainers(labels, never);
  const names = new Map(containers.map((each) => [each.id, each.name]));
  for (const each of await engine.listNetworks(labels, never)) names.set(each.id, each.name);
  const nameOf = (id: string) => names.get(id) ?? "an id";
  const seen: Record<string, Record<string, unknown>> = {};
  for (const { id, name } of containers) {
    seen[`container ${name}`] = comparable(await get(site, `/containers/${id}/json`), nameOf);
  }
  for (const { id, name } of await engine.listNetworks(labels, never)) {
    seen[`network ${name}`] = comparableResource(await get(site, `/networks/${id}`));
  }
  for (const { name } of await engine.listVolumes(labels, never)) {
    if (/^[0-9a-f]{64}$/.test(name)) continue;
    seen[`volume ${name}`] = comparableResource(await get(site, `/volumes/${name}`));
  }
  return Object.fromEntries(Object.entries(seen).sort(([a], [b]) => a < b ? -1 : 1));
}

async function removeAll({ engine, project }: Pick<Site, "engine" | "project">): Promise<void> {
  const labels = { [COMPOSE_LABELS.project]: project };
  for (const { id } of await engine.listContainers(labels, never)) {
    await engine.removeContainer(id, { force: true, volumes: true }, never);
  }
  for (const { id } of await engine.listNetworks(labels, never)) {
    await engine.removeNetwork(id, never);
  }
  for (const { name } of await engine.listVolumes(labels, never)) {
    await engine.removeVolume(name, never);
  }
}
