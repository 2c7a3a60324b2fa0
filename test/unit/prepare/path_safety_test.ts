import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { LABELS, MANAGER } from "../../../src/model/mod.ts";
import type { PrepareParts } from "../../../src/prepare/parts.ts";
import { requireSafeModel } from "../../../src/prepare/path_safety.ts";
import type { Target } from "../../../src/prepare/target.ts";
import { systemFiles } from "../../../src/system/mod.ts";
import { createRecordingLog } from "../../fakes/recording_log.ts";

const OWN = "0123456789abcdef".repeat(4);
const OTHER = "fedcba9876543210".repeat(4);

describe("requireSafeModel()", () => {
  const check = (
    web: Record<string, unknown>,
    own: string | undefined,
    { rest = {}, more = {}, groups = "", existing = [] }: {
      rest?: Record<string, unknown>;
      more?: Partial<Target>;
      groups?: string;
      /** Volumes of the engine. */
      existing?: unknown[];
    } = {},
  ) => {
    const ids = new Map([
      ["stackwright", OWN],
      [OWN.slice(0, 12), OWN],
      ["db", OTHER],
      // Somebody gave this name to another container.
      [OWN.slice(0, 2), OTHER],
    ]);
    const parts = {
      log: createRecordingLog(),
      files: {
        realPath: (path: string) => Promise.resolve(path),
        stat: () => Promise.resolve(undefined),
        readIfExists: () => Promise.resolve(new TextEncoder().encode(groups)),
      },
      host: {
        sharesFiles: true,
        isHere: () => Promise.resolve(true),
        dataDir: "/srv/volumes/sw_data/_data",
        own: () => Promise.resolve(own && { container: { id: own }, mounts: [] }),
        engine: {
          findVolumes: (names: string[]) =>
            Promise.resolve(
              existing.filter((each) => names.includes((each as { name: string }).name)),
            ),
          everyVolume: (isWanted: (name: string) => boolean) =>
            Promise.resolve(existing.filter((each) => isWanted((each as { name: string }).name))),
          inspectContainer: (name: string) =>
            Promise.resolve(
              ids.has(name) ? { container: { id: ids.get(name) }, mounts: [] } : undefined,
            ),
        },
      },
      options: { protectedPaths: [] },
    } as unknown as PrepareParts;
    const target = { key: { context: "default", name: "shop" }, ...more } as Target;
    const signal = new AbortController().signal;
    return requireSafeModel(parts, target, { services: { web }, ...rest }, "/tree", signal);
  };

  it("refuses names that other stacks' containers get while they are replaced", async () => {
    const refused = (name: string) => ({
      code: "unsupported",
      message:
        `deployment shop: service web: container name ${name}, as one has that is being replaced; it is ` +
        "not supported",
    });
    const name = "0123456789ab_wiki-web-1";
    await assert.rejects(check({ container_name: name }, OWN), refused(name));
    // Compose would give it that name itself.
    const rest = { name: "0123456789ab_wiki" };
    await assert.rejects(check({}, OWN, { rest }), refused(name));
    await check({ container_name: "0123456789ab-web" }, OWN);
    await check({ container_name: "0123456789_wiki-web-1" }, OWN);
  });

  for (const key of ["network_mode", "pid", "ipc"]) {
    for (const name of ["stackwright", OWN.slice(0, 12)]) {
      it(`refuses ${key} of the container that this process runs in, called ${name}`, async () => {
        await assert.rejects(check({ [key]: `container:${name}` }, OWN), {
          code: "path_escapes",
          message:
            `deployment shop: service web: ${key}: the container ${name} is Stackwright itself, ` +
            "whose processes, network and environment no deployment may share",
        });
      });
    }
  }

  it("says what is wrong with a name that begins the id of the container of this process", async () => {
    const name = OWN.slice(0, 2);
    const message = new RegExp(`container.${name} has a name that begins the id of .*another name`);
    const refused = { code: "path_escapes", message };
    for (const key of ["network_mode", "pid", "ipc"]) {
      await assert.rejects(check({ [key]: `container:${name}` }, OWN), refused);
    }
    await assert.rejects(check({ volumes_from: [`container:${name}`] }, OWN), refused);
  });

  it("has nothing against other containers, or where this process runs in none", async () => {
    await check({ network_mode: "container:db", pid: "container:missing" }, OWN);
    await check({ network_mode: "container:stackwright" }, undefined);
    await check({ network_mode: "host", pid: "service:db" }, OWN);
  });

  it("refuses a link to the container of this process where it tells that one's environment", async () => {
    const linked = (link: string, network_mode: string) =>
      check({ network_mode, external_links: [link] }, OWN);
    const message = /external_links: the container stackwright is .* environment no deployment/;
    await assert.rejects(linked("stackwright:sw", "bridge"), { code: "path_escapes", message });
    await linked("stackwright:sw", "");
    await linked("db", "bridge");
  });

  it("refuses the control group of this process, in a container and on the host", async () => {
    const refused = {
      code: "path_escapes",
      message: /service web: cgroup_parent: .* is the control group of Stackwright itself/,
    };
    const inside = { groups: "0::/\n" };
    for (
      const cgroup_parent of [
        `/docker/${OWN}`,
        `/x/libpod-${OWN}.scope`,
        `/docker/${OWN}/x/`,
        OWN,
        `/a/../docker/${OWN}`,
      ]
    ) {
      await assert.rejects(check({ cgroup_parent }, OWN, inside), refused);
      await check({ cgroup_parent }, undefined, inside);
    }
    const groups = "12:pids:/\n4:memory:/jobs/sw\n0::/system.slice/stackwright.service\n";
    for (
      const cgroup_parent of [
        ...["/system.slice/stackwright.service", "stackwright.service/", "/jobs/sw"],
        "/./system.slice//stackwright.service/sub",
      ]
    ) await assert.rejects(check({ cgroup_parent }, undefined, { groups }), refused);
    for (const cgroup_parent of ["system.slice", "/", "/jobs", "shop.slice", `/docker/${OTHER}`]) {
      await check({ cgroup_parent }, OWN, { groups });
    }
  });

  it("refuses volumes of what becomes the name of this process's container", async () => {
    for (const length of [2, 4, 12, 64]) {
      const volumes_from = [`container:${OWN.slice(0, length)}`];
      await assert.rejects(check({ volumes_from }, OWN), { code: "path_escapes" });
    }
    const volumes_from = [`container:${OWN.slice(0, 2)}`];
    await check({ volumes_from }, undefined);
    await check({ volumes_from: ["container:db"] }, OWN);
  });

  it("says that a container is gone only where nothing else is wrong", async () => {
    const volumes_from = ["container:gone"];
    assert.equal((await check({ volumes_from }, OWN))?.code, "config_invalid");
    const refused = { code: "path_escapes" };
    await assert.rejects(check({ volumes_from, pid: "container:stackwright" }, OWN), refused);
    await assert.rejects(
      check({ volumes_from: [...volumes_from, `container:${OWN.slice(0, 12)}`] }, OWN),
      refused,
    );
    const volumes = [{ type: "volume", source: "data", target: "/data" }];
    const rest = { volumes: { data: { name: "sw_data", external: true } } };
    await assert.rejects(check({ volumes_from, volumes }, OWN, { rest }), refused);
  });

  describe("knows what is ours", () => {
    const volume = (name: string, device: string, labels: Record<string, string> = {}) => ({
      ...{ name, labels, options: { type: "none", o: "bind", device } },
    });
    const SW = [volume("sw", "/srv/sw")];
    const bind = (source: string) => ({ volumes: [{ type: "bind", source, target: "/x" }] });
    const by = async (
      web: Record<string, unknown>,
      { links = {}, mounts = [], handed, rest = {}, missing = [], mountInfo = "", existing = SW }: {
        links?: Record<string, string>;
        /** Paths at which there is nothing. */
        missing?: string[];
        mountInfo?: string;
        mounts?: Record<string, string>[];
        /** Mounts of another container than ours. */
        handed?: Record<string, string>[];
        rest?: Record<string, unknown>;
        /** Volumes of the engine. */
        existing?: readonly ReturnType<typeof volume>[];
      },
    ) => {
      const parts = {
        log: createRecordingLog(),
        files: {
          stat: () => Promise.resolve(undefined),
          realPath: (path: string) =>
            path.startsWith("/none")
              ? Promise.reject(new Error("EACCES"))
              : Promise.resolve(missing.includes(path) ? undefined : links[path] ?? path),
          readIfExists: () => Promise.resolve(new TextEncoder().encode(mountInfo)),
        },
        host: {
          sharesFiles: true,
          isHere: () => Promise.resolve(true),
          dataDir: "/data",
          own: () =>
            Promise.resolve(mounts.length === 0 ? undefined : { container: { id: OWN }, mounts }),
          engine: {
            inspectContainer: () =>
              Promise.resolve({
                container: { id: handed === undefined ? OWN : "other" },
                mounts: handed ?? mounts,
              }),
            findVolumes: (names: string[]) =>
              Promise.resolve(existing.filter(({ name }) => names.includes(name))),
          },
        },
        options: { protectedPaths: ["/var/run/secrets/api", "/none/key"] },
      } as unknown as PrepareParts;
      const target = { key: { context: "default", name: "shop" } } as Target;
      const { signal } = new AbortController();
      await requireSafeModel(parts, target, { services: { web }, ...rest }, "/tree", signal);
      return (parts.log as unknown as ReturnType<typeof createRecordingLog>).lines.length;
    };
    const refused = { code: "path_escapes", message: /mounts data or secrets of Stackwright/ };

    it("and says so where it may not look where a path leads", () =>
      assert.rejects(by(bind("/none/of/ours"), {}), {
        code: "path_escapes",
        message:
          /volume mounts \/none\/of\/ours.*cannot be followed \(EACCES\).*a user that may look/,
      }));

    it("and warns of what shows our temporary files beside those of others", async () => {
      const temporary = tmpdir();
      assert.equal(await by(bind(temporary), {}), 1);
      assert.equal(await by(bind("/shown"), { links: { "/shown": temporary } }), 1);
      assert.equal(await by(bind(join(temporary, "x")), {}), 0);
      // In a container they are its own.
      assert.equal(await by(bind(temporary), { mounts: [{ source: "", target: "/x" }] }), 0);
    });

    it("where settings name it through links", async () => {
      const links = { "/data": "/mnt/disk/sw", "/var/run/secrets/api": "/run/secrets/api" };
      for (const path of ["/mnt/disk/sw", "/mnt/disk/sw/state.db", "/run/secrets/api"]) {
        await assert.rejects(by(bind(path), { links }), refused);
        await by(bind(path), {});
      }
    });

    it("behind a link with a dollar sign in its name, of which compose prints two", async () => {
      await assert.rejects(by(bind("/mnt/a$$b"), { links: { "/mnt/a$b": "/data" } }), refused);
      await by(bind("/mnt/a$$b"), { links: { "/mnt/a$$b": "/data" } });
    });

    it("behind a link where nothing is yet, which the engine would make", async () => {
      const links = { "/srv/l": "/data", "/srv/l/sources": "/data/sources" };
      const missing = ["/srv/l/sources/a", "/srv/l/sources/a/b"];
      for (const path of missing) {
        await assert.rejects(by(bind(path), { links, missing }), refused);
        await by(bind(path), { missing });
      }
    });

    it("by a second mount of what is there, of a part of it, and of its disk", async () => {
      const mountInfo = [
        "21 1 254:0 / / rw shared:1 - ext4 /dev/vda rw",
        "22 21 8:1 /sw /data rw - ext4 /dev/sda1 rw",
        "23 21 8:1 /sw/sources /mnt/a\\040b rw - ext4 /dev/sda1 rw",
        "24 21 8:1 / /mnt/disk rw - ext4 /dev/sda1 rw",
        "25 21 254:0 /var/run /run rw - ext4 /dev/vda rw",
        "26 21 254:0 /srv/empty /covered rw - ext4 /dev/vda rw",
        "27 26 8:1 /sw /covered rw - ext4 /dev/sda1 rw",
      ].join("\n");
      const theirs = [
        "/mnt/a b",
        "/mnt/a b/x",
        "/mnt/disk/sw/state.db",
        "/covered/live",
        "/run/secrets/api",
      ];
      for (const path of theirs) await assert.rejects(by(bind(path), { mountInfo }), refused, path);
      for (const path of ["/mnt/disk/other", "/mnt/a", "/srv/empty", "/run/secrets/other"]) {
        await by(bind(path), { mountInfo });
      }
      const links = { "/srv/l": "/mnt/disk", "/srv/l/sw": "/mnt/disk/sw" };
      const missing = ["/srv/l/sw/new"];
      await assert.rejects(by(bind("/srv/l/sw/new"), { links, missing, mountInfo }), refused);
      for (const path of theirs) await by(bind(path), {});
    });

    const over = (device: string, volume: Record<string, unknown> = {}) =>
      [
        { volumes: [{ type: "volume", source: "v", target: "/x", volume }] },
        { volumes: { v: { name: "v", driver_opts: { type: "none", o: "bind", device } } } },
      ] as const;

    it("by a part of a volume around it", async () => {
      for (const subpath of ["data", "./data/sources", "a/../data"]) {
        const [web, rest] = over("/", { subpath });
        await assert.rejects(by(web, { rest }), refused);
      }
      const [web, rest] = over("/srv", { subpath: "data" });
      await by(web, { rest });
      await assert.rejects(by(web, { rest, links: { "/srv/data": "/data" } }), refused);
    });

    it("by a volume that somebody made there, whatever the model says of it", async () => {
      const existing = [volume("v", "/data/sources"), volume("around", "/")];
      const is = (more: Record<string, unknown>) => ({ volumes: { v: more } });
      await assert.rejects(by({}, { rest: is({ name: "v", external: true }), existing }), refused);
      await assert.rejects(by({}, { rest: is({}), existing }), refused);
      const [web] = over("", { subpath: "data" });
      const around = { rest: is({ name: "around", external: true }), existing };
      await assert.rejects(by(web, around), refused);
      await by({}, around);
      // What the model says is made where the volume gives way.
      const [own, rest] = over("/data");
      await assert.rejects(by(own, { rest, existing: [volume("v", "/srv")] }), refused);
    });

    it("by a volume that we made, when a link has come to stand behind it", async () => {
      const live = "/data/releases/default/other/live";
      const ours = (device: string) => ({
        rest: { volumes: { v: { name: "v", external: true } } },
        existing: [volume("v", device, { [LABELS.manager]: MANAGER })],
      });
      // Another stack's volume may be one of its live directories, which it may share.
      await by({}, ours(`${live}/a`));
      await by({}, {
        ...ours(`${live}/a`),
        links: { [live]: "/disk/live", [`${live}/a`]: "/disk/live/a" },
      });
      for (const to of ["/data", "/data/releases/default/victim/live"]) {
        const links = { [`${live}/a`]: to, "/srv/link": to };
        await assert.rejects(by({}, { ...ours(`${live}/a`), links }), refused);
        await assert.rejects(by({}, { ...ours("/srv/link"), links }), refused);
      }
      await assert.rejects(by({}, ours("/data/releases/default/other")), refused);
      // Older versions had volumes show files of the repository, which nobody may write to.
      await assert.rejects(by({}, ours("/data/releases/default/other/current/a")), refused);
      const [web] = over("", { subpath: "data" });
      await assert.rejects(by(web, ours("/")), refused);
    });

    it("by a volume of a container that hands on its mounts", async () => {
      const web = { volumes_from: ["container:backup"] };
      const handed = [{ kind: "volume", name: "v", source: "/docker/v/_data" }];
      const made = (device: string) => ({ handed, existing: [volume("v", device)] });
      await assert.rejects(by(web, made("/data")), refused);
      await assert.rejects(by(web, made("/data/sources")), refused);
      await by(web, made("/srv"));
    });

    it("by a volume of what leads to the processes of the host", async () => {
      const shown = { code: "unsupported", message: /volumes\.v that shows the processes of the/ };
      const at = (device: string) => {
        const [web, rest] = over(device);
        const mountInfo = "23 21 0:77 / /srv/jail/proc rw - proc none rw\n";
        return by(web, { rest, mountInfo, links: { "/srv/l": "/proc" } });
      };
      for (const device of ["/proc", "//proc/./1", "proc", "/srv/l", "/srv/jail/proc"]) {
        await assert.rejects(at(device), shown, device);
      }
      for (const device of ["/process", "/srv", "/srv/jail"]) await at(device);
      const rest = { volumes: { v: { name: "v", driver_opts: { o: "lowerdir=/x:/proc" } } } };
      await assert.rejects(by({}, { rest }), {
        code: "unsupported",
        message: /driver_opts that shows/,
      });
      // A container that mounts it shows it to nobody else.
      await by(bind("/proc"), {});
    });

    it("by what is mounted there when it runs in a container", async () => {
      const mounts = [
        { destination: "/data", source: "/volumes/x/data", name: "sw", kind: "volume" },
        { destination: "/run", source: "/srv/run", name: "run", kind: "volume" },
        { destination: "/run/secrets/api", source: "/opt/sw/api.txt", name: "", kind: "bind" },
      ];
      const links = { "/var/run/secrets/api": "/run/secrets/api" };
      const volumes = (name: string) => ({ volumes: { v: { name, external: true } } });
      // The last is what the volume of the data directory stands for.
      for (const path of ["/opt/sw/api.txt", "/volumes/x/data/state.db", "/srv/sw"]) {
        await assert.rejects(by(bind(path), { links, mounts }), refused);
      }
      await assert.rejects(by({}, { links, mounts, rest: volumes("sw") }), refused);
      await by(bind("/opt/sw/other.txt"), { links, mounts, rest: volumes("run") });
    });
  });

  const more = { swarm: {} } as unknown as Partial<Target>;
  for (
    const source of [
      "/srv/vol{{.Node.Hostname}}",
      "/{{.Task.Name}}/x",
      "/srv/volumes/{{ .Node.ID }}",
    ]
  ) {
    it(`refuses a mount of ${source} for a swarm, which may come to lead to ours`, async () => {
      const volumes = [{ type: "bind", source, target: "/x" }];
      await assert.rejects(check({ volumes }, undefined, { more }), { code: "path_escapes" });
      await check({ volumes }, undefined);
    });
  }

  it("refuses a mount whose template fits a link, or a second mount, that leads to ours", async () => {
    const root = await mkdtemp(join(tmpdir(), "templates-"));
    try {
      for (const each of ["data/sub", "backup/plain", "tree/d", "other"]) {
        await mkdir(join(root, each), { recursive: true });
      }
      await symlink(join(root, "data"), join(root, "backup/host1"));
      await symlink(join(root, "data"), join(root, "tree/d/l1"));
      await symlink(join(root, "backup"), join(root, "deep"));
      const by = async (source: string, stack = more) => {
        const parts = {
          log: createRecordingLog(),
          files: systemFiles,
          host: {
            sharesFiles: true,
            isHere: () => Promise.resolve(true),
            dataDir: join(root, "data"),
            own: () => Promise.resolve(undefined),
            engine: { findVolumes: () => Promise.resolve([]) },
          },
          options: { protectedPaths: [] },
        } as unknown as PrepareParts;
        const target = { key: { context: "default", name: "shop" }, ...stack } as Target;
        const web = { volumes: [{ type: "bind", source: join(root, source), target: "/x" }] };
        const { signal } = new AbortController();
        await requireSafeModel(parts, target, { services: { web } }, join(root, "tree"), signal);
      };
      const HOST = "{{.Node.Hostname}}";
      const theirs = [
        `backup/${HOST}`,
        `backup/h${HOST}`,
        `backup/h{{.Task.Slot}}1`,
        `backup/${HOST}/sub`,
        `backup/${HOST}/sub/new`,
        `backup/${HOST}/{{.Task.ID}}`,
        `deep/${HOST}`,
        `tree/d/${HOST}`,
        `tree/d/l{{.Task.Slot}}`,
      ];
      for (const source of theirs) {
        await assert.rejects(by(source), { code: "path_escapes" }, source);
        await by(source, {});
      }
      for (
        const source of [
          `backup/p${HOST}`,
          `backup/h${HOST}2`,
          `none/${HOST}`,
          `other/${HOST}`,
          `tree/d/x${HOST}`,
        ]
      ) {
        await by(source);
      }
      for (let at = 0; at <= 1000; at++) await mkdir(join(root, "other", `n${at}`));
      await assert.rejects(by(`other/n${HOST}`), {
        code: "path_escapes",
        message: /may become too many paths.*directories with few entries/,
      });
      await by(`other/n77${HOST}`);
      await assert.rejects(by(`none/${HOST}${"/a".repeat(50)}`), { code: "path_escapes" });
    } finally {
      await rm(root, { recursive: true });
    }
  });

  it("refuses a volume whose name a swarm may make that of one that leads to ours", async () => {
    const existing = (device: string, name: string) => ({
      ...{ name, labels: {}, options: { type: "none", o: "bind", device } },
    });
    const ours = "/srv/volumes/sw_data/_data/x";
    const by = (name: string, existing: unknown[], stack = more) =>
      check({}, undefined, { rest: { volumes: { v: { name } } }, more: stack, existing });
    const led = [existing("/srv/other", "w1"), existing("/srv/x", "v0-x"), existing(ours, "v1-x")];
    for (const name of ["v{{.Task.Slot}}-x", "{{.Task.Slot}}", "v1{{.Task.Slot}}-x", "v1-x"]) {
      await assert.rejects(by(name, led), { code: "path_escapes" }, name);
    }
    for (const name of ["w{{.Task.Slot}}", "v{{.Task.Slot}}-y", "v1-x{{.Task.Slot}}x"]) {
      await by(name, led);
    }
    await by("v{{.Task.Slot}}-x", led, {});
    const many = Array.from({ length: 51 }, (_, at) => existing("/srv/x", `v${at}`));
    await assert.rejects(by("v{{.Task.Slot}}", many), {
      code: "unsupported",
      message: /existing volumes with options that fit names with templates: more than 50/,
    });
  });

  it("refuses a volume whose name a swarm may make that of ours", async () => {
    const volumes = { v: { name: "sw_{{.Node.Hostname}}" } };
    await assert.rejects(check({}, undefined, { rest: { volumes }, more }), {
      code: "path_escapes",
    });
    const others = { v: { name: "shop-{{.Task.Slot}}" }, w: { name: "sw_dat" } };
    await check({}, undefined, { rest: { volumes: others }, more });
  });

  for (
    const template of [
      'a{{""}}',
      "{{.Service.Labels.x}}",
      '{{ print "../" }}',
      "{{.Node.Hostname | printf}}",
    ]
  ) {
    it(`refuses the template ${template} in a mount for a swarm`, async () => {
      const refused = { code: "unsupported", message: /with a template other than/ };
      const volumes = [{ type: "bind", source: `/mnt/${template}`, target: "/x" }];
      await assert.rejects(check({ volumes }, undefined, { more }), refused);
      const rest = { volumes: { v: { driver_opts: { device: `/mnt/${template}` } } } };
      await assert.rejects(check({}, undefined, { more, rest }), refused);
    });
  }

  for (const kind of ["configs", "secrets"]) {
    for (const file of ["/etc/shadow", "/proc/self/environ", "/root/.docker/config.json"]) {
      it(`refuses ${kind} from ${file} for a swarm, which this process would read`, async () => {
        const rest = { [kind]: { s: { file } } };
        await assert.rejects(check({}, undefined, { rest, more }), {
          code: "path_escapes",
          message: new RegExp(`^deployment shop: ${kind}\\.s leads out of the repository`),
        });
        await check({}, undefined, { rest: { [kind]: { s: { file: "/tree/a" } } }, more });
        // The engine mounts it, as its author chose.
        await check({}, undefined, { rest: { [kind]: { s: { file: "/etc/shadow" } } } });
      });
    }
  }

  it("tells of a few mounts that show the engine's socket, however many there are", async () => {
    const log = createRecordingLog();
    const parts = {
      log,
      files: {
        realPath: (path: string) => Promise.resolve(path),
        stat: () => Promise.resolve(undefined),
      },
      host: {
        dataDir: "/data",
        isHere: () => Promise.resolve(false),
        own: () => Promise.resolve(undefined),
      },
      options: { protectedPaths: [] },
    } as unknown as PrepareParts;
    const target = { key: { context: "default", name: "shop" } } as Target;
    const volumes = (count: number) => ({
      services: {},
      volumes: {
        a: { name: "a", driver_opts: { o: "x=/,".repeat(10_000) } },
        b: {
          name: "b",
          driver_opts: { o: Array.from({ length: count }, (_, at) => `/${at}/docker.sock`).join() },
        },
      },
    });
    const { signal } = new AbortController();
    await requireSafeModel(parts, target, volumes(1000), "/tree", signal);
    assert.equal(log.lines.length, 21);
    await assert.rejects(requireSafeModel(parts, target, volumes(20_000), "/tree", signal), {
      code: "config_invalid",
      message: /^volumes.b.driver_opts: the options of all volumes name more than 20000 paths$/,
    });
  });
});
