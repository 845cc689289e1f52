import { RESOURCES } from '../../src/core/resources/index.ts';

/** Names of the registered resources, in the order of the list. `test/core/resources/index.test.ts` writes them out. */
export const NAMES: readonly string[] = RESOURCES.map(({ name }) => name);

export const TOOL_NAMES: readonly string[] = RESOURCES.map(({ tool }) => tool);

/** Their URIs under the default scheme. */
export const URIS: readonly string[] = NAMES.map((name) => `platform://${name}`);
