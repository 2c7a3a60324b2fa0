/** One variable that a dotenv file sets. */
export interface DotenvEntry {
  readonly name: string;
  /** Without quotes and escapes; variables in it are not replaced. */
  readonly value: string;
}

/** Name, then a value between single quotes, between double quotes, or up to a comment or line end. */
const ENTRY =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*[=:][ \t]*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\n]*?)(?:[ \t]+#[^\n]*)?[ \t]*$)/gms;

/**
 * The variables of a dotenv file. It is read to know which texts to hide, so what is doubtful is taken
 * as it stands: compose alone decides what the variables are.
 */
export function dotenvEntries(text: string): DotenvEntry[] {
  const unified = text.replace(/\r\n?/g, "\n");
  return [...unified.matchAll(ENTRY)].map(([, name = "", single, double, plain]) => ({
    name,
    value: single ?? (double === undefined ? plain ?? "" : unescaped(double)),
  }));
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, each: string) => ESCAPES[each] ?? each);
}
