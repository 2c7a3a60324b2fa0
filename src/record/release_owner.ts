export { formerOwner, ownerOfRelease } from "../model/mod.ts";
