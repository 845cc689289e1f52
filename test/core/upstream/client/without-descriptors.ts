import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { GatewayError } from '../../../../src/core/kernel/errors.ts';
import { openUpstream } from '../../../../src/core/upstream/open-upstream.ts';
import { asking, calm } from '../harness.ts';

/** Takes all file descriptors of this process, and tells how reads of the platform at `argv[2]` fare then. */
let retried = 0;
const upstream = openUpstream({
  name: 'projects',
  baseUrl: String(process.argv[2]),
  headers: {},
  timeoutMs: 5000,
  connectTimeoutMs: 5000,
  connections: 32,
  keptConnections: 'shared',
  maxQueue: 0,
  rememberRejectedMs: 0,
  allowH2: false,
  maxPageBytes: 1024,
  callersOwn: false,
  authorize: async () => ({}),
  breaker: { failurePercent: 1, minimumCalls: 1, windowMs: 10_000, openMs: 60_000 },
  retry: { attempts: 2, baseDelayMs: 1, maxDelayMs: 1, budgetPercent: 100 },
  events: {
    retried() {
      retried += 1;
    },
  },
});

const held: number[] = [];
function takeAll(): void {
  try {
    for (;;) held.push(openSync(devNull, 'r'));
  } catch {
    // There are no more.
  }
}

/** What so many reads at once come to. */
async function read(count: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const reads = Array.from({ length: count }, () =>
    upstream.get(asking(), calm()).then(
      ({ page }) => page,
      (error) => (error instanceof GatewayError ? error.code : String(error)),
    ),
  );
  for (const outcome of await Promise.all(reads)) outcomes[String(outcome)] = (outcomes[String(outcome)] ?? 0) + 1;
  return outcomes;
}

takeAll();
const without = await read(20);
const { breakerState } = upstream;
for (const descriptor of held.splice(0)) closeSync(descriptor);
const afterwards = await read(20);
// As an upstream's kept connections end: what they leave is held back again.
await new Promise((resolve) => setTimeout(resolve, 100));
takeAll();
const again = await read(1);
for (const descriptor of held.splice(0)) closeSync(descriptor);
await upstream.close();
process.stdout.write(JSON.stringify({ without, breakerState, afterwards, again, retried }));
