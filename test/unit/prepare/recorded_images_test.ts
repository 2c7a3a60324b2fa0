import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ObservedContainer, stackKey } from "../../../src/model/mod.ts";
import { UNTOUCHED_IMAGES } from "../../../src/prepare/images.ts";
import { requireImages, requireNoClash } from "../../../src/prepare/recorded_images.ts";
import { runningContainer } from "../../fakes/memory_engine.ts";

const signal = new AbortController().signal;
const REFUSED = {
  code: "build_failed",
  message: /^service web: image shop-web, which was built for commit c1, is gone/,
};

const BUILT = { image: "shop-web", build: { context: "." } };

describe("requireImages() of a service that is built", () => {
  /** Asks for the images of a release that ran `ran`, on an engine with these images. */
  const ask = async (
    there: readonly string[],
    ran: string | undefined,
    { action = "recreate", definition = BUILT, images = { web: ran }, from = {} }: {
      readonly action?: string;
      readonly definition?: Readonly<Record<string, unknown>>;
      readonly images?: Readonly<Record<string, string | undefined>>;
      readonly from?: Readonly<Record<string, unknown>>;
    } = {},
  ) => {
    const engine = {
      imageId: (image: string) => Promise.resolve(there.includes(image) ? image : undefined),
      imageLabels: () => Promise.resolve({}),
      imageListed: () => Promise.resolve({ id: "", labels: 0, all: 0 }),
      findNetworks: () => Promise.resolve([]),
      findVolumes: () => Promise.resolve([]),
    };
    const { image = "shop-web", pre_start: hook } = definition;
    const web = {
      ...{ name: "web", image, builds: image === "shop-web", expectation: { replicas: 1 } },
      ...(hook === undefined ? {} : { sideImages: ["shop-web"] }),
    };
    const release = {
      key: stackKey("", "shop"),
      model: { name: "shop", services: { maker: BUILT, web: definition } },
      services: [web],
      revision: { id: "c1", source: { url: "/srv/my shop" } },
      target: "",
      ...from,
      invocation: { values: {}, envFiles: [], profiles: [], files: [] },
    };
    await requireImages(
      { host: { engine, images: UNTOUCHED_IMAGES, dataDir: "/d" } } as unknown as Parameters<
        typeof requireImages
      >[0],
      { release, tree: "/t" } as unknown as Parameters<typeof requireImages>[1],
      {
        services: [{ name: "web", action, because: [] }] as unknown as Parameters<
          typeof requireImages
        >[2]["services"],
        progress: () => {},
        ...(ran && { images: images as Readonly<Record<string, string>> }),
      },
      signal,
    );
  };

  it("refuses where its name leads to what another release built", async () => {
    await assert.rejects(ask(["shop-web"], "old"), REFUSED);
    await assert.rejects(ask([], "old"), REFUSED);
    await assert.rejects(ask([], undefined), REFUSED);
  });

  it("names a way out that can be typed as it is", async () => {
    const told = (message: RegExp, from = {}) =>
      assert.rejects(ask([], "old", { from }), { ...REFUSED, message });
    await told(
      /build it again \(stackwright apply --ref c1 '\/srv\/my shop'\), and hold the stack/,
    );
    await told(/\(stackwright apply --ref c1 --target prod '\/srv/, { target: "prod" });
    await told(/\(stackwright hold --context edge shop\)/, { key: stackKey("edge", "shop") });
    const configuration = { id: "c2", source: { url: "/srv/fleet" } };
    await told(/\(reference: c1 beside its repository_url\)/, { configuration });
  });

  it("is content with the image that the release ran, whatever its name leads to", async () => {
    await ask(["shop-web", "old"], "old");
    await ask(["old"], "old");
  });

  it("goes by the name where nobody knows what ran, and where the container is there", async () => {
    await ask(["shop-web"], undefined);
    await ask(["shop-web"], "old", { action: "start" });
  });

  it("does the same for a service whose image another one builds", async () => {
    const definition = { image: "shop-web" };
    await assert.rejects(ask(["shop-web"], "old", { definition }), REFUSED);
    await ask(["old"], "old", { definition });
    await ask(["shop-web"], undefined, { definition });
  });

  it("does the same for a hook's image that another one builds", async () => {
    const more = {
      definition: { image: "other", pre_start: [{ image: "shop-web" }] },
      images: { "web/shop-web": "old" },
    };
    await assert.rejects(ask(["other", "shop-web"], "old", more), REFUSED);
    await ask(["other", "old"], "old", more);
    await ask(["other", "shop-web"], "old", { ...more, images: { web: "other" } });
  });
});

describe("requireNoClash()", () => {
  const ID = "0123456789abcdef".repeat(4);
  interface Asked {
    readonly definition: Readonly<Record<string, unknown>>;
    readonly network?: string;
    readonly replicas?: number;
    readonly autostart?: boolean;
    /** The containers of others, by each look. */
    readonly others?: readonly (readonly ObservedContainer[])[];
    /** Files of a machine whose programs are known. */
    readonly kernel?: Readonly<Record<string, string>>;
  }
  const ask = async (
    { definition, network = "", replicas = 1, autostart = true, others = [], kernel }: Asked,
  ) => {
    let looks = 0;
    const engine = {
      listContainers: () => Promise.resolve(others[looks++] ?? []),
      findNetworks: (references: readonly string[]) =>
        Promise.resolve(
          references.includes(ID)
            ? [{ id: ID, name: "shop_net" }]
            : [{ id: "b", name: "bridge", network: { pools: [{ gateway: "172.17.0.1" }] } }],
        ),
    };
    const release = {
      key: stackKey("", "evil"),
      model: {
        name: "evil",
        services: { web: definition },
        networks: { net: { name: network, external: true } },
      },
      services: [{ name: "web", expectation: { replicas, autostart } }],
    };
    const files = {
      readIfExists: (path: string) =>
        Promise.resolve(new TextEncoder().encode(kernel?.[path] ?? "")),
    };
    const host = {
      engine,
      sharesFiles: kernel !== undefined,
      info: () => Promise.resolve({ hostname: "nas" }),
    };
    await requireNoClash(
      { host, files } as unknown as Parameters<typeof requireNoClash>[0],
      release as unknown as Parameters<typeof requireNoClash>[1],
      {
        plan: { services: [{ name: "web", action: "create" }] },
        observed: { containers: [] },
      } as unknown as Parameters<typeof requireNoClash>[2],
      signal,
    );
  };
  const port = (published: string) => ({ ports: [{ target: 80, published, protocol: "tcp" }] });
  const holding = (...ports: number[]) => [
    runningContainer("shop", "x", {
      hostPorts: ports.map((each) => ({ address: "", port: each, protocol: "tcp" })),
    }),
  ];

  it("refuses a fixed address in a network that is written by its id, and no other", async () => {
    const at = (place: Readonly<Record<string, string>>) => ({ networks: { net: place } });
    const address = at({ ipv4_address: "10.1.1.1" });
    await assert.rejects(ask({ definition: address, network: ID }), {
      code: "conflict",
      message: /^service web needs a fixed address in network shop_net, .*\(name: shop_net\)/,
    });
    await ask({ definition: at({}), network: ID });
    await ask({ definition: address, network: ID.replace("0", "1") });
    await ask({ definition: address, network: "shop_net" });
  });

  it("refuses a range of ports of which too little is free, before a service is stopped for it", async () => {
    const range = { definition: port("8080-8082"), others: [holding(8080, 8082)] };
    await ask(range);
    await assert.rejects(ask({ ...range, replicas: 2 }), {
      code: "conflict",
      message:
        /^service web needs 2 of the ports 8080-8082\/tcp \(free: 1\), which container shop-x-1 of project shop holds/,
    });
  });

  it("does not mind who has a port that a job needs at its runs alone", async () => {
    const asked = { definition: port("8080"), others: [holding(8080)] };
    await assert.rejects(ask(asked), { code: "conflict" });
    await ask({ ...asked, autostart: false });
  });

  it("tells a container that was started since the look from a program", async () => {
    const kernel = {
      "/proc/net/tcp": "head\n   0: 00000000:1F90 00000000:0000 0A 0\n",
      "/proc/sys/kernel/hostname": "nas\n",
      "/proc/net/fib_trie": "Main:\n  |-- 172.17.0.1\n     /32 host LOCAL\n",
    };
    const asked = { definition: port("8080"), kernel };
    await assert.rejects(ask(asked), { message: /which a program holds that is no container/ });
    await assert.rejects(ask({ ...asked, others: [[], holding(8080)] }), {
      message: /^service web needs port 8080\/tcp, which container shop-x-1 of project shop holds/,
    });
  });
});
