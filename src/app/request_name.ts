import type { SourceRequest } from "../model/mod.ts";
import { sourceLocation } from "../source/mod.ts";

/** The name of a source before anybody asked for it; never its URL, which may carry credentials. */
export function requestName({ kind, url, identity }: SourceRequest): string {
  try {
    return identity ?? sourceLocation(kind, url).name;
  } catch {
    return "a source whose address cannot be read";
  }
}
