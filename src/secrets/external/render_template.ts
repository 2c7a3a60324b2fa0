import { Buffer } from "node:buffer";
import type { StoreTemplate, TemplateFunction, TemplateValue } from "../../config/mod.ts";
import { unresolved } from "./provider.ts";

/** Values that templates take their fields from. */
export interface TemplateValues {
  readonly remote_ref: Readonly<Record<string, string>>;
  readonly auth: Readonly<Record<string, string>>;
}

/** Makes a value fit for the place it is put into; `before` is all text in front of it. */
type Escape = (value: string, before: string) => string;

/** The text of a template. Throws `secret_unresolved` for a field that has no value. */
export function renderTemplate(
  template: StoreTemplate,
  values: TemplateValues,
  escape: Escape = (value) => value,
): string {
  let text = "";
  for (const part of template.parts) {
    text += part.kind === "text" ? part.text : escape(valueOf(part.value, values), text);
  }
  return text;
}

function valueOf(value: TemplateValue, values: TemplateValues): string {
  if (value.kind === "literal") return value.text;
  if (value.kind === "field") {
    const fields = values[value.root];
    const found = Object.hasOwn(fields, value.name) ? fields[value.name] : undefined;
    if (found === undefined) throw unresolved(`.${value.root}.${value.name} has no value`);
    return found;
  }
  const texts = value.arguments.map((each) => valueOf(each, values));
  return value.function === "print" ? texts.join("") : call(value.function, texts[0] ?? "");
}

function call(name: Exclude<TemplateFunction, "print">, text: string): string {
  switch (name) {
    case "b64enc":
      return Buffer.from(text, "utf8").toString("base64");
    case "b64dec":
      return decodedBase64(text);
    case "urlencode":
      return encodedUrl(text);
    case "urldecode":
      return decodedUrl(text);
    case "json":
      return JSON.stringify(text);
    case "toUpper":
      return text.toUpperCase();
    case "toLower":
      return text.toLowerCase();
    case "trim":
      return text.trim();
  }
}

function decodedBase64(text: string): string {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) {
    throw unresolved("b64dec was given something that is not base64");
  }
  return Buffer.from(text, "base64").toString("utf8");
}

/** As in the query of a URL: everything but letters, digits and `-_.~`, and a space as `+`. */
function encodedUrl(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  ).replaceAll("%20", "+");
}

function decodedUrl(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw unresolved("urldecode was given something that is not URL-encoded");
  }
}
