// Entry point of `import 'portico'`. Its types are those of gateway.ts.

import { refuseOldNode } from './node-version.ts';

refuseOldNode();

// Not a static import: an old Node would fail on it before the check above.
export const { ConfigError, createGateway } = await import('./gateway.ts');
