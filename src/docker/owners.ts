import { COMPOSE_LABELS, type ObservedContainer } from "../model/mod.ts";
import { keepLatest } from "../system/mod.ts";
import type { ApiRequest } from "./api_request.ts";
import { whoseLabels } from "./told.ts";

/** Most containers and projects whose names are remembered. */
const MOST = 20_000;
/** Characters of a name, or of a project, that is remembered. */
const LONGEST_NAME = 512;
const ID = /^[0-9a-f]{64}$/;

/**
 * The names that containers and projects count for, as they were read last: with these the calls for them
 * wait in turn. A container keeps its labels, and a name in a wrong turn only waits in it.
 */
export class Owners {
  readonly #names = new Map<string, string>();

  /** Remembers the name of a container. */
  see({ id, labels }: Pick<ObservedContainer, "id" | "labels">): void {
    const name = whoseLabels(labels);
    if (name.length > LONGEST_NAME) return;
    const project = labels[COMPOSE_LABELS.project] ?? "";
    if (ID.test(id)) keepLatest(this.#names, MOST, id, name);
    if (project === "" || project.length > LONGEST_NAME) return;
    keepLatest(this.#names, MOST, `${COMPOSE_LABELS.project}=${project}`, name);
  }

  /** The name of whom a call is for; empty where that is not known, and for everybody's things. */
  of({ path, query }: Pick<ApiRequest, "path" | "query">): string {
    const [, id = ""] = /^\/containers\/([^/]+)\//.exec(path) ?? [];
    const filters = query?.["filters"];
    const labels = typeof filters === "object" && "label" in filters ? filters.label : [];
    const asked = [id, ...Array.isArray(labels) ? labels.map(String) : []];
    return asked.map((each) => this.#names.get(each) ?? "").find((name) => name !== "") ?? "";
  }
}
