import { createServer } from 'node:http';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { listen } from '../../support/listening.ts';
import { listOf } from '../../support/platform/http-upstream.ts';
import { get, openConnection } from '../../support/raw-http.ts';

const RELOADS = 10;
const DEADLINE_MS = 8000;
const GRACE_MS = 500;
/** More than the buffers of a socket hold. */
const LIST_BYTES = 12_000_000;

/** A platform whose connections stay open until the gateway closes them, with a list of tools that no socket buffer holds. */
async function startPlatform() {
  const description = 'x'.repeat(1_000_000);
  const items = Array.from({ length: LIST_BYTES / 1_000_000 }, (_, index) => ({
    id: `i${index}`,
    name: 'n',
    description,
  }));
  let left: number | undefined;
  const server = createServer((request, response) => {
    const isLarge = listOf(request) === 'tools';
    if (isLarge) {
      request.socket.on('close', () => {
        left = platform.open();
      });
    }
    response.end(JSON.stringify({ [listOf(request)]: isLarge ? items : [], nextPageToken: '' }));
  });
  server.keepAliveTimeout = 600_000;
  const platform = await listen(server);
  /** How many other connections were open when the one that the large list came over was closed. */
  return { url: platform.url, leftAtClose: () => left };
}

describe('a gateway that is reloaded again and again', () => {
  it('closes each core by itself, and cuts a client that takes a byte now and then, which keeps its core', async () => {
    const platform = await startPlatform();
    const settings = (index: number) =>
      settingsFor(platform.url, {
        upstream: { timeoutMs: DEADLINE_MS + index, maxPageBytes: 20_000_000 },
        http: { requestTimeoutMs: DEADLINE_MS, headersTimeoutMs: DEADLINE_MS },
        shutdown: { graceMs: GRACE_MS },
      });
    const { gateway, url, read } = await startGateway(settings(0));
    const { socket, send } = openConnection(url);
    socket.removeAllListeners('data').pause();
    send(get('/mcp/v1/resources/read?uri=platform://tools', { 'Accept-Encoding': 'identity' }));
    await eventually(() => socket.readableLength > 12);
    expect(String(socket.read(12))).to.equal('HTTP/1.1 200');
    const timer = setInterval(() => socket.read(1), 20);
    onCleanup(() => clearInterval(timer));

    for (let index = 1; index <= RELOADS; index += 1) {
      gateway.change(settings(index));
      await read('workflows');
    }
    // That of the settings in force: no core has waited for the first one.
    expect(await eventually(platform.leftAtClose)).to.equal(1);
    let bytes = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume();
    await closed;
    expect(bytes).to.be.below(LIST_BYTES);
  });
});
