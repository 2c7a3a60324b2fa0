import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isStackwrightError } from "../../../src/model/mod.ts";
import { builtImages } from "../../../src/prepare/built_images.ts";

const signal = new AbortController().signal;
const key = { context: "default", name: "shop" };

/** An engine on which `app:1` was built for a project. */
function engineWith(project: string | undefined) {
  const labels = project === undefined ? {} : { "com.docker.compose.project": project };
  return {
    imageId: (name: string) => Promise.resolve(name === "app:1" ? "sha256:1" : undefined),
    imageLabels: (id: string) => Promise.resolve(id === "sha256:1" ? labels : undefined),
  };
}

describe("builtImages()", () => {
  const services = [{ name: "web", image: "app:1" }, { name: "gone", image: "gone:1" }];

  it("are those that the names mean now", async () => {
    for (const project of ["shop", undefined]) {
      assert.deepEqual(await builtImages(engineWith(project), key, services, signal), {
        web: "sha256:1",
      });
    }
  });

  it("are refused where another project built one of that name at the same time", async () => {
    await assert.rejects(
      builtImages(engineWith("other"), key, services, signal),
      (error) => isStackwrightError(error, "conflict") && /app:1.*for other/.test(error.message),
    );
  });
});
