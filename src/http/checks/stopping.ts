import { GatewayError } from '../../kernel/errors.ts';
import type { Check } from '../context.ts';
import type { Lifecycle } from '../lifecycle.ts';

/** Begins nothing more once the listener has stopped. */
export function checkStopping(lifecycle: Lifecycle): Check {
  return function stopping() {
    if (lifecycle.stopping) throw new GatewayError('draining');
  };
}
