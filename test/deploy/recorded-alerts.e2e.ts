import { writeFile } from 'node:fs/promises';
import { json } from '../support/platform/http-upstream.ts';
import { needsCommands } from '../support/tools.ts';
import { play, type Scenario } from './scene.ts';

/** Faults of a real process, by their names. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a healthy platform': { provoke: () => {}, fires: [] },
  'a platform that fails': {
    reads: ['tools', 'projects'],
    provoke: ({ platform }) => platform.respond(json({}, 503)),
    fires: ['PorticoReadsFailing', 'PorticoBreakerOpen', 'PorticoServingStale'],
  },
  'a settings file with a mistake': {
    async provoke({ file, portico }) {
      await writeFile(file, 'upstreams: []');
      portico.child.kill('SIGHUP');
    },
    fires: ['PorticoSettingsRefused'],
  },
};

describe('the alert rules, on what a process exports', () => {
  before(function () {
    needsCommands(this, ['promtool']);
  });

  for (const [name, scenario] of Object.entries(SCENARIOS)) {
    it(`fire ${scenario.fires.join(', ') || 'no alert'}: ${name}`, () => play(scenario));
  }
});
