import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { loadSettings } from '../composition.ts';
import { processEnvironment } from '../core/config/environment.ts';
import { demoInstructions } from '../demo/instructions.ts';
import { startDemoPlatform } from '../demo/platform.ts';
import { serve } from './serve.ts';

/** Resolved by the package's own name, because a build moves this module. */
const PACKAGE = dirname(createRequire(import.meta.url).resolve('portico/package.json'));
const SETTINGS = join(PACKAGE, 'config/demo.yaml');

/** Runs the demo platform and a gateway in front of it, as `config/demo.yaml` describes. Resolves like `serve`. */
export async function serveDemo(): Promise<number> {
  const platform = await startDemoPlatform();
  try {
    const environment = processEnvironment({
      DEMO_PROJECTS_URL: platform.urls.projects,
      DEMO_WORKFLOWS_URL: platform.urls.workflows,
      DEMO_TOOLS_URL: platform.urls.tools,
    });
    const { settings } = await loadSettings(SETTINGS, environment);
    return await serve(settings, {
      onReady: (url) => process.stdout.write(demoInstructions(url, platform.urls)),
    });
  } finally {
    await platform.close();
  }
}
