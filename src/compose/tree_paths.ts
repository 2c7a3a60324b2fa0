import { dirname, isAbsolute, join, relative } from "node:path/posix";
import type { ComposeModel } from "../model/mod.ts";
import { isObject, type JsonObject, objectAt, objectsAt, servicesOf, textAt } from "./model.ts";

/** A path of the source that a service uses. */
export interface TreeUse {
  readonly service: string;
  readonly kind: "bind" | "config" | "secret" | "build";
  /** Target of a bind mount, name of a config or secret, else empty. */
  readonly item: string;
  /** Path in the tree, `.` for its root. */
  readonly path: string;
  /** Whether a container may write to the path: always by way of a named volume. */
  readonly writable: boolean;
  /** Whether the container needs it to exist in the source. */
  readonly required: boolean;
}

/** Every path below `tree` that services of a rendered model mount, read or build from. */
export function treeUses(model: ComposeModel, tree: string): TreeUse[] {
  return Object.entries(servicesOf(model)).flatMap(([name, service]) => [
    ...bindUses(name, service, model, tree),
    ...fileUses(name, service, model, tree),
    ...buildUses(name, service, model, tree),
  ]);
}

/** A text of a rendered model with plain dollars: compose doubles each dollar that it prints. */
export function plainDollars(text: string): string {
  return text.replaceAll("$$", "$");
}

/** A text as compose prints it, for a rendered model: compose undoes that when it acts. */
export function asPrinted(text: string): string {
  return text.replaceAll("$", "$$$$");
}

/** The path in `tree`, with plain dollars, that a text of a rendered model names; see {@link insideTree}. */
export function printedInside(printed: string, tree: string): string | undefined {
  return insideTree(plainDollars(printed), tree);
}

/** The directories that an absolute path lies in, the nearest first. */
export function parentsOf(path: string): string[] {
  const found: string[] = [];
  for (let at = dirname(path); at !== found.at(-1); at = dirname(at)) found.push(at);
  return found;
}

/** `path` relative to `tree`; `undefined` if it lies outside. */
export function insideTree(path: string, tree: string): string | undefined {
  if (!isAbsolute(path)) return undefined;
  const inside = relative(tree, path);
  if (inside === "") return ".";
  return inside === ".." || inside.startsWith("../") || isAbsolute(inside) ? undefined : inside;
}

type UsesOf = (
  service: string,
  definition: JsonObject,
  model: ComposeModel,
  tree: string,
) => TreeUse[];

const bindUses: UsesOf = (service, definition, model, tree) =>
  objectsAt(definition, "volumes").flatMap((volume) => {
    const path = printedInside(mountedPath(volume, model), tree);
    if (path === undefined) return [];
    // Compose prints no `bind` where its author wrote none, and has made the path of such a mount since 5.
    const createsPath = volume["type"] === "bind" &&
      (volume["bind"] === undefined || objectAt(volume, "bind")["create_host_path"] === true);
    // A named volume is another stack's to mount, too, and another key's that has its name.
    const writable = volume["type"] === "volume" || volume["read_only"] !== true;
    const item = textAt(volume, "target");
    return [{ service, kind: "bind", item, path, writable, required: !createsPath }];
  });

/** The host path of a mount: its own, or its named volume's. */
function mountedPath(mount: JsonObject, model: ComposeModel): string {
  const source = textAt(mount, "source");
  if (mount["type"] !== "volume") return mount["type"] === "bind" ? source : "";
  const volume = objectAt(objectAt(model, "volumes"), source);
  return textAt(objectAt(volume, "driver_opts"), "device");
}

const fileUses: UsesOf = (service, definition, model, tree) => {
  const uses = (kind: "config" | "secret", references: readonly JsonObject[]) =>
    references.flatMap((reference) => {
      const item = textAt(reference, "source");
      const { file } = objectAt(objectAt(model, `${kind}s`), item);
      const path = typeof file === "string" ? printedInside(file, tree) : undefined;
      if (path === undefined) return [];
      return [{ service, kind, item, path, writable: false, required: true }];
    });
  return [
    ...uses("config", objectsAt(definition, "configs")),
    ...uses("secret", objectsAt(definition, "secrets")),
  ];
};

const buildUses: UsesOf = (service, definition, model, tree) => {
  const build = definition["build"];
  if (!isObject(build)) return [];
  const contexts = Object.values(objectAt(build, "additional_contexts"));
  const secrets = objectsAt(build, "secrets").map((secret) =>
    textAt(objectAt(objectAt(model, "secrets"), textAt(secret, "source")), "file")
  );
  const context = textAt(build, "context");
  const use = (path: unknown, required: boolean): TreeUse[] => {
    const inside = typeof path === "string" ? printedInside(path, tree) : undefined;
    if (inside === undefined) return [];
    return [{ service, kind: "build", item: "", path: inside, writable: false, required }];
  };
  const dockerfile = dockerfileBeside(build, context);
  return [
    ...[context, ...contexts, ...secrets, dockerfile].flatMap((each) => use(each, true)),
    ...(dockerfile === undefined ? [] : use(`${dockerfile}.dockerignore`, false)),
  ];
};

/**
 * A Dockerfile outside of the build context, whose content id does not cover it. Compose prints it
 * as written: relative to the context, or absolute.
 */
function dockerfileBeside(build: JsonObject, context: string): string | undefined {
  const written = textAt(build, "dockerfile");
  if (written === "") return undefined;
  if (!isAbsolute(written) && !isAbsolute(context)) return undefined;
  const path = isAbsolute(written) ? written : join(context, written);
  return insideTree(path, context) === undefined ? path : undefined;
}
