import {
  FUNCTIONS,
  type TemplateFunction,
  TemplateProblem,
  type TemplateValue,
} from "./template_value.ts";

const AUTH_FIELDS = ["username", "password", "token", "api_key"] as const;

const CONTROL =
  /^(?:if|else|end|range|with|define|block|template|break|continue|and|or|not|index)$/;

type Token =
  | { readonly kind: "field"; readonly path: string; readonly at: number }
  | { readonly kind: "literal"; readonly text: string; readonly at: number }
  | { readonly kind: "word" | "mark"; readonly text: string; readonly at: number };

/** Reads one action, from after its `{{` to after its `}}`. */
export class ActionReader {
  readonly #text: string;
  at: number;
  trimsRight = false;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  /** The value; `undefined` for a comment. */
  action(): TemplateValue | undefined {
    const comment = /^\s*\/\*[\s\S]*?\*\/\s*-?\}\}/.exec(this.#text.slice(this.at))?.[0];
    if (comment !== undefined) {
      this.at += comment.length;
      this.trimsRight = comment.endsWith("-}}");
      return undefined;
    }
    return this.#pipeline("}}");
  }

  #pipeline(end: "}}" | ")"): TemplateValue {
    let piped: TemplateValue | undefined;
    for (;;) {
      const { value, mark } = this.#command(piped, end);
      if (mark === end) return value;
      piped = value;
    }
  }

  /** Reads operands up to the next `|` or the end; the piped value becomes the last argument. */
  #command(piped: TemplateValue | undefined, end: "}}" | ")") {
    const first = this.#token();
    const operands: TemplateValue[] = [];
    const name = first.kind === "word" ? functionNamed(first) : undefined;
    let mark = "";
    for (let token = name === undefined ? first : this.#token();; token = this.#token()) {
      if (token.kind === "mark" && token.text !== "(") {
        if (token.text !== "|" && token.text !== end) throw unexpected(token);
        mark = token.text;
        break;
      }
      operands.push(this.#operand(token));
    }
    if (piped !== undefined) operands.push(piped);
    return { value: command(name, operands, first.at), mark };
  }

  #operand(token: Token): TemplateValue {
    if (token.kind === "literal") return { kind: "literal", text: token.text };
    if (token.kind === "field") return fieldOf(token.path, token.at);
    if (token.kind === "mark" && token.text === "(") return this.#pipeline(")");
    throw unexpected(token);
  }

  #token(): Token {
    this.at += /^\s*/.exec(this.#text.slice(this.at))?.[0].length ?? 0;
    const rest = this.#text.slice(this.at);
    const at = this.at + 1;
    const take = (length: number) => this.at += length;
    const close = /^-?\}\}/.exec(rest)?.[0];
    if (close !== undefined) {
      take(close.length);
      this.trimsRight = close.startsWith("-");
      return { kind: "mark", text: "}}", at };
    }
    const field = /^\.[\w.-]+/.exec(rest)?.[0].replace(/-+$/, "");
    if (field !== undefined) return take(field.length), { kind: "field", path: field, at };
    const word = /^[A-Za-z_]\w*/.exec(rest)?.[0];
    if (word !== undefined) return take(word.length), { kind: "word", text: word, at };
    const quoted = /^(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`)/.exec(rest)?.[0];
    if (quoted !== undefined) {
      return take(quoted.length), { kind: "literal", text: unquoted(quoted, at), at };
    }
    if (/^[|()]/.test(rest)) return take(1), { kind: "mark", text: rest[0] ?? "", at };
    if (rest === "") throw new TemplateProblem("an action {{ has no }}", at);
    throw new TemplateProblem("expected a field, a text in quotes, a function, | or }}", at);
  }
}

function functionNamed(token: { readonly text: string; readonly at: number }): TemplateFunction {
  const found = FUNCTIONS.find((name) => name === token.text);
  if (found !== undefined) return found;
  if (CONTROL.test(token.text)) {
    throw new TemplateProblem(`${token.text} is not supported: no control structures`, token.at);
  }
  throw new TemplateProblem(
    `there is no function ${token.text}; there are ${FUNCTIONS.join(", ")}`,
    token.at,
  );
}

function command(
  name: TemplateFunction | undefined,
  operands: readonly TemplateValue[],
  at: number,
): TemplateValue {
  const [only, second] = operands;
  if (name === undefined) {
    if (only === undefined) throw new TemplateProblem("an action is empty", at);
    if (second !== undefined) throw new TemplateProblem("only a function takes values", at);
    return only;
  }
  if (name !== "print" && (only === undefined || second !== undefined)) {
    throw new TemplateProblem(`${name} takes one value, it has ${operands.length}`, at);
  }
  return { kind: "call", function: name, arguments: operands };
}

function fieldOf(path: string, at: number): TemplateValue {
  const [, root, name, ...deeper] = path.split(".");
  const isWhole = name !== undefined && name !== "" && !deeper.includes("");
  if (root === "remote_ref" && isWhole) {
    return { kind: "field", root, name: [name, ...deeper].join(".") };
  }
  if (root === "auth" && deeper.length === 0 && AUTH_FIELDS.some((each) => each === name)) {
    return { kind: "field", root, name: name ?? "" };
  }
  throw new TemplateProblem(
    `expected .remote_ref.<field> or .auth.${AUTH_FIELDS.join("|")}, found ${path}`,
    at,
  );
}

function unquoted(text: string, at: number): string {
  if (text.startsWith("`")) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new TemplateProblem("a text in quotes has an escape that is not known", at);
  }
}

function unexpected(token: Token): TemplateProblem {
  const what = token.kind === "field" ? token.path : token.text;
  return new TemplateProblem(`unexpected ${what}`, token.at);
}
