import { isAbsolute, resolve } from "node:path/posix";
import type { ComposeModel } from "../model/mod.ts";
import { refusedCache } from "./build_cache.ts";
import { type JsonObject, objectAt, objectsAt, textAt, textsOf } from "./model.ts";

/**
 * Expressions that compose 2.37 and later leave to `buildx bake`, which evaluates them: to it
 * `.%{if true}.%{endif}/x` is `../x`, while earlier versions see a plain name.
 */
const EXPRESSION = /[$%]\{/;

/** Characters that break a field in compose's CSV: `./x,src=/etc/shadow` would read that file. */
const MORE_THAN_ONE_FIELD = /[",\r\n]/;

/** The paths that a build reads, and its refused settings. */
export function buildPaths(build: JsonObject, model: ComposeModel) {
  const paths: { what: string; path: string }[] = [];
  const refused: string[] = [];
  const context = textAt(build, "context");
  const files = objectsAt(build, "secrets").map((each) =>
    textAt(objectAt(objectAt(model, "secrets"), textAt(each, "source")), "file")
  );
  const { args: _args, dockerfile_inline: _inline, labels: _labels, ssh, ...read } = build;
  for (const [key, value] of Object.entries({ ...read, "secrets by files": files })) {
    if (EXPRESSION.test(JSON.stringify({ [key]: value }))) {
      refused.push(`${key} with \${ or %{, which newer versions of compose have buildx replace`);
    }
  }
  const addContext = (what: string, value: string) => {
    if (isAbsolute(value)) paths.push({ what, path: value });
    else {
      const why = value === "" ? ", which is empty" : " from elsewhere";
      // Of a layout buildx gives the engine a store that it may write to, links of the commit included.
      refused.push(`${what}${why}: only directories of the repository are built`);
    }
  };
  if (context !== "" || build["dockerfile_inline"] === undefined) addContext("context", context);
  for (const [name, value] of Object.entries(objectAt(build, "additional_contexts"))) {
    // Images, and results of other builds, come from the engine. Versions of compose that know no
    // services there take `service:x://../..` for a relative path, which they leave as it is.
    if (/^(?:docker-image:\/\/|(?:service|target):[^/]*$)/.test(String(value))) continue;
    addContext(`additional_contexts.${name}`, String(value));
  }
  const dockerfile = textAt(build, "dockerfile");
  if (dockerfile === "-" || /^[a-z][a-z0-9+.-]*:\/\//i.test(dockerfile)) {
    refused.push("dockerfile from elsewhere: it must be a file of the repository");
  }
  if (dockerfile !== "" && (isAbsolute(dockerfile) || isAbsolute(context))) {
    paths.push({ what: "dockerfile", path: resolve(context, dockerfile) });
  }
  for (const secret of objectsAt(build, "secrets")) {
    const definition = objectAt(objectAt(model, "secrets"), textAt(secret, "source"));
    const [what, path] = [`secret ${textAt(secret, "source")}`, textAt(definition, "file")];
    if (MORE_THAN_ONE_FIELD.test(`${textAt(secret, "target")}${path}`)) {
      refused.push(`${what} with a comma or a quotation mark in its target or file`);
    }
    paths.push({ what, path });
  }
  // A key file would be one of this machine, and no build gets an agent: it would fail for that.
  if (textsOf(ssh).length > 0) refused.push("ssh: builds get no keys of this machine");
  for (const key of ["cache_from", "cache_to"]) {
    for (const each of textsOf(build[key])) {
      const why = refusedCache(each);
      if (why !== undefined) refused.push(`${key} ${why}`);
    }
  }
  return { paths, refused };
}
