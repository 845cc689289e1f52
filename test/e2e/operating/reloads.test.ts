import { createServer } from 'node:http';
import { expect } from 'chai';
import { onCleanup } from '../../support/cleanup.ts';
import { eventually } from '../../support/eventually.ts';
import { settingsFor, startGateway } from '../../support/gateway.ts';
import { listen } from '../../support/listening.ts';
import { listOf } from '../../support/platform/http-upstream.ts';
import { get, openConnection } from '../../support/raw-http.ts';

const RELOADS = 10;
const DEADLINE_MS = 2000;
const GRACE_MS = 500;
/** More than the buffers of a socket hold. */
const LIST_BYTES = 12_000_000;

describe('a gateway that is reloaded again and again', () => {
  /** A platform whose connections stay open until the gateway closes them, with a list that no socket buffer holds. */
  async function startPlatform() {
    const description = 'x'.repeat(1_000_000);
    const items = Array.from({ length: LIST_BYTES / 1_000_000 }, (_, index) => ({
      id: `i${index}`,
      name: 'n',
      description,
    }));
    const server = createServer((request, response) => {
      response.end(JSON.stringify({ [listOf(request)]: listOf(request) === 'tools' ? items : [], nextPageToken: '' }));
    });
    server.keepAliveTimeout = 600_000;
    let open = 0;
    server.on('connection', (socket) => {
      open += 1;
      socket.on('close', () => {
        open -= 1;
      });
    });
    return { ...(await listen(server)), open: () => open };
  }

  async function setUp() {
    const platform = await startPlatform();
    const settings = (index: number) =>
      settingsFor(platform.url, {
        upstream: { timeoutMs: DEADLINE_MS + index, maxPageBytes: 20_000_000 },
        http: { requestTimeoutMs: DEADLINE_MS, headersTimeoutMs: DEADLINE_MS },
        shutdown: { graceMs: GRACE_MS },
      });
    const running = await startGateway(settings(0));
    const reload = async (index: number) => {
      running.gateway.change(settings(index));
      await running.read('workflows');
    };
    return { platform, running, reload };
  }

  /** Reads the long list, one byte now and then. */
  async function readSlowly(url: string): Promise<{ readonly isCut: () => Promise<boolean> }> {
    const { socket, send } = openConnection(url);
    socket.removeAllListeners('data').pause();
    send(get('/mcp/v1/resources/read?uri=platform://tools', { 'Accept-Encoding': 'identity' }));
    await eventually(() => socket.readableLength > 12);
    expect(String(socket.read(12))).to.equal('HTTP/1.1 200');
    const timer = setInterval(() => socket.read(1), 20);
    onCleanup(() => clearInterval(timer));
    return {
      /** Takes all that was sent. A response that was cut is not whole. */
      isCut: () =>
        new Promise((resolve) => {
          let bytes = 0;
          socket.on('data', (chunk) => {
            bytes += chunk.length;
          });
          socket.once('close', () => resolve(bytes < LIST_BYTES));
          socket.resume();
        }),
    };
  }

  it('closes each core by itself, without waiting for an earlier one', async () => {
    const { platform, running, reload } = await setUp();
    await readSlowly(running.url);
    for (let index = 1; index <= RELOADS; index += 1) await reload(index);
    await eventually(() => platform.open() <= 2, 300);
  });

  it('cuts a client that takes a byte now and then, and closes the core that it used', async () => {
    const { platform, running, reload } = await setUp();
    const { isCut } = await readSlowly(running.url);
    for (let index = 1; index <= RELOADS; index += 1) await reload(index);
    await eventually(() => platform.open() === 1, 3 * (DEADLINE_MS + GRACE_MS));
    expect(await isCut()).to.equal(true);
  });
});
