// What `import 'portico'` runs. Its types are those of gateway.ts.

import { refuseOldNode } from './node-version.ts';

refuseOldNode();

// Not a static import: an old Node would read all of that, and fail in words of its own, ahead of the line above.
export const { ConfigError, createGateway } = await import('./gateway.ts');
