import { apiDescription } from './api-description/api-description.ts';
import { auditCapability } from './audit/audit.ts';
import { confirmation } from './confirmation/confirmation.ts';
import { landingPage } from './landing-page/landing-page.ts';
import { liveLists } from './live-lists/live-lists.ts';
import { loadShedding } from './load-shedding/load-shedding.ts';
import { metricsCapability } from './metrics/metrics.ts';
import { rateLimits } from './rate-limits/rate-limits.ts';
import { sessionLogin } from './session-login/session-login.ts';
import { sharedCache } from './shared-cache/shared-cache.ts';
import { statusCapability } from './status/status.ts';
import { tokenExchange } from './token-exchange/token-exchange.ts';
import { tracing } from './tracing/tracing.ts';
import { verification } from './verification/verification.ts';

/** Every capability, in the order in which their hooks are called. The only list of them. */
export const CAPABILITIES = [
  tracing,
  sharedCache,
  verification,
  tokenExchange,
  sessionLogin,
  auditCapability,
  loadShedding,
  rateLimits,
  apiDescription,
  landingPage,
  confirmation,
  liveLists,
  metricsCapability,
  statusCapability,
] as const;
