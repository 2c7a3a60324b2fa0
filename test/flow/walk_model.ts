import { IMAGE } from "./world.ts";

/** One service as the walk knows it: few fields, each of which changes what runs in its own way. */
export interface WalkService {
  readonly environment: string;
  readonly replicas: number;
  /** Content of a file of its own that it mounts read-only; none when absent. */
  readonly file?: string;
  /** A variable of `.env` it interpolates. */
  readonly usesVariable: boolean;
  readonly volume?: string;
  /** Another service it must be replaced with. */
  readonly follows?: string;
  /** Only part of the stack while the profile is on. */
  readonly profile: boolean;
  readonly stopGrace: number;
}

/** One state of the repository. */
export interface WalkState {
  readonly services: Readonly<Record<string, WalkService>>;
  readonly variable: string;
  readonly profileOn: boolean;
  /** Changes nothing: text of a comment, of a file nobody uses. */
  readonly noise: number;
}

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const NAMES = ["api", "cache", "db", "web", "worker"];

/** The state before the first step. */
export function firstState(): WalkState {
  return {
    services: { web: service({ environment: "0" }), db: service({ environment: "0" }) },
    variable: "0",
    profileOn: false,
    noise: 0,
  };
}

function service(fields: Partial<WalkService>): WalkService {
  return {
    environment: "0",
    replicas: 1,
    usesVariable: false,
    profile: false,
    stopGrace: 0,
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
    () => follow(state, name, pick(names)),
    () => without("follows"),
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
  const isFollowed = Object.values(state.services).some((each) => each.follows === name);
  if (isFollowed || Object.keys(state.services).length === 1) return state;
  const { [name]: _gone, ...services } = state.services;
  return { ...state, services };
}

/** Follows never form a cycle: a service follows one earlier in the alphabet, without a profile. */
function follow(state: WalkState, name: string, other: string): WalkState {
  const [service, followed] = [state.services[name], state.services[other]];
  if (service === undefined || followed === undefined || other >= name || followed.profile) {
    return state;
  }
  return { ...state, services: { ...state.services, [name]: { ...service, follows: other } } };
}

/** The files of a repository in a state. */
export function filesOf(state: WalkState, stack: string): Record<string, string> {
  const files: Record<string, string> = {
    ".stackwright.yaml": `name: ${stack}\nprune_images: false\n${
      state.profileOn ? "profiles: [extra]\n" : ""
    }`,
    ".env": `VARIABLE=${state.variable}\n`,
    "README.md": `noise ${state.noise}\n`,
  };
  const volumes = new Set<string>();
  const services = Object.entries(state.services).map(([name, each]) => {
    const mounts = [];
    if (each.file !== undefined) {
      files[`files/${name}.txt`] = each.file;
      mounts.push(`./files/${name}.txt:/file.txt:ro`);
    }
    if (each.volume !== undefined) {
      volumes.add(each.volume);
      mounts.push(`${each.volume}:/data`);
    }
    const followed = each.follows === undefined ? undefined : state.services[each.follows];
    return [
      `  ${name}:`,
      `    image: ${IMAGE}`,
      `    command: [sleep, "100000"]`,
      `    stop_grace_period: 0s`,
      `    environment: {VALUE: "${each.environment}"${
        each.usesVariable ? ', FROM_FILE: "${VARIABLE}"' : ""
      }}`,
      `    deploy: {replicas: ${each.replicas}}`,
      ...(mounts.length === 0 ? [] : [`    volumes: ${JSON.stringify(mounts)}`]),
      ...(each.profile ? [`    profiles: [extra]`] : []),
      ...(followed === undefined || followed.profile
        ? []
        : [`    depends_on: {${each.follows}: {condition: service_started, restart: true}}`]),
    ].join("\n");
  });
  const volumeLines = [...volumes].sort().map((name) => `  ${name}: {}`);
  files["compose.yaml"] = [
    `# noise ${state.noise}`,
    "services:",
    ...services,
    ...(volumeLines.length === 0 ? [] : ["volumes:", ...volumeLines]),
    "",
  ].join("\n");
  return files;
}

/** What an onlooker expects of one service: how many containers, and what makes them what they are. */
export interface Expected {
  readonly replicas: number;
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
    const { replicas: _replicas, follows, profile, usesVariable, ...own } = each;
    const followed = follows !== undefined && state.services[follows]?.profile === false
      ? follows
      : "";
    return JSON.stringify({
      ...own,
      // A profile that is on is still part of what compose hands over.
      profile,
      variable: usesVariable ? state.variable : "",
      follows: followed === "" ? "" : identity(followed),
      followed,
    });
  };
  const followed = (each: WalkService) =>
    each.follows !== undefined && state.services[each.follows]?.profile === false
      ? { follows: each.follows }
      : {};
  return Object.fromEntries(
    active.map(([name, each]) => [
      name,
      { replicas: each.replicas, identity: identity(name), ...followed(each) },
    ]),
  );
}

/**
 * The next simpler walks: without one service, without one kind of edit, or with one service's fields
 * back at their defaults. Each is a valid walk and smaller than `states`.
 */
export function* simplerWalks(states: readonly WalkState[]): Generator<readonly WalkState[]> {
  const names = [...new Set(states.flatMap((each) => Object.keys(each.services)))];
  const candidates = [
    ...names.map((name) => states.map((each) => withoutService(each, name))),
    ...names.flatMap((name) =>
      (["file", "volume", "follows", "environment", "replicas", "usesVariable", "profile"] as const)
        .map((field) => states.map((each) => withDefault(each, name, field)))
    ),
    states.map((each) => ({ ...each, noise: 0 })),
    states.map((each) => ({ ...each, variable: "0" })),
    states.map((each) => ({ ...each, profileOn: false })),
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
    Object.entries(others).map(([other, { follows, ...each }]) => [
      other,
      follows === undefined || follows === name ? each : { ...each, follows },
    ]),
  );
  return { ...state, services };
}

function withDefault(state: WalkState, name: string, field: keyof WalkService): WalkState {
  const old = state.services[name];
  if (old === undefined) return state;
  const { [field]: _value, ...rest } = old;
  return { ...state, services: { ...state.services, [name]: service(rest) } };
}
