import { createPrivateKey, createSign, type KeyObject } from "node:crypto";
import { Buffer } from "node:buffer";
import type { Clock, Redactor } from "../../system/mod.ts";
import type { GitHubApp } from "./credentials.ts";
import type { RepositoryUrl } from "./repository_url.ts";
import { denied } from "./github_api.ts";

/** Clocks differ: GitHub refuses claims issued in its future, and lifetimes above ten minutes. */
const BACKDATED_S = 30;
const LIFETIME_S = 9 * 60;

/** Owner of claims in the redactor, which forgets an owner's old secrets: claims live for minutes. */
const CLAIMS = "claims of GitHub Apps";

/** The App's own proof of identity: a JSON Web Token signed with its key. */
export function signedClaim(
  parts: { readonly clock: Clock; readonly redactor: Redactor },
  app: GitHubApp,
  url: RepositoryUrl,
): string {
  const now = Math.floor(parts.clock.now().getTime() / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claim = { iat: now - BACKDATED_S, exp: now + LIFETIME_S, iss: app.appId };
  const text = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claim)}`;
  const signature = createSign("RSA-SHA256").update(text).sign(privateKey(app, url));
  const jwt = `${text}.${signature.toString("base64url")}`;
  parts.redactor.add(jwt, CLAIMS);
  return jwt;
}

function privateKey(app: GitHubApp, url: RepositoryUrl): KeyObject {
  try {
    // In an environment variable line breaks are often written as \n.
    const key = createPrivateKey(app.privateKey.replaceAll("\\n", "\n"));
    if (key.asymmetricKeyType === "rsa") return key;
  } catch {
    // Neither the key nor what the library says about it may be shown.
  }
  throw denied(url, `the private key of GitHub App ${app.appId} is no RSA key in PEM form`);
}
