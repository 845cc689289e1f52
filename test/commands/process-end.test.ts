import { expect } from 'chai';
import { describeBug } from '../../src/commands/process-end.ts';

describe('the report of an uncaught error', () => {
  const SECRET = 'token-that-nobody-may-read';
  const changed = new Error(`a\n    at ${SECRET}`);
  changed.message = 'b\n';
  for (const [what, error, kind] of [
    ['whose message looks like a stack', new Error(`one\n    at ${SECRET}\n    at two`), 'Error'],
    ['whose message was changed', changed, 'Error'],
    ['with a name of its own', Object.assign(new Error('x'), { name: `Bearer ${SECRET}` }), 'Error'],
    ['without a stack', Object.assign(new Error(SECRET), { stack: undefined }), 'Error'],
    ['that is nothing', undefined, 'undefined'],
  ] as const) {
    it(`is its kind, and nothing of its text: one ${what}`, () => {
      const told = describeBug(error);
      expect(told).to.include({ error: kind });
      expect(JSON.stringify(told)).not.to.contain(SECRET);
    });
  }
});
