import { Buffer } from "node:buffer";
import { objectAt, servicesOf } from "../compose/mod.ts";
import { type ComposeModel, errors } from "../model/mod.ts";

/**
 * Longest `NAME=value` that a program is started with: the kernel's MAX_ARG_STRLEN, less the beginning of
 * the names under which compose gets the values of configs and secrets.
 */
const LONGEST = 128 * 1024 - 64;

/**
 * Refuses a variable of a container that no program can be started with: it would fail while containers
 * are replaced. Throws `config_invalid`, which names the variable and shows no value.
 */
export function requireShortEnvironment(model: ComposeModel): void {
  for (const [service, definition] of Object.entries(servicesOf(model))) {
    for (const [name, value] of Object.entries(objectAt(definition, "environment"))) {
      if (typeof value === "string") requireShort(`services.${service}.environment`, name, value);
    }
  }
}

/** The same for one variable; `where` is what uses it. Throws `config_invalid`. */
export function requireShort(where: string, name: string, value: string): void {
  const length = Buffer.byteLength(`${name}=${value}`);
  if (length <= LONGEST) return;
  throw errors.config_invalid(
    `${where}: the variable ${name} is ${Math.floor(length / 1024)} KiB long, and a program ` +
      "takes at most 128 KiB of one: give the text by a file of the repository, which is mounted",
  );
}
