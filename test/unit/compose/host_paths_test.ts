import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { externalObject, followedPaths } from "../../../src/compose/mod.ts";

describe("followedPaths()", () => {
  it("refuses a service whose name a program takes for an option", () => {
    const web = { image: "a" };
    for (const name of ["--push", "-V", "-"]) {
      const { refused } = followedPaths({ services: { [name]: web } });
      assert.match(refused.join(), /its name begins with a dash/, name);
    }
    assert.deepEqual(followedPaths({ services: { "a--push": web } }).refused, []);
  });

  it("refuses a volume whose name the engine takes for a path", () => {
    for (const name of ["/data", "a:/data", "/"]) {
      const { refused } = followedPaths({ volumes: { v: { name, external: true } } });
      assert.deepEqual(refused, ["volumes.v with a name that is a path, or has a colon"], name);
    }
    assert.deepEqual(followedPaths({ volumes: { v: { name: "a_v.1-x" } } }).refused, []);
  });

  it("names the containers that a service shares something with", () => {
    const web = { network_mode: "container:a", pid: "container:b\n", ipc: "service:db" };
    assert.deepEqual(followedPaths({ services: { web } }).shared, [
      { what: "service web: network_mode", name: "a" },
      { what: "service web: pid", name: "b\n" },
    ]);
  });

  it("names the containers whose environment a link tells, which is so on the engine's bridge", () => {
    const external_links = ["a", "b:c"];
    const named = (more: object) =>
      followedPaths({ services: { web: { external_links, ...more } } }).shared;
    const what = "service web: external_links";
    assert.deepEqual(named({ network_mode: "bridge" }), [{ what, name: "a" }, { what, name: "b" }]);
    assert.deepEqual(named({ networks: { default: null } }), []);
  });

  it("knows the networks whose names are those of the engine's bridge and of a container's network", () => {
    const web = { networks: { n: null }, external_links: ["stackwright:sw"] };
    const of = (name: string) =>
      followedPaths({ services: { web }, networks: { n: { name, external: true } } });
    assert.deepEqual(of("bridge").shared, [
      { what: "service web: external_links", name: "stackwright" },
    ]);
    assert.deepEqual([of("shop").shared, of("shop").refused], [[], []]);
    assert.deepEqual(of("container:stackwright").refused, [
      "networks.n with a name that begins with container:",
    ]);
  });

  it("refuses models, also those that no service uses", () => {
    const web = { image: "a" };
    assert.match(
      followedPaths({ services: { web }, models: { m: { model: "x" } } }).refused.join(),
      /^models, for which compose runs a program/,
    );
    assert.deepEqual(followedPaths({ services: { web }, models: {} }).refused, []);
    // Compose 5.5 prints a project as JSON without its models.
    const refused = followedPaths({ services: { web: { ...web, models: { m: null } } } }).refused;
    assert.match(refused.join(), /^service web: models, for which compose runs a program/);
  });

  for (
    const [title, secret, file] of [
      ["of a file whose name goes on", {}, "/c/x,src=/etc/shadow"],
      ["by a name that goes on", { target: "x,src=/etc/shadow" }, "/c/x"],
      ["of a file whose name ends a quotation", { target: "x" }, '/c/"'],
    ] as const
  ) {
    it(`refuses a secret of a build ${title} for buildx`, () => {
      const web = { build: { context: "/c", secrets: [{ source: "s", ...secret }] } };
      const { refused } = followedPaths({ services: { web }, secrets: { s: { file } } });
      assert.deepEqual(refused, [
        "service web: build secret s with a comma or a quotation mark in its target or file",
      ]);
    });
  }

  const rows: readonly (readonly [string, Record<string, unknown>, RegExp | undefined])[] = [
    ["nothing special", { image: "a" }, undefined],
    [
      "a build by a name that keeps an image",
      { build: { context: "/t" }, image: "docker.io/stackwright/kept:abc" },
      /web: an image by a name of stackwright\/kept/,
    ],
    [
      "a tag of that kind",
      { build: { context: "/t", tags: ["app:2", "stackwright/kept"] } },
      /web: an image by a name of stackwright\/kept/,
    ],
    [
      "an image by such a name, which may be pulled",
      { image: "stackwright/kept:abc" },
      /web: an image by a name of stackwright\/kept/,
    ],
    [
      "one that is mounted",
      { volumes: [{ type: "image", source: "stackwright/kept:abc", target: "/x" }] },
      /web: an image by a name of stackwright\/kept/,
    ],
    [
      "one of a hook",
      { pre_start: [{ image: "stackwright/kept:abc" }] },
      /web: an image by a name/,
    ],
    [
      "what extends left, where it found nothing",
      { extends: { file: "/t/o.yml", service: "nul" } },
      /web: extends of a service without a key: take extends out/,
    ],
    ["a key that nobody here knows", { reads_file: "/x" }, /web: reads_file, a key that this/],
    ["the same without a value", { reads_file: null, extends: null }, undefined],
    ["a provider", { provider: { type: "x" } }, /web: provider/],
    ...["/proc/self/root/data", "/proc/1/cwd", "/proc/9/task/9/fd/3", "/proc/thread-self/root"].map(
      (source) =>
        [
          `what ${source} leads to`,
          { volumes: [{ type: "bind", source, target: "/x" }] },
          /web: volume through what a process has open/,
        ] as const,
    ),
    ["what processes say", {
      volumes: ["/proc", "/proc/1/net", "/proc/rooted"].map((source) => ({ type: "bind", source })),
    }, undefined],
    ["the engine with our credentials", { use_api_socket: true }, /web: use_api_socket/],
    ["not the engine", { use_api_socket: false }, undefined],
    ["keys for a build whose path begins with a line break", {
      build: { context: "/c", ssh: ["a=\n/root/.ssh/id"] },
    }, /web: build ssh/],
    ...Object.entries({
      context: "/c/.%{if true}.%{endif}/x",
      dockerfile: '${join("/", ["..", "x"])}',
      additional_contexts: { a: "/c/$${lower(x)}" },
      cache_from: ["type=registry,ref=a%{if true}b%{endif}"],
      cache_to: ["type=inline,x=${a}"],
      secrets: [{ source: "s", target: "%{ if true }a%{ endif }" }],
      tags: ["a:${b}"],
    }).map(([key, value]) =>
      [
        `an expression of buildx in ${key} of a build`,
        { build: { context: "/c", [key]: value } },
        new RegExp(`web: build ${key} with \\$\\{ or %\\{`),
      ] as const
    ),
    ["what is no path of a build, whatever is in it", {
      build: {
        context: "/c",
        args: { A: "$${B}" },
        labels: { a: "%{b}" },
        dockerfile_inline: "FROM a\nRUN echo $${A}\n",
      },
    }, undefined],
    ["an agent for a build", { build: { context: "/c", ssh: ["default"] } }, /web: build ssh/],
    ["no agent for a build", { build: { context: "/c", ssh: [] } }, undefined],
    ...[
      "https://example.org/a.git#main",
      "git@example.org:a/b",
      "ssh://git@example.org/a",
      "github.com/a/b",
      "git://example.org/a",
      "docker-image://alpine",
      "a/b",
      "",
    ].map((context) =>
      [
        `the build context ${JSON.stringify(context)}`,
        { build: { context } },
        context === ""
          ? /web: build context, which is empty: /
          : /web: build context from elsewhere/,
      ] as const
    ),
    ["a build without a context", { build: { dockerfile_inline: "FROM a" } }, undefined],
    ["contexts of the engine", {
      build: {
        context: "/c",
        additional_contexts: { a: "docker-image://a", b: "service:b", c: "target:c", d: "/d" },
      },
    }, undefined],
    // Buildx lets the engine write to the directory of a layout.
    ...["/c/a", "/c/a:v1@sha256:1", "a", ""].map((place) =>
      [
        `the OCI layout ${JSON.stringify(place)}`,
        { build: { context: "/c", additional_contexts: { a: `oci-layout://${place}` } } },
        /web: build additional_contexts\.a from elsewhere/,
      ] as const
    ),
    ["another context from elsewhere", {
      build: { context: "/c", additional_contexts: { a: "https://example.org/x.tar" } },
    }, /web: build additional_contexts\.a from elsewhere/],
    ...["service", "target"].map((kind) =>
      [
        `a ${kind} that is a path`,
        { build: { context: "/c", additional_contexts: { a: `${kind}:x://../../etc` } } },
        /web: build additional_contexts\.a from elsewhere/,
      ] as const
    ),
    ["a Dockerfile from elsewhere", {
      build: { context: "/c", dockerfile: "https://example.org/Dockerfile" },
    }, /web: build dockerfile from elsewhere/],
    ["a Dockerfile on standard input, where the model is", {
      build: { context: "/c", dockerfile: "-" },
    }, /web: build dockerfile from elsewhere/],
    ["a seccomp profile by a path with a line break", {
      security_opt: ["seccomp=x\n/../../etc/passwd"],
    }, /web: security_opt with a seccomp profile by a relative path/],
    ["keys for a build", { build: { context: "/c", ssh: ["a=/root/.ssh/id"] } }, /web: build ssh/],
  ];
  for (const [what, web, expected] of rows) {
    it(`followedPaths() ${expected === undefined ? "lets pass" : "refuses"} ${what}`, () => {
      const { refused } = followedPaths({ services: { web } });
      assert.equal(refused.length, expected === undefined ? 0 : 1, refused.join());
      if (expected !== undefined) assert.match(refused[0] ?? "", expected);
    });
  }

  const options: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ["a bound directory", { type: "none", o: "bind", device: "/srv/x" }, ["/srv/x"]],
    ["a device below the engine's own directory", { type: "none", device: "srv/x" }, ["/srv/x"]],
    ["a share", { type: "nfs", o: "addr=10.0.0.1,rw", device: ":/srv/x" }, ["/:/srv/x"]],
    ["a file system in memory", { type: "tmpfs", device: "tmpfs", o: "size=1m" }, ["/tmpfs"]],
    ["a bound directory of a type that has none", {
      type: "tmpfs",
      o: "bind",
      device: "../srv/x",
    }, ["/srv/x"]],
    [
      "the layers of an overlay",
      { type: "overlay", device: "overlay", o: "lowerdir=/a:b/c,upperdir=data,workdir=/d\\e" },
      ["/overlay", "/a", "/b/c", "/data", "/de"],
    ],
    ["a place of another driver", { mountpoint: "/srv/x", size: "1G" }, ["/srv/x"]],
  ];
  it("refuses what compose and buildx read by a path that climbs back: a link may be before it", () => {
    const model = (context: string, profile: string, file: string) => ({
      services: {
        web: {
          build: { context, additional_contexts: { a: context }, secrets: [{ source: "s" }] },
          security_opt: [`seccomp:${profile}`],
          volumes: [{ type: "bind", source: context, target: "/x" }],
        },
      },
      secrets: { s: { file } },
    });
    assert.deepEqual(followedPaths(model("/tree/l/..", "/tree/l/../x", "/tree/l/../..")).refused, [
      "service web: security_opt seccomp by a path that climbs back with ..",
      "service web: build context by a path that climbs back with ..",
      "service web: build additional_contexts.a by a path that climbs back with ..",
      "service web: build secret s by a path that climbs back with ..",
    ]);
    assert.deepEqual(followedPaths(model("/../tree/./l", "/tree/..x", "/tree/s")).refused, []);
  });

  it("refuses volumes by a path that climbs back: it leads elsewhere behind a link", () => {
    const refusedOf = (driver_opts: Record<string, string>) =>
      followedPaths({ services: {}, volumes: { v: { name: "v", driver_opts } } }).refused;
    for (const path of ["/var/run/../data", "/dev/fd/../root/data", "a/..", "/a/./../b"]) {
      assert.deepEqual(refusedOf({ o: "bind", device: path }), [
        "volumes.v by a path that climbs back with ..",
      ]);
      assert.deepEqual(refusedOf({ type: "overlay", o: `lowerdir=/x:${path}` }), [
        "volumes.v.driver_opts by a path that climbs back with ..",
      ]);
    }
    for (const path of ["/../data", "../../data", "/a..b/..c", "./a"]) {
      assert.deepEqual(refusedOf({ o: "bind", device: path }), []);
    }
    assert.deepEqual(refusedOf({ o: "bind", device: "/dev/fd/3" }), [
      "volumes.v through what a process has open",
    ]);
  });

  it("refuses volumes that show the processes of the host: what is open there leads anywhere", () => {
    const refusedOf = (driver_opts: Record<string, string>) =>
      followedPaths({ services: {}, volumes: { v: { name: "v", driver_opts } } }).refused;
    const shown = "volumes.v that shows the processes of the host";
    assert.deepEqual(refusedOf({ type: "proc", device: "none" }), [shown]);
    assert.deepEqual(refusedOf({ type: "none", o: "bind", device: "/srv" }), []);
  });

  for (const [what, driver_opts, expected] of options) {
    it(`followedPaths() finds the paths in the options of a volume: ${what}`, () => {
      const { paths } = followedPaths({ services: {}, volumes: { v: { name: "v", driver_opts } } });
      assert.deepEqual(paths.map((each) => each.path), expected);
    });
  }

  it("followedPaths() names the containers whose mounts are taken over", () => {
    const web = { volumes_from: ["db", "container:shop:ro", "container:other"] };
    const { containers } = followedPaths({ services: { web } });
    const what = "service web: volumes_from";
    assert.deepEqual(containers, [{ what, name: "shop" }, { what, name: "other" }]);
  });
});

describe("externalObject()", () => {
  it("names what only a swarm has, where a service uses it", () => {
    const model = {
      services: { web: { configs: [{ source: "a" }], secrets: [{ source: "s" }] } },
      configs: { a: { external: true, name: "a" }, b: { external: true, name: "b" } },
      secrets: { s: { file: "/f" } },
    };
    assert.equal(externalObject(model), "configs.a");
    assert.deepEqual(followedPaths(model).refused, []);
  });
});

describe("followedPaths() of paths that are absolute elsewhere", () => {
  const file = "c:/../../instance.key";
  const s = { file };
  const says = " by a path that is not absolute here";
  for (
    const [what, model] of [
      ["secrets.s", { services: {}, secrets: { s } }],
      ["configs.s", { services: {}, configs: { s } }],
      ["service a: volume", { services: { a: { volumes: [{ type: "bind", source: "c:\\x" }] } } }],
    ] as const
  ) {
    it(`refuses ${what}`, () => {
      assert.deepEqual(followedPaths(model).refused, [what + says]);
    });
  }

  it("refuses what a build gets, too", () => {
    const build = { context: "/c", secrets: [{ source: "s" }] };
    assert.deepEqual(followedPaths({ services: { a: { build } }, secrets: { s } }).refused, [
      `service a: build secret s${says}`,
      `secrets.s${says}`,
    ]);
  });
});

describe("followedPaths() of build caches", () => {
  const pass = [
    "example.org/cache:1",
    "type=registry,ref=example.org/cache",
    "type=inline",
    "type=gha,scope=a",
    "type=registry,ref=example.org/cache,mode=max,image-manifest=true,compression=zstd",
    '"type=registry","ref=a,b"',
    'type=registry,"ref=say ""a"""',
    "type=s3,bucket=b,access_key_id=a,secret_access_key=b",
  ];
  const refuse: readonly (readonly [string, RegExp])[] = [
    ["type=local,dest=/x", /with a directory/],
    ["type=registry,dest=/x", /with a directory/],
    ['"type=local","dest=/x"', /with a directory/],
    ['"type=local",dest=/x', /with a directory/],
    ["mode=max,TYPE=local,x=y", /with a directory/],
    [" type = local ", /with a directory/],
    ["type=registry,type=local", /with a directory/],
    ['ref=a,"src=/x"', /with a directory/],
    ["\ntype=local,dest=/x", /not plain text/],
    ["type=registry\n,dest=/x", /not plain text/],
    ['a"type=local', /not plain text/],
    ['"type=local"x,a=b', /not plain text/],
    ['"type=local', /not plain text/],
    ["type=registry,ref=a/b,registry.insecure=true", /the option "registry\.insecure"/],
    ["type=inline,type=registry,ref=a/b,Registry.Insecure=1", /the option "registry\.insecure"/],
    ["type=s3,bucket=b", /without access_key_id/],
    ["type=s3,bucket=b,access_key_id=a", /without access_key_id/],
    ["type=exec,run=/x", /of type "exec"/],
  ];
  for (const key of ["cache_from", "cache_to"]) {
    it(`followedPaths() lets ${key} pass that uses nothing of this machine`, () => {
      const build = { context: "/c", [key]: pass };
      assert.deepEqual(followedPaths({ services: { web: { build } } }).refused, []);
    });
    for (const [entry, why] of refuse) {
      it(`followedPaths() refuses ${key} ${JSON.stringify(entry)}`, () => {
        const build = { context: "/c", [key]: [entry] };
        const { refused } = followedPaths({ services: { web: { build } } });
        assert.equal(refused.length, 1, refused.join());
        assert.match(refused[0] ?? "", why);
        assert.ok(refused[0]?.startsWith(`service web: build ${key} `), refused[0]);
      });
    }
  }
});
