import { canonicalJson } from "../../compose/mod.ts";
import {
  asList,
  asNumber,
  asRecord,
  asText,
  asTextList,
  asTexts,
  type Json,
  type JsonRecord,
} from "../../docker/json.ts";
import type { ServiceBody } from "../../docker/swarm_bodies.ts";
import { type Drift, LABELS } from "../../model/mod.ts";
import { bytesText } from "../engine/field_drift.ts";
import { LAST_RUN, STACK_LABELS } from "./stack_parts.ts";

/** A field of a service to compare; collections with named entries are compared separately. */
interface Field {
  /** Its key in compose. */
  readonly field: string;
  /** Its path in a service's specification. */
  readonly path: string;
  /** The engine's default. */
  readonly usual?: string | number;
  /** Formats a value for people; absent where it may hold a secret. */
  readonly shown?: (value: Json) => string;
}

const CONTAINER = "TaskTemplate.ContainerSpec";
const TASK = "TaskTemplate";
const plain = (value: Json) => typeof value === "object" ? canonicalJson(value) : String(value);
const bytes = (value: Json) => bytesText(Number(value));
const share = (value: Json) => String(Number(value) / 1e9);
const seconds = (value: Json) => `${Number(value) / 1e9}s`;

const FIELDS: readonly Field[] = [
  { field: "image", path: `${CONTAINER}.Image`, shown: plain },
  { field: "entrypoint", path: `${CONTAINER}.Command` },
  { field: "command", path: `${CONTAINER}.Args` },
  { field: "hostname", path: `${CONTAINER}.Hostname`, shown: plain },
  { field: "working_dir", path: `${CONTAINER}.Dir`, shown: plain },
  { field: "user", path: `${CONTAINER}.User`, shown: plain },
  { field: "group_add", path: `${CONTAINER}.Groups`, shown: plain },
  { field: "tty", path: `${CONTAINER}.TTY`, shown: plain },
  { field: "stdin_open", path: `${CONTAINER}.OpenStdin`, shown: plain },
  { field: "read_only", path: `${CONTAINER}.ReadOnly`, shown: plain },
  { field: "init", path: `${CONTAINER}.Init`, shown: plain },
  { field: "isolation", path: `${CONTAINER}.Isolation`, usual: "default", shown: plain },
  { field: "stop_signal", path: `${CONTAINER}.StopSignal`, shown: plain },
  { field: "stop_grace_period", path: `${CONTAINER}.StopGracePeriod`, usual: 10e9, shown: seconds },
  { field: "sysctls", path: `${CONTAINER}.Sysctls`, shown: plain },
  { field: "cap_add", path: `${CONTAINER}.CapabilityAdd`, shown: plain },
  { field: "cap_drop", path: `${CONTAINER}.CapabilityDrop`, shown: plain },
  { field: "ulimits", path: `${CONTAINER}.Ulimits`, shown: plain },
  { field: "security_opt", path: `${CONTAINER}.Privileges`, shown: plain },
  { field: "extra_hosts", path: `${CONTAINER}.Hosts`, shown: plain },
  { field: "dns", path: `${CONTAINER}.DNSConfig.Nameservers`, shown: plain },
  { field: "dns_search", path: `${CONTAINER}.DNSConfig.Search`, shown: plain },
  { field: "dns_opt", path: `${CONTAINER}.DNSConfig.Options`, shown: plain },
  { field: "healthcheck", path: `${CONTAINER}.Healthcheck` },
  { field: "logging", path: `${TASK}.LogDriver` },
  { field: "deploy.resources.limits.memory", path: limit("MemoryBytes"), shown: bytes },
  { field: "deploy.resources.limits.cpus", path: limit("NanoCPUs"), shown: share },
  { field: "deploy.resources.limits.pids", path: limit("Pids"), shown: plain },
  { field: "deploy.resources.reservations.memory", path: reserved("MemoryBytes"), shown: bytes },
  { field: "deploy.resources.reservations.cpus", path: reserved("NanoCPUs"), shown: share },
  {
    field: "deploy.resources.reservations.generic_resources",
    path: reserved("GenericResources"),
    shown: plain,
  },
  ...[
    { key: "condition", name: "Condition", usual: "any", shown: plain },
    { key: "delay", name: "Delay", usual: 5e9, shown: seconds },
    { key: "max_attempts", name: "MaxAttempts", shown: plain },
    { key: "window", name: "Window", shown: seconds },
  ].map(({ key, name, ...rest }) => ({
    field: `deploy.restart_policy.${key}`,
    path: `${TASK}.RestartPolicy.${name}`,
    ...rest,
  })),
  { field: "deploy.placement.constraints", path: placed("Constraints"), shown: plain },
  { field: "deploy.placement.preferences", path: placed("Preferences"), shown: plain },
  { field: "deploy.placement.max_replicas_per_node", path: placed("MaxReplicas"), shown: plain },
  { field: "deploy.endpoint_mode", path: "EndpointSpec.Mode", usual: "vip", shown: plain },
  ...["update", "rollback"].flatMap(updateFields),
];

function limit(name: string): string {
  return `${TASK}.Resources.Limits.${name}`;
}

function reserved(name: string): string {
  return `${TASK}.Resources.Reservations.${name}`;
}

function placed(name: string): string {
  return `${TASK}.Placement.${name}`;
}

function updateFields(kind: string): Field[] {
  const config = kind === "update" ? "UpdateConfig" : "RollbackConfig";
  return [
    { key: "parallelism", name: "Parallelism", usual: 1, shown: plain },
    { key: "delay", name: "Delay", shown: seconds },
    { key: "failure_action", name: "FailureAction", usual: "pause", shown: plain },
    { key: "monitor", name: "Monitor", usual: 5e9, shown: seconds },
    { key: "max_failure_ratio", name: "MaxFailureRatio", shown: plain },
    { key: "order", name: "Order", usual: "stop-first", shown: plain },
  ].map(({ key, name, ...rest }) => ({
    field: `deploy.${kind}_config.${key}`,
    path: `${config}.${name}`,
    ...rest,
  }));
}

/** A value of a specification: for comparison, and for people. */
interface Said {
  readonly text: string;
  /** Absent where it may hold a secret. */
  readonly shown?: string;
}

/**
 * Drift of a swarm's service from what was requested, except for its number of tasks. The engine's
 * defaults are no drift, nor is the order in unordered lists, nor a restart.
 *
 * `found` is the engine's specification; `networks` maps ids of networks to names. The stack's own
 * configs and secrets are compared by name without the digest of their content, which is unknown
 * here.
 */
export function serviceDrift(
  service: string,
  body: ServiceBody,
  found: JsonRecord,
  networks: ReadonlyMap<string, string>,
): Drift[] {
  const known = areKnown(found, networks) ? networks : undefined;
  const wanted = said(body as unknown as JsonRecord, known);
  const there = said(found, known);
  const fields = new Set([...wanted.keys(), ...there.keys()]);
  return [...fields].sort().flatMap((field) => {
    const [a, b] = [wanted.get(field), there.get(field)];
    const both = a !== undefined && b !== undefined;
    return a?.text === b?.text ? [] : [{
      ...{ service, field },
      wanted: a === undefined ? "none" : a.shown ?? (both ? "that of its release" : "set"),
      found: b === undefined ? "none" : b.shown ?? (both ? "another" : "set"),
    }];
  });
}

/** Whether all networks have a known name: predefined networks of nodes are not listed. */
function areKnown(spec: JsonRecord, networks: ReadonlyMap<string, string>): boolean {
  return attachments(spec).every((each) => networks.has(asText(each["Target"])));
}

function attachments(spec: JsonRecord): JsonRecord[] {
  return asList(asRecord(spec["TaskTemplate"])["Networks"]).map(asRecord);
}

/** Every compared value by field; networks only where `networks` has their names. */
function said(
  spec: JsonRecord,
  networks: ReadonlyMap<string, string> | undefined,
): ReadonlyMap<string, Said> {
  const values = new Map<string, Said>();
  const add: Add = (field, value, shown) => {
    const bare = pruned(value);
    if (bare === undefined) return;
    values.set(field, { text: canonicalJson(bare), ...(shown && { shown: shown(bare) }) });
  };
  for (const { field, path, usual, shown } of FIELDS) {
    const value = at(spec, path);
    if (usual === undefined) add(field, value, shown);
    else {
      // 0 is a value of its own where the default is another one.
      const taken = value === undefined || value === "" ? usual : value;
      values.set(field, { text: canonicalJson(taken), ...(shown && { shown: shown(taken) }) });
    }
  }
  addNamed(spec, add);
  for (const { Target, Aliases, DriverOpts } of networks === undefined ? [] : attachments(spec)) {
    const name = networks?.get(asText(Target)) ?? asText(Target);
    const aliases = asList(Aliases).map((each) => asText(each)).sort();
    const shown = () => aliases.length === 0 ? "connected" : `as ${aliases.join(", ")}`;
    add(`network ${name}`, { name, aliases, options: asRecord(DriverOpts) }, shown);
  }
  const ports = asList(at(spec, "EndpointSpec.Ports")).map(asRecord).map(portText).sort();
  add("ports", ports, () => ports.join(", "));
  return values;
}

type Add = (field: string, value: Json | undefined, shown?: (value: Json) => string) => void;

/** Adds values with names of their own: variables, labels, mounts, configs and secrets. */
function addNamed(spec: JsonRecord, add: Add): void {
  const container = asRecord(at(spec, CONTAINER));
  for (const each of asTextList(container["Env"])) {
    add(`environment ${each.split("=", 1)[0]}`, `=${each}`);
  }
  const labels = { "label": container["Labels"], "deploy.label": spec["Labels"] };
  for (const [kind, all] of Object.entries(labels)) {
    for (const [name, value] of Object.entries(asTexts(all))) {
      if (!OURS.has(name)) add(`${kind} ${name}`, `=${value}`);
    }
  }
  for (const mount of asList(container["Mounts"]).map(asRecord)) {
    add(`volume at ${asText(mount["Target"])}`, keptOf(mount));
  }
  for (const kind of ["Config", "Secret"] as const) {
    for (const each of asList(container[`${kind}s`]).map(asRecord)) {
      const file = asRecord(each["File"]);
      const name = asText(each[`${kind}Name`]).replace(CONTENT, "");
      add(`${kind.toLowerCase()} at ${asText(file["Name"])}`, { name, file }, () => name);
    }
  }
}

/** A mount as engines store it: without consistency, and with the default propagation. */
function keptOf({ Consistency: _forgotten, ...mount }: JsonRecord): JsonRecord {
  const { Propagation = USUAL_PROPAGATION, ...options } = asRecord(mount["BindOptions"]);
  const other = Propagation === USUAL_PROPAGATION ? {} : { Propagation };
  return { ...mount, BindOptions: { ...options, ...other } };
}

const USUAL_PROPAGATION = "rprivate";

/** Labels by which Stackwright and the tools of a swarm recognize a service. */
const OURS: ReadonlySet<string> = new Set([
  ...Object.values<string>(LABELS),
  ...Object.values<string>(STACK_LABELS),
  LAST_RUN,
]);

/** The digest at the end of the name of the stack's own config or secret. */
const CONTENT = /_[0-9a-f]{8}$/;

function portText({ Protocol, TargetPort, PublishedPort, PublishMode }: JsonRecord): string {
  const published = asNumber(PublishedPort) ?? 0;
  const mode = asText(PublishMode) === "host" ? " on its node" : "";
  const host = published === 0 ? "" : `${published}:`;
  return `${host}${asNumber(TargetPort)}/${asText(Protocol) || "tcp"}${mode}`;
}

function at(spec: JsonRecord, path: string): Json | undefined {
  return path.split(".").reduce<Json | undefined>(
    (value, name) => value === undefined ? undefined : asRecord(value)[name],
    spec,
  );
}

/** The value without empty parts: engines report empty lists, 0 and false where nothing is set. */
function pruned(value: Json | undefined): Json | undefined {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) {
    return undefined;
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? undefined : value.map((each) => pruned(each) ?? null);
  }
  if (typeof value !== "object") return value;
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const bare = pruned(each);
    return bare === undefined ? [] : [[name, bare] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
