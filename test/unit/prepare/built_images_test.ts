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
  const never = () => assert.fail("it is built again");

  it("are those that the names mean now", async () => {
    for (const project of ["shop", undefined]) {
      assert.deepEqual(await builtImages(engineWith(project), key, services, never, signal), {
        web: "sha256:1",
      });
    }
  });

  it("are built once more where another project built one of that name in the same moment", async () => {
    let engine = engineWith("other");
    const asked: string[] = [];
    const again = (left: readonly { readonly name: string }[]) => {
      asked.push(...left.map(({ name }) => name));
      engine = engineWith("shop");
      return Promise.resolve();
    };
    const now = {
      imageId: (name: string) => engine.imageId(name),
      imageLabels: (id: string) => engine.imageLabels(id),
    };
    assert.deepEqual(await builtImages(now, key, services, again, signal), { web: "sha256:1" });
    assert.deepEqual(asked, ["web"]);
  });

  it("are refused where another project builds one of that name each time", async () => {
    let times = 0;
    const again = () => Promise.resolve(void times++);
    await assert.rejects(
      builtImages(engineWith("other"), key, services, again, signal),
      (error) => isStackwrightError(error, "conflict") && /app:1.*for other/.test(error.message),
    );
    assert.equal(times, 7);
  });
});
