import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { type Browser, findBrowser, startBrowser } from "./browser.ts";
import { freePort } from "../fakes/free_port.ts";
import { DENO_PROGRAM, executables, ServiceProcess } from "./service_process.ts";

const SHOWN = `document.querySelectorAll(".opblock").length > 0`;
const browserProgram = findBrowser();

for (const program of [DENO_PROGRAM, ...executables()]) {
  describe(
    `the documentation pages of ${program.title}`,
    { skip: browserProgram === undefined },
    () => {
      let directory: string;
      let engine: FakeEngine;
      let service: ServiceProcess;
      let browser: Browser;
      let url: string;
      before(async () => {
        directory = await mkdtemp(join(tmpdir(), "swt-docs-"));
        engine = await createFakeEngine({ socketPath: join(directory, "engine.sock") });
        const port = await freePort();
        url = `http://127.0.0.1:${port}`;
        service = new ServiceProcess(program, ["serve"], {
          DATA_DIR: join(directory, "data"),
          DOCKER_HOST: engine.host,
          HTTP_PORT: String(port),
          METRICS_PORT: String(await freePort()),
          OPENAPI_ENABLED: "true",
          API_SECRET: "docs-pages-key",
        });
        await service.until(() =>
          fetch(`${url}/v1/health`).then((answer) => answer.ok, () => false)
        );
        browser = await startBrowser(browserProgram ?? "");
      });
      after(async () => {
        await browser.close();
        await service.stop();
        await engine.close();
        await rm(directory, { recursive: true, force: true });
      });

      for (
        const [path, document, operation] of [
          ["/docs/", "/openapi/rest.json", "/v1/api/poll/run"],
          ["/docs", "/openapi/rest.json", "/v1/api/projects"],
          ["/docs/webhooks/", "/openapi/webhooks.json", "/v1/webhook/{target}"],
        ] as const
      ) {
        it(`${path} shows ${document}, without a complaint and without another host`, async () => {
          const page = await browser.visit(url + path, SHOWN);
          assert.deepEqual(page.complaints, []);
          assert.ok(page.text.includes(operation), page.text);
          assert.ok(page.requests.includes(url + document), page.requests.join("\n"));
          for (const request of page.requests) {
            assert.ok(request.startsWith(url) || request.startsWith("data:"), request);
          }
        });
      }

      it("the documents have their media type and no sniffing", async () => {
        const answer = await fetch(`${url}/openapi/rest.json`);
        assert.equal(answer.headers.get("content-type"), "application/vnd.oai.openapi+json");
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
        assert.equal((await answer.json()).openapi, "3.2.0");
      });
    },
  );
}
