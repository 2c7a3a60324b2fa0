import { stackSuite } from "./stack_suite.ts";

stackSuite("fake", { identical: 3, all: true });
