import type { AdapterFactory, AdapterPayload } from 'oidc-provider';

/** What an authorization server remembers, in memory: it outlives the keys, and has room for any number of tokens. */
export function createStore(): AdapterFactory {
  const payloads = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string) => `${model}:${id}`;
    const findBy = (name: 'uid' | 'userCode') => async (value: string) =>
      payloads.entries().find(([key, payload]) => key.startsWith(keyOf('')) && payload[name] === value)?.[1];
    return {
      async upsert(id, payload) {
        payloads.set(keyOf(id), payload);
      },
      find: async (id) => payloads.get(keyOf(id)),
      findByUid: findBy('uid'),
      findByUserCode: findBy('userCode'),
      async consume(id) {
        Object.assign(payloads.get(keyOf(id)) ?? {}, { consumed: Math.floor(Date.now() / 1000) });
      },
      async destroy(id) {
        payloads.delete(keyOf(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of payloads) {
          if (payload.grantId === grantId) payloads.delete(key);
        }
      },
    };
  };
}
