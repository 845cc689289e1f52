import { z } from 'zod';
import type { Verify } from '../../core/credentials/authenticate.ts';
import { defineCapability } from '../capability.ts';
import { createPolls } from './list-polls.ts';
import { createWatch } from './watch-lists.ts';

const subscriptionSettings = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe(
      'Whether clients of MCP may subscribe to changes of their lists: those are then read again whenever they are not fresh any more.',
    ),
});

/** Reports changes of a caller's own lists, found by polling while there are subscribers (docs/decisions/0068). */
export const liveLists = defineCapability({
  settings: {
    key: 'subscriptions',
    schema: subscriptionSettings.prefault({}).describe('Subscriptions to changes of lists, in MCP.'),
  },
  // Which function verifies is not known before a core is built, or at all.
  dependsOn: ({ verification }) => verification,
  purposes: ['serve', 'stdio'],
  open({ enabled }, { config, limits: { subscriptions: bounds }, keyOf, events, now }) {
    if (!enabled) return undefined;
    let verify: Verify | undefined;
    let { maxConnections } = config.http;
    const polls = createPolls({
      ...{ bounds, keyOf, events, now },
      verify: ({ credential, key }) => verify?.(credential, key),
    });
    return {
      watch: createWatch({ bounds, polls, maxConnections: () => maxConnections, events, now }),
      wrapVerify(wrapped) {
        verify = wrapped;
        return wrapped;
      },
      listeners: [
        {
          connectionsChanged(changed) {
            if (changed.listener === 'http') ({ maxConnections } = changed);
          },
        },
      ],
    };
  },
});
