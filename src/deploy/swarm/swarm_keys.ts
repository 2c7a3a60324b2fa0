import { type ComposeModel, isFilled } from "../../model/mod.ts";
import { type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "../../compose/mod.ts";
import { wordsAt } from "../engine/host_body.ts";
import {
  all,
  type Keys,
  mountKeys,
  NETWORK_KEYS,
  SHARED_KEYS,
  unknownKey,
  VOLUME_KEYS,
} from "../engine/known_keys.ts";

/**
 * The keys of a rendered service that have no effect in a swarm, and why ignoring them is fine: the
 * swarm does this in its own way, or the key concerns interactive use.
 */
export const MEANINGLESS_KEYS: Readonly<Record<string, string>> = {
  attach: "it is about a terminal",
  build: "a swarm runs the image of a registry, which is not built here",
  container_name: "tasks are named by the swarm",
  depends_on: "services of a swarm start in any order and are started again until they can work",
  develop: "it is about a terminal",
  expose: "containers of a network reach every port of each other",
  profiles: "they were applied when the model was rendered",
  pull_policy: "images are always resolved at their registry",
  scale: "it is the number of replicas",
};

const UPDATE_KEYS = all("parallelism delay failure_action monitor max_failure_ratio order");

/** The keys of a service that become part of its swarm service or of its tasks. */
const SWARM_SERVICE_KEYS: Keys = {
  ...SHARED_KEYS,
  ...all(Object.keys(MEANINGLESS_KEYS).join(" ")),
  isolation: "all",
  credential_spec: { keys: all("config file registry") },
  ports: { each: all("target published protocol mode name app_protocol") },
  volumes: { each: mountKeys("create_host_path propagation recursive") },
  networks: { each: all("aliases driver_opts priority") },
  deploy: {
    keys: {
      ...all("mode replicas labels endpoint_mode"),
      placement: {
        keys: { ...all("constraints max_replicas_per_node"), preferences: { each: all("spread") } },
      },
      update_config: { keys: UPDATE_KEYS },
      rollback_config: { keys: UPDATE_KEYS },
      restart_policy: { keys: all("condition delay max_attempts window") },
      resources: {
        keys: {
          limits: { keys: all("cpus memory pids") },
          reservations: {
            keys: {
              ...all("cpus memory"),
              generic_resources: { each: { discrete_resource_spec: { keys: all("kind value") } } },
            },
          },
        },
      },
    },
  },
};

const OBJECT_KEYS: Keys = all("name external file content environment labels");
const RESOURCE_KEYS = [
  ["networks", NETWORK_KEYS],
  ["volumes", VOLUME_KEYS],
  ["configs", OBJECT_KEYS],
  ["secrets", OBJECT_KEYS],
] as const;

const TOP_KEYS = ["name", "version", "services", "networks", "volumes", "configs", "secrets"];

/** The path of everything in a rendered model that a swarm cannot do: `services.web.privileged`. */
export function notForSwarm(model: ComposeModel): string[] {
  const services = Object.entries(servicesOf(model)).flatMap(([name, service]) =>
    [
      SERVICE_NAME.test(`${textAt(model, "name") || "a"}_${name}`) ? undefined : BAD_NAME,
      unknownKey(withoutExtensions(service), { keys: SWARM_SERVICE_KEYS }),
      ...unknownValues(service),
    ].filter((path) => path !== undefined).map((path) => `services.${name}.${path}`)
  );
  const resources = RESOURCE_KEYS.flatMap(([kind, keys]) => {
    const path = unknownKey(objectAt(model, kind), { each: keys });
    return path === undefined ? [] : [`${kind}.${path}`];
  });
  const top = Object.keys(model).filter((key) =>
    !TOP_KEYS.includes(key) && !key.startsWith("x-") && isFilled(model[key])
  );
  return [...services, ...resources, ...top];
}

/** A name that a swarm accepts for a service: a host name. */
const SERVICE_NAME = /^[a-z0-9](?:[\w-]{0,61}[a-z0-9])?$/i;
const BAD_NAME =
  "its name (letters, digits, _ and -, 63 with that of the stack, no _ or - at the end)";

/** The service without `x-` keys, which are notes of its author. */
function withoutExtensions(service: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(service).filter(([key]) => !key.startsWith("x-")));
}

/** Sentences for people on the keys of a model that have no effect in a swarm. */
export function meaninglessIn(model: ComposeModel): string[] {
  return Object.entries(servicesOf(model)).flatMap(([name, service]) =>
    Object.entries(MEANINGLESS_KEYS)
      // No warning for these: `expose` is harmless, and `scale` does set the number of replicas.
      .filter(([key]) => isFilled(service[key]) && !["expose", "scale"].includes(key))
      .map(([key, why]) => `services.${name}.${key} means nothing in a swarm: ${why}`)
  );
}

/** Values of known keys that a swarm does not accept. */
function unknownValues(service: JsonObject): string[] {
  const deploy = objectAt(service, "deploy");
  const isJob = textAt(deploy, "mode").endsWith("-job");
  const mode = textAt(service, "network_mode");
  return [
    ...(textAt(service, "image") === "" ? ["image, which every service of a swarm needs"] : []),
    ...(mode === "" || mode === "host" ? [] : [`network_mode: ${mode}`]),
    ...(isJob && isFilled(deploy["update_config"]) ? ["deploy.update_config of a job"] : []),
    ...(isJob && isFilled(deploy["rollback_config"]) ? ["deploy.rollback_config of a job"] : []),
    ...(isJob && textAt(objectAt(deploy, "restart_policy"), "condition") === "any"
      ? ["deploy.restart_policy.condition: any of a job"]
      : []),
    ...objectsAt(service, "ports").filter(({ published }) => !isPort(published))
      .map(({ published }) => `ports: ${String(published)}, which is not one port`),
    ...objectsAt(service, "volumes").flatMap((volume) => strangeMount(volume)),
    ...wordsAt(service, "security_opt").filter((each) => !isKnownOption(each))
      .map((each) => `security_opt: ${each}`),
  ];
}

function isPort(published: unknown): boolean {
  return published === undefined || published === null || published === "" ||
    /^\d+$/.test(String(published));
}

function strangeMount(volume: JsonObject): string[] {
  const type = textAt(volume, "type");
  const recursive = textAt(objectAt(volume, "bind"), "recursive");
  if (!["bind", "volume", "tmpfs", "npipe", "cluster"].includes(type)) return [`volumes: ${type}`];
  return ["", "enabled", "disabled"].includes(recursive)
    ? []
    : [`volumes.bind.recursive: ${recursive}`];
}

/** Whether a task can have a security option. */
function isKnownOption(option: string): boolean {
  return /^no-new-privileges(?:[:=](?:true|false))?$/.test(option) ||
    /^label[:=](?:disable|(?:user|role|type|level)[:=].+)$/.test(option);
}
