// Entry point of `import 'portico/testing'`. Its types are those of testing/testing.ts.

import { refuseOldNode } from './node-version.ts';

refuseOldNode();

// Not a static import, as in portico.ts.
export const { mockPlatform, PLATFORM_URL, startDemoPlatform, startGateway } = await import('./testing/testing.ts');
