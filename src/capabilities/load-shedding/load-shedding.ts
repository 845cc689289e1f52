import { defineCapability } from '../capability.ts';
import { createOverload } from './overload.ts';

/** Rejects reads with `overloaded` while the event loop is late (docs/decisions/0033). */
export const loadShedding = defineCapability({
  open(_, { config: { http } }) {
    const overload = createOverload(http.maxEventLoopDelayMs);
    return (
      overload && {
        preAuthenticate: overload.check,
        start: async () => overload.watch(),
        stop: async () => overload.stop(),
      }
    );
  },
});
