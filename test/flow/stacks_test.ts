import { isSample } from "../fakes/sample.ts";
import { stackSuite } from "./stack_suite.ts";

stackSuite("fake", { identical: 3, all: !isSample });
