/** References that a remote said it has. */
export interface RemoteRefs {
  /** Object ids by full name; an annotated tag has its commit under the same name with `^{}`. */
  readonly ids: ReadonlyMap<string, string>;
  /** The branch that `HEAD` points to, where the remote says so. */
  readonly head: string | undefined;
}

/** Reads the output of `git ls-remote --symref`. */
export function parseRemoteRefs(output: string): RemoteRefs {
  const ids = new Map<string, string>();
  let head: string | undefined;
  for (const line of output.split("\n")) {
    const tab = line.indexOf("\t");
    if (tab < 0) continue;
    const value = line.slice(0, tab);
    const name = line.slice(tab + 1);
    if (!value.startsWith("ref: ")) ids.set(name, value);
    else if (name === "HEAD") head = value.slice("ref: ".length);
  }
  return { ids, head };
}

/** A reference as the remote has it now. */
export interface RemoteRef {
  /** Full name. */
  readonly name: string;
  /** The commit, or whatever a tag without an annotation points to. */
  readonly id: string;
}

/** The first of `candidates` that the remote has, peeled. */
export function pickRef(refs: RemoteRefs, candidates: readonly string[]): RemoteRef | undefined {
  for (const name of candidates) {
    const id = refs.ids.get(`${name}^{}`) ?? refs.ids.get(name);
    if (id !== undefined) return { name, id };
  }
  return undefined;
}

/** Keeps only `names` of an answer: servers match by prefix, or list all references. */
export function only(names: readonly string[], { ids, head }: RemoteRefs): RemoteRefs {
  const wanted = new Map<string, string>();
  for (const name of names.flatMap((each) => [each, `${each}^{}`])) {
    const id = ids.get(name);
    if (id !== undefined) wanted.set(name, id);
  }
  return { ids: wanted, head };
}
