import { AwsV4Signer } from "aws4fetch";
import assert from "node:assert/strict";
import { describe, it } from "node:test";

const ACCESS = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  datetime: "20150830T123600Z",
  allHeaders: true,
};

/** Requests and signatures that AWS publishes with the description of signature version 4. */
const VECTORS = [
  {
    title: "get-vanilla",
    request: { method: "GET", url: "https://example.amazonaws.com/", service: "service" },
    signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  },
  {
    title: "post-vanilla",
    request: { method: "POST", url: "https://example.amazonaws.com/", service: "service" },
    signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
  },
  {
    title: "ListUsers of the general reference",
    request: {
      method: "GET",
      url: "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
      service: "iam",
      headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
    },
    signature: "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  },
] as const;

describe("the signature that aws_sm sends", () => {
  for (const { title, request, signature } of VECTORS) {
    it(`is the published one of ${title}`, async () => {
      assert.equal(await new AwsV4Signer({ ...ACCESS, ...request }).signature(), signature);
    });
  }
});
