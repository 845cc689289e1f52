import { auditCapability } from './audit/audit.ts';

/** Every capability, in the order in which their hooks are called. The only list of them. */
export const CAPABILITIES = [auditCapability] as const;
