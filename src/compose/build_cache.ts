import { clip } from "../model/mod.ts";

/** Cache types of buildx that use nothing of this machine: no directory, no credentials. */
const HARMLESS_TYPES: ReadonlySet<string> = new Set(["azblob", "gha", "inline", "registry"]);

/**
 * Options of a registry. Not `registry.insecure`: newer engines then send the registry's credentials by
 * plain http to whatever answers at its address.
 */
const OF_REGISTRIES: ReadonlySet<string> = new Set([
  "type",
  "ref",
  "mode",
  "image-manifest",
  "oci-mediatypes",
  "compression",
  "compression-level",
  "force-compression",
  "ignore-error",
]);

/** Why an entry of `cache_from` or `cache_to` is refused; `undefined` if it is not. */
export function refusedCache(entry: string): string | undefined {
  const fields = csvFields(entry);
  if (fields === undefined) return "that is not plain text of the form key=value,key=value";
  // Text without any key is the name of an image.
  if (fields.every((field) => !field.includes("="))) return undefined;
  const options = fields.map(optionOf);
  const keys = new Set(options.map((each) => each.key));
  const types = options.filter((each) => each.key === "type").map((each) => each.value);
  if (keys.has("src") || keys.has("dest") || types.includes("local")) {
    return "with a directory: it is one of this machine";
  }
  const odd = types.includes("registry") && [...keys].find((each) => !OF_REGISTRIES.has(each));
  if (typeof odd === "string") {
    return `with the option ${JSON.stringify(clip(odd, 50))}, which is not known to be harmless`;
  }
  // Without both keys, buildx uses the credentials of its own environment.
  const hasKeys = keys.has("access_key_id") && keys.has("secret_access_key");
  const type = types.find((each) => !HARMLESS_TYPES.has(each) && !(each === "s3" && hasKeys));
  if (type === undefined) return undefined;
  return type === "s3"
    ? "of type s3 without access_key_id and secret_access_key: those of this machine would be used"
    : `of type ${JSON.stringify(clip(type, 50))}, which is not known to be harmless`;
}

function optionOf(field: string): { readonly key: string; readonly value: string } {
  const at = field.indexOf("=");
  const key = (at < 0 ? field : field.slice(0, at)).trim().toLowerCase();
  return { key, value: at < 0 ? "" : field.slice(at + 1).trim() };
}

/** The fields of one line of CSV; `undefined` if parsers may read it differently. */
function csvFields(text: string): string[] | undefined {
  if (/[\r\n\0]/.test(text)) return undefined;
  if (!text.includes('"')) return text.split(",");
  const fields: string[] = [];
  for (let at = 0; at <= text.length;) {
    if (text[at] !== '"') {
      const end = text.indexOf(",", at);
      const field = text.slice(at, end < 0 ? text.length : end);
      if (field.includes('"')) return undefined;
      fields.push(field);
      at += field.length + 1;
      continue;
    }
    let field = "";
    for (let from = at + 1;;) {
      const quote = text.indexOf('"', from);
      if (quote < 0) return undefined;
      field += text.slice(from, quote);
      from = quote + 1;
      if (text[from] !== '"') {
        at = from;
        break;
      }
      field += '"';
      from++;
    }
    if (at < text.length && text[at] !== ",") return undefined;
    fields.push(field);
    at++;
  }
  return fields;
}
