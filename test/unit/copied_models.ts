/**
 * Projects with as many characters as compose may print. What an anchor names is written out for every
 * service: a few kilobytes in a file are four megabytes of a project, and whatever looks at each text of each
 * service looks at all of them.
 */
import { BOUNDS } from "../../src/compose/model_bounds.ts";
import { RENDER_LIMIT_BYTES } from "../../src/deploy/compose/render_limits.ts";
import { TREE } from "./saturated_models.ts";

type Json = Record<string, unknown>;

const list = <T>(count: number, each: (at: number) => T): T[] =>
  Array.from({ length: Math.floor(count) }, (_, at) => each(at));
const map = (count: number, each: (at: number) => unknown, name = "NAME_"): Json =>
  Object.fromEntries(list(count, (at) => [`${name}${at}`, each(at)]));

const { services: SERVICES, values: VALUES, entries: ENTRIES } = BOUNDS;
/** Characters that each service may have of what all of them share, and entries of lists of it. */
const SHARE = RENDER_LIMIT_BYTES / SERVICES - 400;
const ITEMS = VALUES / SERVICES - 20;

/** The same in each service; none has a container, so that the engine's list of these has no limit. */
const services = (each: (at: number) => Json): Json => ({
  services: map(SERVICES, (at) => ({ image: "a", scale: 0, ...each(at) }), "s"),
});
const texts = (count: number, text: (at: number) => string) =>
  list(count, (at) => text(at).padEnd(SHARE / count - 4, "ab "));
const named = (count: number, text: (at: number) => string = String, name = "NAME_") =>
  map(count, (at) => text(at).padEnd(SHARE / count - name.length - 10, "ab "), name);
const long = (part: string) => part.repeat(SHARE / (JSON.stringify(part).length - 2));
const build = (more: Json): Json => ({ build: { context: TREE, dockerfile: "a", ...more } });
/** Lists in lists with so many values: compose indents them, so that deeper ones have fewer. */
const nested = (depth: number, values: number): unknown => {
  let inner: unknown = list(Math.min(ENTRIES, values - depth), () => "a");
  for (let level = 1; level < depth; level++) inner = level % 2 === 0 ? [inner] : { a: inner };
  return inner;
};

/** Maps of services that an author fills as he likes. */
const MAPS = ["environment", "labels", "x-shared"];
/** Texts that are hard on whatever searches them. */
const TEXTS = {
  "secrets": "aB3-xK9q",
  "options": "--password=aB3- ",
  "URLs": "x://a:b@",
  "dollars": "$$",
  "escapes": '\u0001"\\\n',
  "templates": "{{.Node.ID}}",
};

/** The projects by what all of their services share. */
export const COPIED: Readonly<Record<string, () => Json>> = {
  ...Object.fromEntries(
    MAPS.map((key) => [`${key} in all services`, () => services(() => ({ [key]: named(ITEMS) }))]),
  ),
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([name, part]) => [
      `a long text of ${name} in all services`,
      () => services(() => ({ environment: { TEXT: long(part) } })),
    ]),
  ),
  "variables that sound secret in all services": () =>
    services((at) => ({ environment: named(ITEMS, (index) => `aB3xK${at}q${index}`, "A_TOKEN_") })),
  "arguments of builds in all services": () => services(() => build({ args: named(ITEMS) })),
  "contexts of builds in all services": () =>
    services(() => build({ additional_contexts: map(ITEMS, (at) => `${TREE}/contexts/${at}`) })),
  "commands in all services": () =>
    services(() => ({ command: texts(ITEMS, (at) => `--password=aB3xk${at}`) })),
  "tests of health in all services": () =>
    services(() => ({ healthcheck: { test: texts(ITEMS, String) } })),
  "options of logging in all services": () =>
    services(() => ({ logging: { driver: "json-file", options: named(ITEMS) } })),
  "hosts in all services": () =>
    services(() => ({ extra_hosts: map(ITEMS / 2, () => ["10.0.0.1"], "host".repeat(10)) })),
  "aliases in all services": () => ({
    ...services(() => ({ networks: { n: { aliases: texts(ITEMS, (at) => `alias-${at}`) } } })),
    networks: { n: { name: "n" } },
  }),
  "twenty mounts in all services": () =>
    services((at) => ({
      volumes: list(20, (index) => ({
        type: "bind",
        source: `${TREE}/${at}/${index}${"/d".repeat(40)}`,
        target: `/data/${index}${"/e".repeat(40)}`,
      })),
    })),
  "long keys in all services": () =>
    services(() => ({ labels: map(SHARE / 1000, () => "", "k".repeat(990)) })),
  "lists in lists": () => ({
    services: map(45, () => ({ image: "a", "x-deep": nested(20, 2100) }), "s"),
  }),
  "everything in one service": () => ({
    services: {
      s0: {
        image: "a",
        scale: 0,
        ...Object.fromEntries(
          MAPS.map((key) => [key, map(ENTRIES, (at) => "ab ".repeat(100) + at)]),
        ),
      },
    },
  }),
  "many small values": () => ({
    services: {
      s0: { image: "a", ...map(VALUES / ENTRIES - 1, () => list(ENTRIES, () => 1), "x-list-") },
    },
  }),
};
