import { dirname, isAbsolute, relative, resolve } from "node:path/posix";
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
  /**
   * The path of a build's context, of a file that a build reads by a name of its own: it is an input only
   * where it exists, and where no link of its path leads back to what the content of the context covers.
   */
  readonly within?: string;
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

const buildUses: UsesOf = (service, { build }, model, tree) => {
  if (!isObject(build)) return [];
  const context = textAt(build, "context");
  const secrets = objectsAt(build, "secrets").map((secret) =>
    textAt(objectAt(objectAt(model, "secrets"), textAt(secret, "source")), "file")
  );
  const use = (path: unknown, more: Pick<TreeUse, "required" | "within">): TreeUse[] => {
    const inside = typeof path === "string" ? printedInside(path, tree) : undefined;
    if (inside === undefined) return [];
    return [{ service, kind: "build", item: "", path: inside, writable: false, ...more }];
  };
  const directories = [context, ...Object.values(objectAt(build, "additional_contexts"))];
  const within = printedInside(context, tree) ?? "";
  const dockerfile = dockerfileOf(build);
  return [
    ...[...directories, ...secrets].flatMap((path) => use(path, { required: true })),
    ...dockerfileNames(dockerfile ?? "").flatMap((name) =>
      ["", ...READ_BESIDE].flatMap((ending) => {
        const isBeside = name === dockerfile && ending !== ".rego" &&
          insideTree(name, context) === undefined;
        return use(
          name + ending,
          isBeside ? { required: ending === "" } : { required: false, within },
        );
      })
    ),
  ];
};

/** Endings of what buildx reads beside a Dockerfile. */
export const READ_BESIDE = [".dockerignore", ".rego"] as const;

/**
 * The path of a build's Dockerfile, as printed: compose leaves it relative to the context, or absolute.
 * `undefined` where it is in the compose file, or is none of a checkout.
 */
export function dockerfileOf(build: unknown): string | undefined {
  if (!isObject(build) || textAt(build, "dockerfile_inline") !== "") return undefined;
  const path = resolve(textAt(build, "context"), textAt(build, "dockerfile") || "Dockerfile");
  return [build["dockerfile"], build["context"]].some((each) => isAbsolute(String(each)))
    ? path
    : undefined;
}

/** The paths at which buildx looks for a Dockerfile, in this order. */
export function dockerfileNames(path: string): string[] {
  if (path === "") return [];
  return path.endsWith("/Dockerfile") ? [path, path.replace(/Dockerfile$/, "dockerfile")] : [path];
}
