import { type ComposeModel, errors, own } from "../../model/mod.ts";
import {
  type JsonObject,
  objectAt,
  objectsAt,
  placeOfFile,
  serviceOf,
  textAt,
} from "../../compose/mod.ts";
import type { TarEntry } from "./tar.ts";
import { fileMode, numberOf } from "./units.ts";

/** A file that is put into a container before it starts. */
export interface InjectedFile extends Omit<TarEntry, "kind"> {
  readonly content: string;
}

/** One use of a config or secret by a service. */
export interface FileUse {
  /** Absolute path in the container. */
  readonly path: string;
  /** The entry of the service. */
  readonly use: JsonObject;
  /** The project's definition of the config or secret. */
  readonly resource: JsonObject;
}

/** The configs and secrets of a service, secrets first. */
export function fileUses(model: ComposeModel, service: JsonObject): FileUse[] {
  return (["secrets", "configs"] as const).flatMap((kind) =>
    objectsAt(service, kind).map((use) => ({
      path: placeOfFile(kind, use),
      use,
      resource: objectAt(objectAt(model, kind), textAt(use, "source")),
    }))
  );
}

/** Whether a config or secret has its value in the model or in a variable instead of a file. */
export function isValue(resource: JsonObject): boolean {
  return typeof resource["content"] === "string" || textAt(resource, "environment") !== "";
}

/** The files of a service whose content is a value. Throws `deploy_failed` for a missing variable. */
export function injectedFiles(
  model: ComposeModel,
  service: string,
  variables: Readonly<Record<string, string>>,
): InjectedFile[] {
  const uses = fileUses(model, serviceOf(model, service));
  return uses.filter(({ resource }) => isValue(resource)).map(({ path, use, resource }) => {
    const variable = textAt(resource, "environment");
    const content = variable === "" ? textAt(resource, "content") : own(variables, variable);
    if (content === undefined) {
      throw errors.deploy_failed(
        `service ${service}: the file ${path} takes its value from the variable ${variable}, which ` +
          "is not set; set it in environment or in a file of env_files",
      );
    }
    const [uid, gid] = [numberOf(use["uid"]) ?? 0, numberOf(use["gid"]) ?? 0];
    return { path, content, mode: fileMode(use["mode"]), uid, gid };
  });
}
