import type { OpenOperation } from '../../core/http/operations/operation.ts';
import { loadPage, type Page } from '../../core/http/pages/html-page.ts';
import { defineCapability } from '../capability.ts';
import { createGatewayStatus } from './gateway-status.ts';
import { pageData } from './status-page.ts';
import type { Status } from './status-view.ts';

/** The current status for a person on call: a page at `/` of the admin listener, and the same as JSON at `/status`. */
export const statusCapability = defineCapability({
  open(_settings, context) {
    if (!context.config.admin.enabled) return undefined;
    const { listeners, status, onReload } = createGatewayStatus(context);
    return { listeners, onReload, adminOperations: () => statusOperations(status) };
  },
});

function statusOperations(status: () => Status): OpenOperation[] {
  const common = { methods: ['GET', 'HEAD'], takesBody: false, isProbe: false, open: true } as const;
  /** Read at the first request. */
  let page: Page | undefined;
  return [
    {
      ...common,
      path: '/',
      respond() {
        page ??= loadPage(new URL('./status-page.html', import.meta.url));
        return page(pageData(status()));
      },
    },
    {
      ...common,
      path: '/status',
      respond: () => ({
        status: 200,
        headers: ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'],
        body: Buffer.from(JSON.stringify(status())),
      }),
    },
  ];
}
