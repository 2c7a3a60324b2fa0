import { COMPOSE_BUILD_KEYS, COMPOSE_SERVICE_KEYS } from "../config/compose_keys.ts";
import { type ComposeModel, errors, isFilled, own } from "../model/mod.ts";
import { isObject, type JsonObject, mapServices, objectAt, servicesOf } from "./model.ts";

/** Keys that compose follows to somewhere else: a rendered service means the same without them. */
const FOLLOWED: ReadonlySet<string> = words("develop env_file extends label_file profiles");
/** Why a rendered model may not have a key, for keys that deserve an explanation. */
const REASONS: Readonly<Record<string, string>> = {
  // Compose prints it where it found nothing there, and looks again when it makes containers.
  extends: "extends of a service without a key: take extends out, or write keys there",
  // Compose 5.5 prints those of a service alone, without the models of the project.
  models: "models, for which compose runs a program on the machine of Stackwright",
  provider: "provider, which would run a program on the machine of Stackwright",
  use_api_socket: "use_api_socket, which would hand out the credentials for our registries",
};
/** Of the keys of the specification, those whose paths and programs {@link followedPaths} knows. */
const OF_A_SERVICE: ReadonlySet<string> = new Set(
  COMPOSE_SERVICE_KEYS.filter((key) => !FOLLOWED.has(key) && !Object.hasOwn(REASONS, key)),
);

const OF_A_PROJECT = words("configs name networks secrets services version volumes");
const OF_A_FILE = words(
  "content driver driver_opts environment external file labels name template_driver",
);
const OF_A_BUILD: ReadonlySet<string> = new Set(COMPOSE_BUILD_KEYS);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/**
 * The model that an acting compose is given. Compose evaluates it once more, with other variables than
 * it was rendered with and with nobody looking: so it has only keys whose meaning our checks know, none
 * that leads compose to a file or program, and no name without a value that `given`, the names of the
 * variables of that compose, would give one.
 *
 * Throws `unsupported` for any other key.
 */
export function handedOver(model: ComposeModel, given: ReadonlySet<string>): ComposeModel {
  const [refused] = refusedKeys(model, FOLLOWED);
  if (refused !== undefined) {
    throw errors.unsupported(`docker compose is not handed ${refused}: deploy it without that`);
  }
  const kept = mapServices(only(model, OF_A_PROJECT), (service) => {
    const { build, environment, ...rest } = only(service, OF_A_SERVICE);
    const isKept = (name: string) => !given.has(name);
    return {
      ...rest,
      ...(isObject(build) ? { build: plainBuild(build) } : {}),
      ...(environment === undefined ? {} : { environment: valued(environment, isKept) }),
    };
  });
  return { ...kept, ...plainFiles(model, "configs"), ...plainFiles(model, "secrets") };
}

/** Keys of a rendered model that no compose is handed, as clauses that say why. */
export function notHandedOver(model: ComposeModel): string[] {
  return refusedKeys(model, FOLLOWED.difference(new Set(["extends"])));
}

function refusedKeys(model: ComposeModel, left: ReadonlySet<string>): string[] {
  const services = Object.entries(servicesOf(model)).flatMap(([name, service]) => [
    [`service ${name}: `, service, OF_A_SERVICE.union(left)] as const,
    [`service ${name}: build `, service["build"], OF_A_BUILD] as const,
  ]);
  const files = (["configs", "secrets"] as const).flatMap((kind) =>
    Object.entries(objectAt(model, kind)).map(([key, each]) =>
      [`${kind}.${key}: `, each, OF_A_FILE] as const
    )
  );
  return [...services, ["", model, OF_A_PROJECT] as const, ...files].flatMap(([of, value, known]) =>
    Object.entries(isObject(value) ? value : {})
      .filter(([key, each]) => !known.has(key) && !key.startsWith("x-") && isFilled(each))
      .map(([key]) => of + (own(REASONS, key) ?? `${key}, ${UNKNOWN}`))
  );
}

const UNKNOWN = "a key that this version of Stackwright does not know: remove it, or update";

function only(object: JsonObject, known: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => known.has(key)));
}

/** The build without arguments that have no value: no build gets them, unless compose finds one. */
function plainBuild(build: JsonObject): JsonObject {
  const { args, ...rest } = only(build, OF_A_BUILD);
  return args === undefined ? rest : { ...rest, args: valued(args, () => false) };
}

/** Variables with a value, and those without one that are kept; a map, or a list of texts. */
function valued(variables: unknown, isKept: (name: string) => boolean): unknown {
  if (Array.isArray(variables)) {
    return variables.filter((each) => String(each).includes("=") || isKept(String(each)));
  }
  if (!isObject(variables)) return variables;
  return Object.fromEntries(
    Object.entries(variables).filter(([name, value]) => value !== null || isKept(name)),
  );
}

function plainFiles(model: ComposeModel, kind: "configs" | "secrets"): JsonObject {
  if (!isObject(model[kind])) return {};
  const files = Object.entries(model[kind])
    .map(([key, each]) => [key, isObject(each) ? only(each, OF_A_FILE) : each]);
  return { [kind]: Object.fromEntries(files) };
}
