import { randomInt } from 'node:crypto';
import { credentialForm, credentialIn } from '../../../core/credentials/authorize.ts';
import type { Experiment } from './experiment.ts';
import { NotTried } from './trial.ts';

const CLASSES = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];

/** Another token of the same length: a random letter for each letter, a digit for each digit. All else stays. */
export function madeUp(token: string): string {
  return [...token]
    .map((character) => {
      const alphabet = CLASSES.find((each) => each.includes(character));
      return alphabet === undefined ? character : alphabet.charAt(randomInt(alphabet.length));
    })
    .join('');
}

/**
 * Reads the first page with a made-up token in place of what the platform was given, in the same header. It goes to the
 * platform alone: never to an authorization server, and not with the name of a user, whose account it might lock.
 */
export const publicList: Experiment = {
  name: 'made-up token',
  async run({ settings, credential, request, first, attempt }) {
    const form = credentialForm(credential);
    if (form === undefined || first.count === 0) return [];
    const token = credentialIn(request.headers, form);
    const secret = madeUp(token);
    if (secret === token) throw new NotTried('no other token of this kind can be made up');
    const { header: name, format } = form;
    const [look] = await attempt({ credential: { kind: 'service', secret, name, format } });
    if (look?.ids !== first.ids) return [];
    const setting = `upstreams.${settings.upstream}.credential`;
    const what = credential.kind === 'service' ? 'secret' : 'token';
    const served = `the same first page (${first.count} items) comes for a made-up ${what}: the platform serves it to the public, or does not read the header ${name}`;
    const cure =
      what === 'secret'
        ? `set ${setting} to the header that the platform reads; where the list is public, kind: none does`
        : `set ${setting} to the header that the platform reads, or callers get no list of their own`;
    return [{ finding: 'public_list', setting, text: `${served}; ${cure}` }];
  },
};
