import type { AccessOptions } from "./access_options.ts";
import { isLoopback } from "../../system/mod.ts";
import type { GitLogin } from "./credentials.ts";
import type { RemoteAccess } from "./git_command.ts";
import type { RepositoryUrl } from "./repository_url.ts";

/** Prints the credentials it finds in its environment; the text itself holds none. */
const HELPER = '!f() { test "$1" = get && ' +
  'printf \'username=%s\\npassword=%s\\n\' "$STACKWRIGHT_GIT_USER" "$STACKWRIGHT_GIT_PASSWORD"; }; f';

/** Settings for reaching a remote over HTTP. */
interface HttpAccess
  extends Pick<AccessOptions, "httpProxy" | "httpsProxy" | "noProxy" | "caFile"> {
  /** Whether the certificate of the host is not checked. */
  readonly unchecked: boolean;
}

/** Settings and secrets for a git that talks to a remote over HTTP. */
export function httpAccess(
  url: RepositoryUrl,
  login: GitLogin,
  { httpProxy, httpsProxy, noProxy, caFile, unchecked }: HttpAccess,
): RemoteAccess {
  const origin = `${url.scheme}://${url.host}${url.port === "" ? "" : `:${url.port}`}`;
  const config: [string, string][] = unchecked ? [[`http.${origin}.sslVerify`, "false"]] : [];
  // A proxy takes `localhost` for itself, and a token for this machine would reach it in the clear.
  const proxies = isLoopback(url.host) ? {} : {
    ...named("http_proxy", httpProxy),
    ...named("https_proxy", httpsProxy),
    ...named("no_proxy", noProxy),
  };
  const env: Record<string, string> = { ...proxies, ...named("GIT_SSL_CAINFO", caFile) };
  if (login.kind === "password") {
    config.push([`credential.${origin}.helper`, HELPER]);
    env["STACKWRIGHT_GIT_USER"] = login.user;
    env["STACKWRIGHT_GIT_PASSWORD"] = login.password;
  }
  return { scheme: url.scheme, config, env, secrets: secretsOf(login) };
}

/** The password, and `user:password` as basic authentication sends them. */
function secretsOf(login: GitLogin): string[] {
  if (login.kind !== "password") return [];
  const { user, password } = login;
  return [password, `${user}:${password}`];
}

function named(name: string, value: string): Record<string, string> {
  return value === "" ? {} : { [name]: value };
}
