import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { tarOf } from "../../src/deploy/mod.ts";
import type { EngineClient } from "../../src/docker/mod.ts";
import { asRecord, asText } from "../../src/docker/json.ts";
import { isStackwrightError, type ObservedContainer } from "../../src/model/mod.ts";

/** What a container of the suite shall do once it is started. */
export interface Script {
  /** Ends at once with this exit code after writing `out` and `err`; runs when absent. */
  readonly exit?: number;
  /** Result of its health check; without one when absent. */
  readonly health?: "healthy" | "unhealthy";
  /** Name of a volume to mount. */
  readonly volume?: string;
  readonly isTerminal?: boolean;
}

/** One engine under test. */
export interface EngineFixture {
  readonly engine: EngineClient;
  /** Reference of an image that is there. */
  readonly image: string;
  /** What a container of that name and script is created with, besides name, image and labels. */
  prepare(name: string, script: Script): Readonly<Record<string, unknown>>;
  /** Called after a container that exits was started: lets a fake write what a real one wrote. */
  started(id: string, script: Script): void;
  close(): Promise<void>;
}

const LABEL = "stackwright.test";
const NO_SIGNAL = new AbortController().signal;

/** What must hold for every engine, however it is implemented. */
export function engineSuite(title: string, open: () => Promise<EngineFixture>): void {
  describe(`Engine contract: ${title}`, () => {
    const label = `suite-${crypto.randomUUID().slice(0, 8)}`;
    let fixture: EngineFixture;
    let engine: EngineClient;
    before(async () => {
      fixture = await open();
      engine = fixture.engine;
    });
    after(async () => {
      for (const each of await engine.listContainers({ [LABEL]: label }, NO_SIGNAL)) {
        await engine.removeContainer(each.id, { force: true, volumes: true }, NO_SIGNAL);
      }
      await fixture.close();
    });

    async function create(name: string, script: Script = {}): Promise<string> {
      const answer = await engine.api.json({
        method: "POST",
        path: "/containers/create",
        query: { name: `${label}-${name}` },
        json: {
          Image: fixture.image,
          Labels: { [LABEL]: label, case: name, "com.docker.compose.service": name },
          HostConfig: {
            Init: true,
            Binds: script.volume === undefined ? [] : [`${script.volume}:/volume`],
          },
          Tty: script.isTerminal === true,
          ...fixture.prepare(`${label}-${name}`, script),
        },
      }, NO_SIGNAL);
      return asText(asRecord(answer)["Id"]);
    }
    async function run(name: string, script: Script = {}): Promise<string> {
      const id = await create(name, script);
      await engine.startContainer(id, NO_SIGNAL);
      fixture.started(id, script);
      return id;
    }
    async function observe(name: string): Promise<ObservedContainer> {
      const [found, ...more] = await engine.listContainers(
        { [LABEL]: undefined, case: name },
        NO_SIGNAL,
      );
      assert.ok(found !== undefined && more.length === 0, `exactly one container of case ${name}`);
      return found;
    }
    async function until(name: string, holds: (seen: ObservedContainer) => boolean) {
      for (let attempt = 0; attempt < 2400; attempt++) {
        const seen = await observe(name);
        if (holds(seen)) return seen;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return assert.fail(`container of case ${name} stays ${JSON.stringify(await observe(name))}`);
    }
    const refused = (pattern: RegExp) => (error: unknown) =>
      isStackwrightError(error, "engine_refused") && pattern.test(error.message);

    it("info() names the engine and an API version both sides speak", async () => {
      const info = await engine.info(NO_SIGNAL);
      assert.match(info.apiVersion, /^1\.\d+$/);
      assert.notEqual(info.id, "");
      assert.notEqual(info.version, "");
      assert.equal(info.swarm, "inactive");
    });

    it("listContainers() shows a created container with name, service, image and labels", async () => {
      const id = await create("created");
      const seen = await observe("created");
      assert.equal(seen.id, id);
      assert.equal(seen.name, `${label}-created`);
      assert.equal(seen.service, "created");
      assert.equal(seen.state, "created");
      assert.equal(seen.health, "none");
      assert.equal(seen.exitCode, undefined);
      assert.equal(seen.imageId, await engine.imageId(fixture.image, NO_SIGNAL));
      assert.equal(seen.labels[LABEL], label);
    });

    it("listContainers() finds nothing when one of the labels differs", async () => {
      await create("labelled");
      const labels = { [LABEL]: label, case: "other" };
      assert.deepEqual(await engine.listContainers(labels, NO_SIGNAL), []);
    });

    for (const code of [0, 3]) {
      it(`listContainers() shows exit code ${code} of a container that ended`, async () => {
        await run(`exit${code}`, { exit: code });
        const seen = await until(`exit${code}`, (each) => each.state === "exited");
        assert.equal(seen.exitCode, code);
        assert.equal(seen.health, "none");
      });
    }

    for (const health of ["healthy", "unhealthy"] as const) {
      it(`listContainers() and inspectContainer() show a container that is ${health}`, async () => {
        const id = await run(health, { health });
        const seen = await until(health, (each) => each.health !== "starting");
        assert.equal(seen.health, health);
        const details = await engine.inspectContainer(id, NO_SIGNAL);
        assert.equal(details?.container.health, health);
      });
    }

    it("inspectContainer() agrees with the list and is undefined for none", async () => {
      const id = await run("inspected");
      const details = await engine.inspectContainer(`${label}-inspected`, NO_SIGNAL);
      const { binds, ...observed } = await observe("inspected");
      assert.deepEqual([binds, details?.mounts], [[], []]);
      // A list has only those labels that are used.
      const labels = { ...details?.container.labels, ...observed.labels };
      assert.deepEqual(details?.container.labels, labels);
      assert.deepEqual({ ...details?.container, labels: {} }, { ...observed, labels: {} });
      assert.equal(details?.container.id, id);
      assert.ok(details?.startedAt instanceof Date);
      assert.equal(await engine.inspectContainer(`${label}-none`, NO_SIGNAL), undefined);
    });

    it("listContainers() tells of binds what inspectContainer() does, of everybody's nothing", async () => {
      const project = { "com.docker.compose.project": label };
      const binds = ["/tmp/:/tmp-too/:ro", "/usr/../var:/var-too", `${label}-bound:/volume`];
      const made = async (name: string, HostConfig: Record<string, unknown>) => {
        const json = {
          Image: fixture.image,
          Labels: { [LABEL]: label, ...project, "com.docker.compose.container-number": "1" },
          HostConfig,
          Volumes: { "/anonymous": {} },
          ...fixture.prepare(`${label}-${name}`, {}),
        };
        const query = { name: `${label}-${name}` };
        const request = { method: "POST", path: "/containers/create", query, json } as const;
        return asText(asRecord(await engine.api.json(request, NO_SIGNAL))["Id"]);
      };
      const id = await made("binds", {
        Binds: binds,
        Mounts: [{ Type: "bind", Source: "/etc", Target: "/etc-too", ReadOnly: true }],
      });
      const told = async () => {
        const [seen] = await engine.listContainers(project, NO_SIGNAL);
        const { mounts = [] } = await engine.inspectContainer(id, NO_SIGNAL) ?? {};
        const binds = mounts.filter(({ kind }) => kind === "bind")
          .map(({ source, destination, writable }) => ({ source, destination, writable }));
        const byPlace = (a: { destination: string }, b: { destination: string }) =>
          a.destination.localeCompare(b.destination);
        assert.deepEqual(seen?.binds?.toSorted(byPlace), binds.sort(byPlace));
        return binds.map(({ source, writable }) => `${source} ${writable}`);
      };
      assert.equal((await told()).length, 3);
      await engine.startContainer(id, NO_SIGNAL);
      const running = await told();
      await engine.killContainer(id, "SIGKILL", NO_SIGNAL);
      assert.deepEqual(await told(), running);
      const [one] = await engine.listContainers({ [LABEL]: undefined }, NO_SIGNAL);
      assert.equal(one?.binds, undefined);
      await engine.removeContainer(id, { force: true, volumes: true }, NO_SIGNAL);
      await engine.removeVolume(`${label}-bound`, NO_SIGNAL);
    });

    it("containerLogs() returns the last lines of both streams", async () => {
      const id = await run("logs", { exit: 0 });
      await engine.waitContainer(id, NO_SIGNAL);
      assert.deepEqual((await engine.containerLogs(id, 10, NO_SIGNAL)).sort(), ["err", "out"]);
      assert.equal((await engine.containerLogs(id, 1, NO_SIGNAL)).length, 1);
    });

    it("containerLogs() returns the lines of a terminal without the times in front", async () => {
      const id = await run("terminal", { exit: 0, isTerminal: true });
      await engine.waitContainer(id, NO_SIGNAL);
      assert.deepEqual((await engine.containerLogs(id, 10, NO_SIGNAL)).sort(), ["err", "out"]);
    });

    it("containerLogs() is refused for a container that is not there", async () => {
      await assert.rejects(engine.containerLogs(`${label}-none`, 1, NO_SIGNAL), refused(/: 404 /));
    });

    it("startContainer() and stopContainer() may be repeated", async () => {
      const id = await run("twice");
      await engine.startContainer(id, NO_SIGNAL);
      assert.equal((await observe("twice")).state, "running");
      await engine.stopContainer(id, 5, NO_SIGNAL);
      await engine.stopContainer(id, undefined, NO_SIGNAL);
      assert.equal((await observe("twice")).state, "exited");
    });

    it("startContainer() names call, status and reason when it is refused", async () => {
      await assert.rejects(
        engine.startContainer(`${label}-none`, NO_SIGNAL),
        refused(/^engine refused POST \/containers\/.*-none\/start: 404 No such container/),
      );
    });

    it("setRestartPolicy() changes nothing else", async () => {
      const id = await run("policy");
      const before = await engine.inspectContainer(id, NO_SIGNAL);
      for (const Name of ["always", "no"]) {
        const RestartPolicy = { Name, MaximumRetryCount: 0 };
        await engine.setRestartPolicy(id, RestartPolicy, NO_SIGNAL);
        const { host } = await engine.inspectContainer(id, NO_SIGNAL) ?? {};
        assert.deepEqual(host, { ...before?.host, RestartPolicy });
      }
    });

    it("killContainer() sends the signal, and is refused for one that does not run", async () => {
      const id = await run("killed");
      await engine.killContainer(id, "SIGKILL", NO_SIGNAL);
      const seen = await until("killed", (each) => each.state === "exited");
      assert.equal(seen.exitCode, 137);
      await assert.rejects(engine.killContainer(id, "SIGKILL", NO_SIGNAL), refused(/: 409 /));
    });

    it("restartContainer() leaves a container running that was started anew", async () => {
      const id = await run("restarted");
      const before = await engine.inspectContainer(id, NO_SIGNAL);
      await engine.restartContainer(id, { timeoutSeconds: 1 }, NO_SIGNAL);
      const after = await engine.inspectContainer(id, NO_SIGNAL);
      assert.equal(after?.container.state, "running");
      assert.ok((after?.startedAt?.getTime() ?? 0) >= (before?.startedAt?.getTime() ?? Infinity));
    });

    it("waitContainer() returns the exit code", async () => {
      const id = await run("waited", { exit: 7 });
      assert.equal(await engine.waitContainer(id, NO_SIGNAL), 7);
    });

    it("removeContainer() refuses a running one unless forced, and may be repeated", async () => {
      const id = await run("removed");
      const gentle = { force: false, volumes: true };
      await assert.rejects(engine.removeContainer(id, gentle, NO_SIGNAL), refused(/: 409 /));
      await engine.removeContainer(id, { force: true, volumes: true }, NO_SIGNAL);
      await engine.removeContainer(id, { force: true, volumes: true }, NO_SIGNAL);
      assert.equal(await engine.inspectContainer(id, NO_SIGNAL), undefined);
    });

    it("images are found by reference, counted as used, and not removed while used", async () => {
      await create("imaged");
      const id = await engine.imageId(fixture.image, NO_SIGNAL);
      assert.match(id ?? "", /^sha256:[0-9a-f]{64}$/);
      const listed = (await engine.listImages(NO_SIGNAL)).find((each) => each.id === id);
      assert.ok(listed?.tags.includes(fixture.image));
      assert.ok((await engine.imagesInUse(NO_SIGNAL)).has(id ?? ""));
      await engine.removeImage(id ?? "", NO_SIGNAL);
      assert.equal(await engine.imageId(fixture.image, NO_SIGNAL), id);
    });

    it("tells what an image adds to the list of containers", async () => {
      const listed = await engine.imageListed(fixture.image, NO_SIGNAL);
      assert.ok(listed !== undefined && listed.labels >= 0 && listed.all >= listed.labels);
      assert.equal(listed.id, await engine.imageId(fixture.image, NO_SIGNAL));
      assert.equal(await engine.imageListed("stackwright-test/none:1", NO_SIGNAL), undefined);
    });

    it("imageId() and removeImage() know that an image is not there", async () => {
      assert.equal(await engine.imageId("stackwright-test/none:1", NO_SIGNAL), undefined);
      const content = (image: string) => engine.imageContent(image, "", NO_SIGNAL);
      assert.equal(await content("stackwright-test/none:1"), undefined);
      assert.match(await content(fixture.image) ?? "", /^sha256:[0-9a-f]{64}$/);
      await engine.removeImage("stackwright-test/none:1", NO_SIGNAL);
    });

    it("volumes are listed by label, kept while used, and removing may be repeated", async () => {
      const name = `${label}-volume`;
      const DriverOpts = { type: "tmpfs", device: "tmpfs" };
      const json = { Name: name, Labels: { [LABEL]: label }, DriverOpts };
      await engine.api.send({ method: "POST", path: "/volumes/create", json }, NO_SIGNAL);
      const [volume] = await engine.listVolumes({ [LABEL]: label }, NO_SIGNAL);
      assert.deepEqual(volume, {
        id: name,
        name,
        driver: "local",
        labels: { [LABEL]: label },
        options: { type: "tmpfs", device: "tmpfs" },
      });
      await engine.makeVolume({ Name: `${name}-more`, Labels: { [LABEL]: label } }, NO_SIGNAL);
      const named = await engine.findVolumes([name, `${name}-none`], NO_SIGNAL);
      assert.deepEqual(named, [volume]);
      assert.deepEqual(await engine.findVolumes([], NO_SIGNAL), []);
      await engine.removeVolume(`${name}-more`, NO_SIGNAL);
      const id = await create("volume", { volume: name });
      await assert.rejects(engine.removeVolume(name, NO_SIGNAL), refused(/: 409 .*in use/));
      await engine.removeContainer(id, { force: true, volumes: true }, NO_SIGNAL);
      await engine.removeVolume(name, NO_SIGNAL);
      await engine.removeVolume(name, NO_SIGNAL);
      assert.deepEqual(await engine.listVolumes({ [LABEL]: label }, NO_SIGNAL), []);
    });

    it("a volume that is made with a container has the labels of its mount, and outlives it", async () => {
      const name = `${label}-mounted`;
      const Labels = { [LABEL]: label };
      const mount = { Type: "volume", Source: name, Target: "/x", ReadOnly: false } as const;
      const id = await engine.makeContainer({
        name,
        platform: "",
        body: {
          Image: fixture.image,
          AttachStdout: false,
          AttachStderr: false,
          Labels,
          Env: [],
          Entrypoint: ["-"],
          HostConfig: {
            NetworkMode: "none",
            Mounts: [{ ...mount, VolumeOptions: { NoCopy: true, Labels } }],
          },
        },
        connect: {},
      }, NO_SIGNAL);
      const file = { path: "/x/file", mode: 0o644, uid: 0, gid: 0, content: "hello" };
      await engine.unpackInto(id, tarOf([file], 1e9), NO_SIGNAL);
      await engine.removeContainer(id, { force: true, volumes: true }, NO_SIGNAL);
      const listed = await engine.listVolumes({ [LABEL]: label }, NO_SIGNAL);
      assert.deepEqual(listed.map((each) => each.name), [name]);
      await engine.removeVolume(name, NO_SIGNAL);
    });

    it("networks are listed by label, and removing may be repeated", async () => {
      const name = `${label}-network`;
      const json = { Name: name, Labels: { [LABEL]: label } };
      await engine.api.send({ method: "POST", path: "/networks/create", json }, NO_SIGNAL);
      const [network] = await engine.listNetworks({ [LABEL]: label }, NO_SIGNAL);
      assert.equal(network?.name, name);
      assert.equal(network?.driver, "bridge");
      const more = { Name: `${name}.more`, Labels: { [LABEL]: `${label}-more` } };
      await engine.api.send({ method: "POST", path: "/networks/create", json: more }, NO_SIGNAL);
      const other = (await engine.findNetworks([more.Name], NO_SIGNAL))[0];
      assert.equal(other?.name, more.Name);
      const find = (...references: string[]) => engine.findNetworks(references, NO_SIGNAL);
      assert.deepEqual(await find(), []);
      assert.deepEqual(await find(name, "0".repeat(64)), [network]);
      assert.deepEqual(await find(network?.id ?? ""), [network]);
      const both = (await find(network?.id ?? "", more.Name, name)).map((each) => each.id);
      assert.deepEqual(both.sort(), [network?.id, other?.id].sort());
      await engine.removeNetwork(other?.id ?? "", NO_SIGNAL);
      await engine.removeNetwork(network?.id ?? "", NO_SIGNAL);
      await engine.removeNetwork(network?.id ?? "", NO_SIGNAL);
      assert.deepEqual(await engine.listNetworks({ [LABEL]: label }, NO_SIGNAL), []);
    });

    it("a running container comes back into a network with its address and other names", async () => {
      const network = { Name: `${label}-back`, Internal: false, Attachable: false, Labels: {} };
      // A small range that nobody else happens to have.
      const byte = () => Math.floor(Math.random() * 256);
      const Config = [{ Subnet: `10.2${30 + byte() % 20}.${byte()}.${byte() & 0xf0}/28` }];
      await engine.makeNetwork({ ...network, IPAM: { Config } }, NO_SIGNAL);
      const container = await run("back");
      try {
        const endpoint = { Aliases: ["first"] };
        await engine.connectNetwork(network.Name, { container, endpoint }, NO_SIGNAL);
        const at = async () =>
          (await engine.inspectContainer(container, NO_SIGNAL))?.endpoints?.[network.Name];
        const ipv4 = (await at())?.ipv4 ?? "";
        assert.match(ipv4, /^\d+\.\d+\.\d+\.\d+$/);
        await engine.disconnectNetwork(network.Name, container, NO_SIGNAL);
        assert.equal(await at(), undefined);
        const again = { Aliases: ["second"], IPAMConfig: { IPv4Address: ipv4 } };
        await engine.connectNetwork(network.Name, { container, endpoint: again }, NO_SIGNAL);
        const now = await at();
        assert.equal(now?.ipv4, ipv4);
        assert.equal(now?.aliases.includes("second"), true);
        assert.equal(now?.aliases.includes("first"), false);
        const fixed = async () =>
          (await engine.listContainers({ [LABEL]: label }, NO_SIGNAL))
            .find(({ id }) => id === container)?.fixedAddresses;
        assert.deepEqual(await fixed(), [{ network: network.Name, address: ipv4 }]);
        await engine.stopContainer(container, 0, NO_SIGNAL);
        assert.deepEqual(await fixed(), [{ network: network.Name, address: ipv4 }]);
      } finally {
        await engine.removeContainer(container, { force: true, volumes: true }, NO_SIGNAL);
        await engine.removeNetwork(network.Name, NO_SIGNAL);
      }
    });

    it("containerEvents() tells what happens to labelled containers, from a moment on", async () => {
      const stop = new AbortController();
      const labels = { [LABEL]: label, case: "events" };
      const seen: string[] = [];
      const since = BigInt(Date.now() - 1000) * 1_000_000n;
      const id = await run("events", { exit: 3 });
      const reason = new Error("heard enough");
      const listening = (async () => {
        const options = { labels, actions: ["start", "die"], since };
        for await (const event of engine.containerEvents(options, stop.signal)) {
          assert.equal(event.containerId, id);
          assert.equal(event.attributes["case"], "events");
          assert.ok(event.time >= since);
          seen.push(event.action);
          if (event.action === "die") {
            assert.equal(event.attributes["exitCode"], "3");
            stop.abort(reason);
          }
        }
      })();
      await assert.rejects(listening, (error) => error === reason);
      assert.deepEqual(seen, ["start", "die"]);
    });

    it("a call throws the reason of its signal when aborted while it waits", async () => {
      const id = await run("aborted");
      const stop = new AbortController();
      const reason = new Error("no longer wanted");
      const waiting = engine.waitContainer(id, stop.signal);
      setTimeout(() => stop.abort(reason), 20);
      await assert.rejects(waiting, (error) => error === reason);
      await assert.rejects(
        engine.listContainers({}, AbortSignal.abort(reason)),
        (error) => error === reason,
      );
    });
  });
}
