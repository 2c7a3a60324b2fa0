import type { FakeFile } from "../fakes/git_repository.ts";
import { IMAGE } from "./world.ts";

/** One service as the walk knows it: few fields, each of which changes what runs in its own way. */
export interface WalkService {
  readonly environment: string;
  readonly replicas: number;
  /** Content of a file of its own that it mounts; none when absent. */
  readonly file?: string;
  /** Whether it mounts it through a link and may write to it, instead of reading it only. */
  readonly linked: boolean;
  /** Content of the image that is built for it; it runs one that is there when absent. */
  readonly build?: string;
  /** Whether it mounts a file of the submodule. */
  readonly module: boolean;
  /** Whether it is in a second network, unless it shares that of another service. */
  readonly inner: boolean;
  /** A variable of `.env` it interpolates. */
  readonly usesVariable: boolean;
  readonly volume?: string;
  /** Another service it must be replaced with. */
  readonly follows?: string;
  /** Whether it follows by sharing that one's network, where that one has exactly one container. */
  readonly shares: boolean;
  /** Another service it waits for, until that one is healthy or, being a job, has ended. */
  readonly waits?: string;
  readonly healthcheck: boolean;
  /** Only part of the stack while the profile is on. */
  readonly profile: boolean;
  readonly stopGrace: number;
  /** Whether it asks to be replaced start-first, as far as that is possible. */
  readonly startFirst: boolean;
}

/** One state of the repository. */
export interface WalkState {
  readonly services: Readonly<Record<string, WalkService>>;
  readonly variable: string;
  readonly profileOn: boolean;
  /** Whether the second network leads nowhere else. */
  readonly internal: boolean;
  /** The service that publishes the only port there is, as far as it can. */
  readonly port?: string;
  /** The service that has the only fixed address there is, as far as it can. */
  readonly address?: string;
  /** Content of the file in the submodule. */
  readonly library: string;
  /** Changes nothing: text of a comment, of a file nobody uses. */
  readonly noise: number;
}

const NAMES = ["api", "cache", "db", "migrate", "web", "worker"];
/** A service that ends by itself, whatever else is said of it. */
export const JOB = "migrate";

/** The state before the first step. */
export function firstState(): WalkState {
  return {
    services: { web: service({ environment: "0" }), db: service({ environment: "0" }) },
    variable: "0",
    profileOn: false,
    internal: false,
    library: "0",
    noise: 0,
  };
}

function service(fields: Partial<WalkService>): WalkService {
  return {
    environment: "0",
    replicas: 1,
    linked: false,
    module: false,
    inner: false,
    usesVariable: false,
    shares: false,
    healthcheck: false,
    profile: false,
    stopGrace: 0,
    startFirst: false,
    ...fields,
  };
}

/** One random edit of a state. The result is always a valid compose model with a service in it. */
export function step(state: WalkState, random: () => number): WalkState {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const digit = () => String(Math.floor(random() * 4));
  const names = Object.keys(state.services);
  const name = pick(names);
  const old = state.services[name] ?? service({});
  const edit = (fields: Partial<WalkService>): WalkState => ({
    ...state,
    services: { ...state.services, [name]: { ...old, ...fields } },
  });
  const without = <K extends keyof WalkService>(key: K): WalkState => {
    const { [key]: _gone, ...rest } = old;
    return { ...state, services: { ...state.services, [name]: rest as WalkService } };
  };
  const edits: (() => WalkState)[] = [
    () => edit({ environment: digit() }),
    () => edit({ replicas: pick([0, 1, 1, 2, 3]) }),
    () => edit({ file: digit() }),
    () => without("file"),
    () => edit({ usesVariable: !old.usesVariable }),
    () => edit({ volume: pick(["data", "logs"]) }),
    () => without("volume"),
    () => edit({ profile: !old.profile }),
    () => ({ ...state, variable: digit() }),
    () => ({ ...state, profileOn: !state.profileOn }),
    () => ({ ...state, noise: state.noise + 1 }),
    () => addService(state, pick(NAMES), service({ environment: digit() })),
    () => removeService(state, name),
    () => refer(state, { name, key: "follows", other: pick(names) }),
    () => without("follows"),
    () => edit({ shares: !old.shares }),
    () => refer(state, { name, key: "waits", other: pick(names) }),
    () => without("waits"),
    () => edit({ healthcheck: !old.healthcheck }),
    () => ({ ...state, port: name }),
    () => rename(state, name, pick(NAMES)),
    () => edit({ linked: !old.linked }),
    () => edit({ inner: !old.inner }),
    () => ({ ...state, internal: !state.internal }),
    () => edit({ build: digit() }),
    () => without("build"),
    () => edit({ module: !old.module }),
    () => ({ ...state, library: digit() }),
    () => ({ ...state, address: name }),
    () => edit({ startFirst: !old.startFirst }),
  ];
  const next = pick(edits)();
  return Object.values(next.services).some((each) => !each.profile) ? next : state;
}

function addService(state: WalkState, name: string, added: WalkService): WalkState {
  return name in state.services
    ? state
    : { ...state, services: { ...state.services, [name]: added } };
}

function removeService(state: WalkState, name: string): WalkState {
  if (isReferredTo(state, name) || Object.keys(state.services).length === 1) return state;
  const { [name]: _gone, ...services } = state.services;
  return { ...state, services };
}

/** With its data, its port, its address and what it follows, as far as the new name allows that. */
function rename(state: WalkState, name: string, other: string): WalkState {
  const old = state.services[name];
  const isTaken = other in state.services || [name, other].includes(JOB);
  if (old === undefined || isTaken || isReferredTo(state, name)) return state;
  const { follows, waits, ...rest } = old;
  const renamed = {
    ...rest,
    ...(follows !== undefined && follows < other ? { follows } : {}),
    ...(waits !== undefined && waits < other ? { waits } : {}),
  };
  const { [name]: _gone, ...services } = state.services;
  const port = state.port === name ? { port: other } : {};
  const address = state.address === name ? { address: other } : {};
  return { ...state, ...port, ...address, services: { ...services, [other]: renamed } };
}

function isReferredTo({ services }: WalkState, name: string): boolean {
  return Object.values(services).some((each) => each.follows === name || each.waits === name);
}

/**
 * References never form a cycle: a service refers to one earlier in the alphabet, without a profile.
 * Nobody follows a job, which does not run.
 */
function refer(
  state: WalkState,
  { name, key, other }: {
    readonly name: string;
    readonly key: "follows" | "waits";
    readonly other: string;
  },
): WalkState {
  const [service, referred] = [state.services[name], state.services[other]];
  if (service === undefined || referred === undefined || other >= name || referred.profile) {
    return state;
  }
  if (key === "follows" && other === JOB) return state;
  return { ...state, services: { ...state.services, [name]: { ...service, [key]: other } } };
}

/** The service one follows, as far as that one is part of the stack whatever the profile. */
function followedBy(state: WalkState, name: string): string | undefined {
  const follows = state.services[name]?.follows;
  return follows !== undefined && state.services[follows]?.profile === false ? follows : undefined;
}

function sharesNetwork(state: WalkState, name: string): boolean {
  const followed = followedBy(state, name);
  return followed !== undefined && state.services[name]?.shares === true &&
    state.services[followed]?.replicas === 1;
}

function isInner(state: WalkState, name: string): boolean {
  return state.services[name]?.inner === true && !sharesNetwork(state, name);
}

function publishes(state: WalkState, name: string): boolean {
  return state.port === name && (state.services[name]?.replicas ?? 0) <= 1 &&
    !sharesNetwork(state, name);
}

function hasAddress(state: WalkState, name: string): boolean {
  return state.address === name && (state.services[name]?.replicas ?? 0) <= 1 &&
    !sharesNetwork(state, name);
}

/** Whether any service mounts what is in the submodule. */
export function usesLibrary({ services }: WalkState): boolean {
  return Object.values(services).some((each) => each.module);
}

/** Networks as compose wants them; none for a service that is in the usual one only. */
function networksOf(state: WalkState, name: string, subnet: string): Record<string, unknown> {
  const own = {
    ...(isInner(state, name) ? { inner: {} } : {}),
    ...(hasAddress(state, name) ? { fixed: { ipv4_address: `${subnet}.9` } } : {}),
  };
  return Object.keys(own).length === 0 ? own : { default: {}, ...own };
}

/** What a service waits for beside what it follows: name and condition. */
function awaitedBy(state: WalkState, name: string): readonly [string, string] | undefined {
  const waits = state.services[name]?.waits;
  const awaited = waits === undefined ? undefined : state.services[waits];
  if (waits === undefined || awaited?.profile !== false || waits === followedBy(state, name)) {
    return undefined;
  }
  if (waits === JOB) return [waits, "service_completed_successfully"];
  return [waits, awaited.healthcheck ? "service_healthy" : "service_started"];
}

function dependsOn(state: WalkState, name: string): Record<string, unknown> {
  const awaited = awaitedBy(state, name);
  const followed = followedBy(state, name);
  return {
    ...(awaited === undefined ? {} : { [awaited[0]]: { condition: awaited[1] } }),
    ...(followed === undefined || sharesNetwork(state, name)
      ? {}
      : { [followed]: { condition: "service_started", restart: true } }),
  };
}

/** The files of a repository in a state, without the submodule; a port is that of one process. */
export function filesOf(state: WalkState, stack: string, port: number): Record<string, FakeFile> {
  const files: Record<string, FakeFile> = {
    ".stackwright.yaml": `name: ${stack}\nprune_images: false\n${
      state.profileOn ? "profiles: [extra]\n" : ""
    }`,
    ".env": `VARIABLE=${state.variable}\n`,
    "README.md": `noise ${state.noise}\n`,
  };
  const volumes = new Set<string>();
  // Beside what engines choose by themselves, and another one for each process.
  const subnet = `10.${100 + port % 50}.${(port >> 6) % 250}`;
  const services = Object.entries(state.services).map(([name, each]) => {
    const mounts = [];
    if (each.file !== undefined) {
      files[`files/${name}.txt`] = each.file;
      if (each.linked) files[`links/${name}.txt`] = { link: `../files/${name}.txt` };
      mounts.push(
        each.linked ? `./links/${name}.txt:/file.txt` : `./files/${name}.txt:/file.txt:ro`,
      );
    }
    if (each.module) mounts.push("./mod/page.txt:/module.txt:ro");
    if (each.build !== undefined) {
      files[`build/${name}/Dockerfile`] = `FROM ${IMAGE}\nCOPY page.txt /page.txt\n`;
      files[`build/${name}/page.txt`] = each.build;
    }
    if (each.volume !== undefined) {
      volumes.add(each.volume);
      mounts.push(`${each.volume}:/data`);
    }
    const dependencies = dependsOn(state, name);
    const networks = networksOf(state, name, subnet);
    const test = { test: ["CMD", "true"], interval: "300ms" };
    return [
      `  ${name}:`,
      each.build === undefined ? `    image: ${IMAGE}` : `    build: ./build/${name}`,
      `    command: [${name === JOB ? '"true"' : 'sleep, "100000"'}]`,
      `    stop_grace_period: 0s`,
      `    environment: {VALUE: "${each.environment}"${
        each.usesVariable ? ', FROM_FILE: "${VARIABLE}"' : ""
      }}`,
      `    deploy: {replicas: ${each.replicas}${
        each.startFirst ? ", update_config: {order: start-first}" : ""
      }}`,
      ...(mounts.length === 0 ? [] : [`    volumes: ${JSON.stringify(mounts)}`]),
      ...(each.profile ? [`    profiles: [extra]`] : []),
      ...(each.healthcheck ? [`    healthcheck: ${JSON.stringify(test)}`] : []),
      ...(publishes(state, name) ? [`    ports: ["127.0.0.1:${port}:80"]`] : []),
      ...(Object.keys(networks).length === 0 ? [] : [`    networks: ${JSON.stringify(networks)}`]),
      ...(sharesNetwork(state, name)
        ? [`    network_mode: "service:${followedBy(state, name)}"`]
        : []),
      ...(Object.keys(dependencies).length === 0
        ? []
        : [`    depends_on: ${JSON.stringify(dependencies)}`]),
    ].join("\n");
  });
  const some = (is: (state: WalkState, name: string) => boolean) =>
    Object.keys(state.services).some((name) => is(state, name));
  const networks = {
    ...(some(isInner) ? { inner: { internal: state.internal } } : {}),
    ...(some(hasAddress) ? { fixed: { ipam: { config: [{ subnet: `${subnet}.0/28` }] } } } : {}),
  };
  const volumeLines = [...volumes].sort().map((name) => `  ${name}: {}`);
  files["compose.yaml"] = [
    `# noise ${state.noise}`,
    "services:",
    ...services,
    ...(volumeLines.length === 0 ? [] : ["volumes:", ...volumeLines]),
    ...(Object.keys(networks).length === 0 ? [] : [`networks: ${JSON.stringify(networks)}`]),
    "",
  ].join("\n");
  return files;
}

/** What an onlooker expects of one service: how many containers, and what makes them what they are. */
export interface Expected {
  /** How many run. */
  readonly replicas: number;
  /** How many there are: a job's have ended. */
  readonly containers: number;
  /** Equal texts: the same containers may stay. Different: every one must be new. */
  readonly identity: string;
  /** What it must be replaced with. */
  readonly follows?: string;
}

/**
 * Computes from the state alone, without anything of the product, what must run. A follower with a
 * container is replaced whenever what it follows is.
 */
export function expectedOf(state: WalkState): Readonly<Record<string, Expected>> {
  const active = Object.entries(state.services).filter(([, each]) =>
    !each.profile || state.profileOn
  );
  const identity = (name: string): string => {
    const each = state.services[name];
    if (each === undefined) return "";
    const { replicas: _replicas, follows: _follows, waits: _waits, shares: _shares, ...rest } =
      each;
    const { usesVariable, linked, module, inner: _inner, ...own } = rest;
    const followed = followedBy(state, name);
    return JSON.stringify({
      ...own,
      // A profile that is on is still part of what compose hands over.
      variable: usesVariable ? state.variable : "",
      follows: followed === undefined ? "" : identity(followed),
      followed,
      shares: sharesNetwork(state, name),
      awaited: awaitedBy(state, name),
      publishes: publishes(state, name),
      hasAddress: hasAddress(state, name),
      module: module ? state.library : "",
      linked: linked && each.file !== undefined,
      inner: isInner(state, name) ? `internal ${state.internal}` : "",
    });
  };
  return Object.fromEntries(
    active.map(([name, each]) => {
      const followed = followedBy(state, name);
      return [name, {
        // A job does not run when the deployment is over.
        replicas: name === JOB ? 0 : each.replicas,
        containers: each.replicas,
        identity: identity(name),
        ...(followed === undefined ? {} : { follows: followed }),
      }];
    }),
  );
}

const FIELDS = [
  "file",
  "linked",
  "build",
  "module",
  "inner",
  "volume",
  "follows",
  "shares",
  "waits",
  "healthcheck",
  "environment",
  "replicas",
  "usesVariable",
  "profile",
  "startFirst",
] as const;

/**
 * The next simpler walks: without one service, without one kind of edit, or with one service's fields
 * back at their defaults. Each is a valid walk and smaller than `states`.
 */
export function* simplerWalks(states: readonly WalkState[]): Generator<readonly WalkState[]> {
  const names = [...new Set(states.flatMap((each) => Object.keys(each.services)))];
  const candidates = [
    ...names.map((name) => states.map((each) => withoutService(each, name))),
    ...names.flatMap((name) =>
      FIELDS.map((field) => states.map((each) => withDefault(each, name, field)))
    ),
    states.map(({ port: _port, ...each }) => each),
    states.map(({ address: _address, ...each }) => each),
    states.map((each) => ({ ...each, library: "0" })),
    states.map((each) => ({ ...each, noise: 0 })),
    states.map((each) => ({ ...each, variable: "0" })),
    states.map((each) => ({ ...each, profileOn: false })),
    states.map((each) => ({ ...each, internal: false })),
  ];
  const written = JSON.stringify(states);
  for (const walk of candidates) {
    if (JSON.stringify(walk) !== written && walk.every(isValid)) yield walk;
  }
}

function isValid({ services }: WalkState): boolean {
  return Object.values(services).some((each) => !each.profile);
}

function withoutService(state: WalkState, name: string): WalkState {
  const { [name]: _gone, ...others } = state.services;
  const services = Object.fromEntries(
    Object.entries(others).map(([other, { follows, waits, ...each }]) => [other, {
      ...each,
      ...(follows === undefined || follows === name ? {} : { follows }),
      ...(waits === undefined || waits === name ? {} : { waits }),
    }]),
  );
  return { ...state, services };
}

function withDefault(state: WalkState, name: string, field: keyof WalkService): WalkState {
  const old = state.services[name];
  if (old === undefined) return state;
  const { [field]: _value, ...rest } = old;
  return { ...state, services: { ...state.services, [name]: service(rest) } };
}
