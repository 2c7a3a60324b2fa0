import { Buffer } from "node:buffer";

/** The forms of a text in other texts, as formats and programs on the way write it; each is listed once. */
export function writtenForms(text: string): Set<string> {
  // Compose doubles the dollar when it prints a value.
  const spellings = [...new Set([text, text.replaceAll("$", "$$$$")])];
  return new Set([
    ...spellings.flatMap((each) => [...quoted(each), ...inUrls(each)]),
    // A value may be encoded together with the JSON around it.
    ...inJson(text).flatMap(base64Forms),
    ...hexForms(text),
  ]);
}

/** The most usual of {@link writtenForms}: as it is, as compose prints it, and as JSON. */
export function usualForms(text: string): Set<string> {
  return new Set([text, text.replaceAll("$", "$$$$"), jsonInner(text)]);
}

/** As JSON, YAML, shells, HTML and programming languages write it between quotes. */
function quoted(text: string): string[] {
  const json = jsonInner(text);
  return [
    ...inJson(text),
    // An error that quotes it, in a line of JSON.
    jsonInner(json),
    json.replaceAll("/", "\\/"),
    // Go quotes some values byte by byte.
    json.replace(/[^\x20-\x7e]+/g, byteEscapes),
    // Between single quotes: YAML doubles them, shells close and open again, languages escape.
    text.replaceAll("'", "''"),
    text.replaceAll("'", `'\\''`),
    text.replaceAll("'", `'"'"'`),
    text.replace(/[\\']/g, "\\$&"),
    // Between double quotes of a shell, and without any.
    text.replace(/["$`\\]/g, "\\$&"),
    text.replace(/["$`\\!]/g, "\\$&"),
    text.replace(/[^\w@%+=:,./-]/g, "\\$&"),
    text.replace(/[&<>"']/g, (each) => HTML[each] ?? each),
  ];
}

/** As it is, and as JSON: Go's encoder, and so compose's, spares HTML; others keep to ASCII. */
function inJson(text: string): string[] {
  const json = jsonInner(text);
  const spared = json.replace(/[<>&]/g, unicodeEscape);
  const ascii = json.replace(/[^\x20-\x7e]/g, unicodeEscape);
  return [...new Set([text, json, spared, ascii])];
}

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&#34;",
  "'": "&#39;",
};

function lowerEscapes(form: string): string {
  return form.replace(/%[0-9A-F]{2}/g, (each) => each.toLowerCase());
}

/** Percent-encoded, for the different ideas of what needs it. */
function inUrls(text: string): string[] {
  try {
    const component = encodeURIComponent(text);
    const strict = component.replace(/[!'()*]/g, percent);
    const forms = [
      component,
      strict,
      encodeURI(text),
      // What URL parsers leave as it is in user information, paths and queries.
      strict.replace(/%(?:24|26|2B|2C|3B|3D|21|27|28|29|2A)/g, decodeURIComponent),
      strict.replace(/%(?:24|26|2B|2C|3A|3B|3D|40|21|27|28|29|2A)/g, decodeURIComponent),
      component.replaceAll("%20", "+"),
      strict.replaceAll("%20", "+"),
    ];
    return [...forms, ...forms.map(lowerEscapes)];
  } catch {
    // A lone surrogate has no URL form.
    return [];
  }
}

/** Shortest part of an encoded text that is told from ordinary words. */
const SHORTEST_ENCODED = 6;

/**
 * The base64 of a text, alone and as part of a longer text that was encoded (`user:password`): there
 * it begins at one of three places inside a group, and its outer characters depend on its neighbours.
 */
function base64Forms(text: string): string[] {
  const parts = [0, 1, 2].map((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text, "utf8")]);
    const [first, end] = [Math.ceil(offset * 8 / 6), Math.floor(bytes.length * 8 / 6)];
    return bytes.toString("base64").slice(first, end);
  }).filter((part) => part.length >= SHORTEST_ENCODED);
  const all = [Buffer.from(text, "utf8").toString("base64"), ...parts];
  return all.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

function hexForms(text: string): string[] {
  const hex = Buffer.from(text, "utf8").toString("hex");
  return [hex, hex.toUpperCase()];
}

function jsonInner(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function unicodeEscape(text: string): string {
  return [...Array(text.length).keys()]
    .map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
}

function byteEscapes(text: string): string {
  return [...Buffer.from(text, "utf8")].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`)
    .join("");
}

function percent(text: string): string {
  return `%${text.charCodeAt(0).toString(16).toUpperCase()}`;
}
