import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  embeddedSecrets,
  isSecretVariable,
  looksRandom,
  namedSecrets,
  secretParts,
  secretsOfFile,
  soundsSecret,
  worthHiding,
} from "../../../src/system/mod.ts";

describe("soundsSecret()", () => {
  const secret = [
    "PASSWORD",
    "DB_PASSWORD",
    "dbPassword",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "ROOTPASS",
    "API_TOKEN",
    "githubToken",
    "SECRET",
    "SECRET_KEY_BASE",
    "SECRET_ID",
    "ENCRYPTION_KEY",
    "KEY",
    "AWS_SECRET_ACCESS_KEY",
    "apikey",
    "X-Api-Key",
    "PRIVATE_KEY",
    "SSH_PRIVATE_KEY",
    "CREDENTIALS",
    "BASIC_AUTH",
    "JWT",
    "SENTRY_DSN",
    "SALT",
    "shop.db-password",
    "traefik.http.middlewares.x.basicauth.users",
  ];
  const plain = [
    "PATH",
    "PASSWORD_FILE",
    "SECRET_PATH",
    "TOKEN_URL",
    "AUTH_ENABLED",
    "KEY_SIZE",
    "API_KEY_HEADER",
    "TOKEN_TTL",
    "AUTH_USERNAME",
    "org.opencontainers.image.authors",
    "AUTHOR",
    "BYPASS",
    "COMPASS",
    "MONKEY",
    "KEYBOARD",
    "PASSENGERS",
    "traefik.http.routers.auth.middlewares",
    "traefik.http.middlewares.auth.forwardauth.address",
    "",
  ];
  for (const name of secret) {
    it(`soundsSecret() says yes to ${name}`, () => assert.equal(soundsSecret(name), true));
  }
  for (const name of plain) {
    it(`soundsSecret() says no to ${JSON.stringify(name)}`, () =>
      assert.equal(soundsSecret(name), false));
  }
});

describe("isSecretVariable()", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["DB_PASSWORD", "hunter2-canary", true],
    ["DB_PASSWORD", "short", false],
    ["DB_PASSWORD", "postgres", false],
    ["OAUTH_TOKEN", "https://auth.example.com/token", false],
    ["PROXY_AUTH", "/run/auth/agent.sock", false],
    ["PROXY_AUTH", "/8a7d2b5e9c/x", true],
    ["DB_PASSWORD_FILE", "/run/secrets/8a7d2b5e9c", false],
    ["INNOCENT", "canary-8a7d2b5e", true],
    ["INNOCENT", "aB3$k9xY!z", true],
    ["INNOCENT", "correct-horse-battery", false],
    ["INNOCENT", "eu-central-1", false],
    ["INNOCENT", "https://shop.example.com:8443/v2", false],
    ["INNOCENT", "ghcr.io/acme/shop:v1.22.3-alpine", false],
    ["INNOCENT", `shop@sha256:${"a1b2".repeat(16)}`, false],
    ["INNOCENT", "2026-11-21", false],
    ["INNOCENT", "Europe/Berlin", false],
    ["INNOCENT", "postgres16", false],
    ["INNOCENT", "512m", false],
    ["IMAGE_TAG", "4f1c2d3e4f1c2d3e4f1c2d3e4f1c2d3e4f1c2d3e", false],
    ["CLIENT_ID", "0oa8x9y2k3", false],
  ];
  for (const [name, value, expected] of rows) {
    it(`isSecretVariable() says ${expected} to ${name}=${value}`, () =>
      assert.equal(isSecretVariable(name, value), expected));
  }
});

describe("what is taken apart", () => {
  const parts: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    [" hunter2-canary\n", ["hunter2-canary"], []],
    ['{"user":"app","password":"hunter2 canary","port":5432}', ["hunter2 canary"], ["app"]],
    ["postgres://app:p%40ssw0rd9@db/shop", ["p%40ssw0rd9", "p@ssw0rd9"], ["app", "db", "shop"]],
    ["postgres://app:p@ssw0rd9@db/shop", ["p@ssw0rd9"], ["app"]],
    ["Server=db;Password=hunter2xyz;Timeout=30", ["hunter2xyz"], ["Server", "Timeout"]],
    ["x9k2m4p7:rest of it", ["x9k2m4p7"], ["rest of it"]],
    // Compose says which part of `ports:` or `devices:` is none, and programs escape quotes.
    ["AUCK3D:b8kmUd/fw4Sj", ["AUCK3D", "b8kmUd"], ["fw4Sj"]],
    ["YVSjwCbQj:web1:postgres16", ["YVSjwCbQj"], ["postgres16"]],
    [`p9fK2m'Xq4w"Zt8r1v`, ["p9fK2m", "Zt8r1v"], ["Xq4w"]],
    ['{"username":"app","clientSecret":"x1y2z3w4"}', ["x1y2z3w4"], ['"username"', "clientSecret"]],
  ];
  for (const [text, hidden, shown] of parts) {
    it(`secretParts() hides what ${JSON.stringify(text)} consists of`, () => {
      const found = secretParts(text);
      assert.ok(found.includes(text.trim()));
      for (const each of hidden) assert.ok(found.includes(each), `${each} of ${found}`);
      for (const each of shown) assert.ok(!found.includes(each), `${each} of ${found}`);
    });
  }

  it("embeddedSecrets() finds nothing in ordinary texts", () => {
    for (const text of ["https://h:8080/x", "A=b; C=d", "token", "--verbose", "TOKEN=short"]) {
      assert.deepEqual(embeddedSecrets(text), [], text);
    }
  });

  // What people write into commands, health checks, labels and variables.
  const within: readonly (readonly [string, readonly string[]])[] = [
    ["curl -u me:aB3k9xY7z http://h", ["aB3k9xY7z"]],
    ["curl --user 'me:plain words' http://h", ["plain words"]],
    ["curl --user=me:aB3k9xY7z http://h", ["aB3k9xY7z"]],
    ["mysqladmin ping -uroot -paB3k9xY7z", ["aB3k9xY7z"]],
    ["mongosh -u root -p aB3k9xY7z; redis-cli -a zY7xk93Ba ping", ["aB3k9xY7z", "zY7xk93Ba"]],
    [`curl -H "X-Api-Key: wordkey" http://h`, ["wordkey"]],
    ["deploy ghcr.io/acme/auth:sha-1a2b3c4d ghcr.io/acme/token:2026-x9k2y", []],
    [`curl -H X-Api-Key:aB3k9xY7z -H X-Token:zY7xk93Ba http://h`, ["aB3k9xY7z", "zY7xk93Ba"]],
    [`curl -H "X-Api-Key:aB3k9,xY7z}Q" http://h`, ["aB3k9,xY7z}Q"]],
    [`curl -H 'Authorization: Bearer wordkey' http://h`, ["wordkey"]],
    [`{"db":{"user":"shop","password":"wordkey"}}`, ["wordkey"]],
    [`{"a":"{\\"password\\":\\"wordkey\\"}"}`, ["wordkey"]],
    ["db:\n  user: shop\n  password: wordkey\n", ["wordkey"]],
    // A variable of a shell, a user with a group, ports, paths and sentences are none.
    ['curl -H "X-Api-Key: $API_KEY" -u "me:$API_PASS" http://auth:8080/login', []],
    ["run -u 1000:1000 --user node:node -p 5432:5432 -p 127.0.0.1:80:80 -progress=plain", []],
    ["mkdir -p /srv/x9k2m4p7 ./x9k2m4p7; cp -a x /srv; run -v keys:/x9k2m4p7 -v ./a:b", []],
    ["su --user gitlabber:gitlabber; api_token: vault.example.com:8200", []],
    ["echo 'Waiting for keys: not ready'; pull acme/auth:v1.22.3-alpine acme/token:latest", []],
  ];
  for (const [text, hidden] of within) {
    it(`embeddedSecrets() finds what is in ${JSON.stringify(text)}`, () => {
      const found = embeddedSecrets(text);
      for (const each of hidden) assert.ok(found.includes(each), `${each} of ${found}`);
      if (hidden.length === 0) assert.deepEqual(found, []);
    });
  }

  it("namedSecrets() finds values by their names, also in a text that is broken off", () => {
    const text = '- git_access_token: "aB3$k9xY\n  domains: [a]\n  api_key: plain words here\n' +
      "  password: 'single one'\n  ssh_private_key: |\n    x\n";
    assert.deepEqual(namedSecrets(text), ["aB3$k9xY", "plain words here", "single one"]);
  });

  it("namedSecrets() finds values whose author forgot the blank before them", () => {
    const text = "[{domains: [a], git_access_token:aB3k9xY7z}, {api_key:plain words here,a: 1}]";
    const found = namedSecrets(text);
    for (const each of ["aB3k9xY7z", "plain words here"]) {
      assert.ok(found.includes(each), `${found}`);
    }
  });

  it("secretsOfFile() hides the whole, the lines and the values", () => {
    const found = [...new Set(secretsOfFile("user = x\npassword = hunter2xyz\nab\n"))];
    assert.deepEqual(found, [
      "user = x\npassword = hunter2xyz\nab",
      "hunter2xyz",
      "user = x",
      "password = hunter2xyz",
    ]);
  });

  it("worthHiding() and looksRandom() leave alone what is in every message", () => {
    for (const text of ["", "short", "1234567", "localhost", "postgres", "production", "failed"]) {
      assert.equal(worthHiding(text), false, text);
      assert.equal(looksRandom(text), false, text);
    }
    // Dates, times, durations and versions, and any part of one.
    const times = ["2026-11-27T23:30:00.000Z", "2026-11-27T23:30:00+01:00", "20261127T233000Z"];
    for (
      const text of [...times, "1h30m15s", "1h2m3.123456789s", "v1.22.0-beta12.3", "1.0.0rc12"]
    ) {
      for (let at = 0; at < text.length; at++) {
        assert.equal(
          looksRandom(text.slice(at)),
          false,
          text,
        );
      }
      for (let to = 0; to < text.length; to++) {
        assert.equal(
          looksRandom(text.slice(0, to)),
          false,
          text,
        );
      }
    }
    for (const text of ["27T23x9Kq2", "1h30m15sQ7", "T8aZ91kZ2"]) {
      assert.ok(looksRandom(text), text);
    }
    assert.equal(worthHiding("12345678"), true);
    assert.equal(worthHiding("hunter"), true);
  });
});
