/**
 * Templates of secret stores: text with actions such as `{{ .remote_ref.key | urlencode }}`. They
 * know fields, literals, pipelines and a few functions, and no control structures.
 */
export interface StoreTemplate {
  readonly parts: readonly TemplatePart[];
}

/** Literal text, or an action that is replaced by its value. */
export type TemplatePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "action"; readonly value: TemplateValue };

/** The value that an action prints. */
export type TemplateValue =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "field"; readonly root: TemplateRoot; readonly name: string }
  | {
    readonly kind: "call";
    readonly function: TemplateFunction;
    readonly arguments: readonly TemplateValue[];
  };

/** The origin of fields: the reference of a deployment, or the settings of the provider. */
export type TemplateRoot = "remote_ref" | "auth";

/** Names of the functions of the templates. */
export const FUNCTIONS = [
  "print",
  "b64enc",
  "b64dec",
  "urlencode",
  "urldecode",
  "json",
  "toUpper",
  "toLower",
  "trim",
] as const;

/** A function of the templates. */
export type TemplateFunction = (typeof FUNCTIONS)[number];

/** The fault in a template, and at which character of it (1-based). */
export class TemplateProblem extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}
