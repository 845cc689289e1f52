import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { announce } from './listen.ts';

// An issuer of tokens: its keys, and so many tokens of as many subjects in a file, one a line.
const [file = '', count = '0', audience = ''] = process.argv.slice(2);

const { privateKey, publicKey } = await generateKeyPair('RS256');
const keys = [{ ...(await exportJWK(publicKey)), kid: 'bench', alg: 'RS256' }];

const server = createServer((request, response) => {
  const { url = '' } = request;
  const issuer = issuerOf(server.address());
  const found = url === '/jwks' ? { keys } : { issuer, jwks_uri: `${issuer}/jwks` };
  response.end(JSON.stringify(found));
});
server.listen(0, '127.0.0.1', async () => {
  const issuer = issuerOf(server.address());
  const tokens: string[] = [];
  for (let caller = 1; caller <= Number(count); caller += 1) {
    const claims = new SignJWT({ scope: 'tools:read profile', client_id: 'bench', jti: `jti-of-${caller}` })
      .setProtectedHeader({ alg: 'RS256', kid: 'bench', typ: 'at+jwt' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(`subject-${caller}`)
      .setIssuedAt()
      .setExpirationTime('1 day');
    tokens.push(await claims.sign(privateKey));
  }
  writeFileSync(file, `${tokens.join('\n')}\n`);
  announce(server.address() as AddressInfo);
});

function issuerOf(address: ReturnType<typeof server.address>): string {
  return `http://127.0.0.1:${(address as AddressInfo).port}`;
}
