import { randomInt } from 'node:crypto';
import { credentialForm, credentialIn } from '../../../core/credentials/credential-form.ts';
import type { Experiment } from './experiment.ts';
import { NotTried } from './trials.ts';

const CLASSES = ['abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', '0123456789'];

/** Makes up a token of the same length: random letters for letters, random digits for digits. */
export function madeUp(token: string): string {
  return token.replace(/[a-zA-Z0-9]/g, (character) => {
    const alphabet = CLASSES.find((each) => each.includes(character)) ?? character;
    return alphabet.charAt(randomInt(alphabet.length));
  });
}

/**
 * Reads the first page with a made-up token in the same header. It is sent to the platform only, never to an authorization server,
 * and without a user name, whose account could be locked.
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
    const isService = credential.kind === 'service';
    const served = `a made-up ${isService ? 'secret' : 'token'} gets the same first page (${first.count} items): the list is public, or the platform does not read the header ${name}`;
    const fix = isService
      ? `set ${setting} to the header that the platform reads, or to kind: none if the list is public`
      : `set ${setting} to the header that the platform reads, or callers get no list of their own`;
    return [{ finding: 'public_list', setting, text: `${served}; ${fix}` }];
  },
};
