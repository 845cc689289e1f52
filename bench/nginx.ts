import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SERVER_CORE } from './cores.ts';
import { accepting, freePort } from './ports.ts';
import { has } from './process.ts';
import type { Server } from './server.ts';
import type { Workshop } from './workshop.ts';

/**
 * nginx as a cache in front of `origin`, one worker on the servers' core: a snapshot for each `Authorization`, one load
 * at a time, access log on. `undefined`, and a line that says so, where this machine has no nginx.
 */
export async function serveNginx(workshop: Workshop, origin: string): Promise<Server | undefined> {
  if (!has('nginx')) {
    process.stderr.write('bench: nginx is missing; its row is left out (Debian package nginx)\n');
    return undefined;
  }
  const folder = join(workshop.folder, 'nginx');
  const port = await freePort();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'nginx.conf'), configuration(folder, port, new URL(origin).host));
  const files = ['-p', folder, '-e', join(folder, 'error.log'), '-c', join(folder, 'nginx.conf')];
  const nginx = workshop.run(SERVER_CORE, 'nginx', files);
  await accepting(port);
  return { ...nginx, url: `http://127.0.0.1:${port}` };
}

function configuration(folder: string, port: number, origin: string): string {
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (use) => `${use}_temp_path ${folder}/${use};`,
  );
  return `
daemon off;
pid ${folder}/nginx.pid;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
events { worker_connections 4096; }
http {
  ${scratch.join(' ')}
  access_log ${folder}/access.log combined buffer=64k flush=1s;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 65s;
  keepalive_requests 1000000000;
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=reads:16m max_size=1g inactive=1h use_temp_path=off;
  upstream origin { server ${origin}; keepalive 32; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://origin;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_cache reads;
      proxy_cache_key "$http_authorization $request_uri";
      proxy_cache_valid 200 1h;
      proxy_cache_lock on;
    }
  }
}
`;
}
