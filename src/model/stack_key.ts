/** The identity of one deployment: the same name on two contexts is two deployments. */
export interface StackKey {
  /** Name of the container context; `default` for the default one. Never empty. */
  readonly context: string;
  /** Compose project or swarm stack name. */
  readonly name: string;
}

/** The name under which the default container context is shown and stored. */
export const DEFAULT_CONTEXT = "default";

/** Builds a key; an empty context and `default` in any case are the same context. */
export function stackKey(context: string, name: string): StackKey {
  const trimmed = context.trim();
  const isDefault = trimmed === "" || trimmed.toLowerCase() === DEFAULT_CONTEXT;
  return { context: isDefault ? DEFAULT_CONTEXT : trimmed, name };
}

/** A stack as command-line arguments: `shop`, or `--context nas shop` in another context. */
export function formatStackArguments({ context, name }: StackKey): string {
  return context === DEFAULT_CONTEXT ? name : `--context ${context} ${name}`;
}

/** A key as one string for maps and logs; unambiguous, since names cannot contain `/`. */
export function formatStackKey(key: StackKey): string {
  return `${key.context}/${key.name}`;
}
