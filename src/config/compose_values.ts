import { clip, isObject, type Problem, recordOf } from "../model/mod.ts";
import { type ComposeText, servicesIn } from "./compose_text.ts";

/** A value that no compose takes: what was expected, and the entry of a list or map that it is. */
type Wrong = readonly [expected: string, ...at: (string | number)[]];

/** Most wrong values of a file that are told: more are one mistake. */
const MOST_WRONG = 20;

/** What is wrong with the values of keys of a service; what may be right for any version is left to compose. */
const CHECKS: Readonly<Record<string, (value: unknown) => Wrong[]>> = {
  image: (value) => typeof value === "string" ? [] : [["expected the name of an image as a text"]],
  build: (value) =>
    isPlain(value) ? [["expected the path of a directory, or a map with context"]] : [],
  command: wordsOf,
  entrypoint: wordsOf,
  environment: environmentOf,
  ports: portsOf,
};

/**
 * Problems of values that every version of compose refuses as soon as it reads the file, whichever profiles
 * are on: plan would say so without the line. Leaves out what has variables.
 */
export function wrongValues(read: ComposeText): Problem[] {
  return servicesIn(read).flatMap(({ name, service, lineOf }) =>
    Object.entries(CHECKS).flatMap(([key, check]) =>
      (service[key] === undefined ? [] : check(service[key])).map(([message, ...at]) => {
        const path = ["services", name, key].join(".") +
          at.map((each) => typeof each === "number" ? `[${each}]` : `.${each}`).join("");
        return { file: read.file, path, ...lineOf(key, ...at), message };
      })
    )
  ).slice(0, MOST_WRONG);
}

/** Whether a value is a number or a boolean, which a text with a variable is not. */
function isPlain(value: unknown): boolean {
  return typeof value === "number" || typeof value === "boolean";
}

function wordsOf(value: unknown): Wrong[] {
  const expected = "expected a text: write numbers, true and false between quotes";
  if (Array.isArray(value)) {
    return value.flatMap((each, at): Wrong[] => typeof each === "string" ? [] : [[expected, at]]);
  }
  if (isPlain(value)) return [[expected]];
  return isObject(value) ? [["expected a text or a list of texts"]] : [];
}

function environmentOf(value: unknown): Wrong[] {
  if (Array.isArray(value)) {
    return value.flatMap((each, at): Wrong[] =>
      isPlain(each) || isObject(each) ? [["expected NAME=value", at]] : []
    );
  }
  if (isPlain(value) || typeof value === "string") {
    return [["expected a map of variables, or a list of NAME=value"]];
  }
  return Object.entries(recordOf(value)).flatMap(([name, each]): Wrong[] =>
    Array.isArray(each) || isObject(each) ? [["expected a text, a number or a boolean", name]] : []
  );
}

function portsOf(value: unknown): Wrong[] {
  if (value === null) return [];
  if (!Array.isArray(value)) return [['expected a list, such as ["8080:80"]']];
  return value.flatMap((each, at): Wrong[] => {
    const why = isObject(each) ? undefined : wrongPort(each);
    return why === undefined ? [] : [[why, at]];
  });
}

/** Why an entry of `ports` is none, `undefined` where it is one, or one for some versions of compose. */
function wrongPort(entry: unknown): string | undefined {
  const expected = "expected [[ADDRESS:]PUBLISHED:]TARGET[/PROTOCOL]";
  if (typeof entry !== "string" && !Number.isInteger(entry)) return expected;
  const text = String(entry);
  if (text.includes("$")) return undefined;
  const [ends = "", ...protocol] = text.split("/");
  const said = `${expected}, found ${JSON.stringify(clip(text, 100))}`;
  if (protocol.length === 1 && !/^(?:tcp|udp|sctp|)$/i.test(protocol[0] ?? "")) {
    return `${said}: the protocol is tcp, udp or sctp`;
  }
  const parts = ends.split(":");
  const [target = "", published = ""] = parts.reverse();
  if (target === "") return `${said}: the target is missing`;
  const wrong = [target, published].map(whyNoPort).find((why) => why !== undefined);
  if (wrong !== undefined) return `${said}: ${wrong}`;
  const [inside, outside] = [target, published].map(countOf);
  if (published !== "" && inside !== undefined && inside > 1 && inside !== outside) {
    return `${said}: both ranges have to be equally long`;
  }
  return undefined;
}

/** Why no version of compose takes a text for a port or a range of them. */
function whyNoPort(text: string): string | undefined {
  if (/\s/.test(text)) return "it has a space";
  if (/[^0-9+-]|^-|-$/.test(text)) return "a port is a number, or a range such as 8000-8010";
  const [first = 0, last = first] = (text.match(/\d+/g) ?? []).map(Number);
  if (Math.max(first, last) > 65535) return "ports go from 1 to 65535";
  return /^\d+-\d+$/.test(text) && last < first ? "a range goes upwards" : undefined;
}

/** How many ports a text names; `undefined` where versions differ. */
function countOf(text: string): number | undefined {
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  return first === undefined ? undefined : Number(last) - Number(first) + 1;
}
