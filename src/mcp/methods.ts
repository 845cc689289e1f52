/** Every method that the protocol has for clients, in any of its revisions. */
const METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]);

/** What the log calls a message: its method, if the protocol has it. Nothing else that came from outside is logged. */
export function methodWord(message: unknown): string {
  if (Array.isArray(message)) return 'batch';
  const method: unknown = Object(message).method;
  return typeof method === 'string' && METHODS.has(method) ? method : 'other';
}
