import { LogChange } from '../../core/config/schema/log.ts';
import type { LogControl } from './log-operations.ts';
import type { Verbosity } from './verbosity.ts';

/** Lets an operator see and set what is logged. */
export function logControl(verbosity: Verbosity): LogControl {
  return {
    read: () => verbosity.state,
    change(asked) {
      const { success, data } = LogChange.safeParse(asked);
      if (success) verbosity.change(data);
      return success;
    },
  };
}
