import type { StoreTemplate, TemplatePart, TemplateRoot, TemplateValue } from "./template_value.ts";
import { ActionReader } from "./template_action.ts";

/** Reads a template. Throws `TemplateProblem`. */
export function parseStoreTemplate(text: string): StoreTemplate {
  const parts: TemplatePart[] = [];
  let at = 0;
  let trimNext = false;
  const literal = (piece: string, trimEnd: boolean) => {
    const started = trimNext ? piece.trimStart() : piece;
    const trimmed = trimEnd ? started.trimEnd() : started;
    if (trimmed !== "") parts.push({ kind: "text", text: trimmed });
  };
  for (let open = text.indexOf("{{"); open >= 0; open = text.indexOf("{{", at)) {
    const trimsLeft = /^\{\{-\s/.test(text.slice(open, open + 4));
    literal(text.slice(at, open), trimsLeft);
    const reader = new ActionReader(text, open + (trimsLeft ? 3 : 2));
    const value = reader.action();
    if (value !== undefined) parts.push({ kind: "action", value });
    ({ at, trimsRight: trimNext } = reader);
  }
  literal(text.slice(at), false);
  return { parts };
}

/** Names of the fields below a root that a template uses. */
export function templateFields(template: StoreTemplate, root: TemplateRoot): Set<string> {
  const names = new Set<string>();
  const visit = (value: TemplateValue) => {
    if (value.kind === "field" && value.root === root) names.add(value.name);
    if (value.kind === "call") value.arguments.forEach(visit);
  };
  for (const part of template.parts) if (part.kind === "action") visit(part.value);
  return names;
}
